/*
 * The portable prelude, CUDA C++ side: sub-groups, which are warps (E17), and what a group does together. The last
 * sub-group of a work-group may have fewer than 32 work-items.
 */
#line 5 "prelude_groups"

#if SYCL_DIMENSIONS == 1
#define SYCL_GROUP_ITEM_  (threadIdx.x)
#define SYCL_GROUP_ITEMS_ (blockDim.x)
#elif SYCL_DIMENSIONS == 2
#define SYCL_GROUP_ITEM_  (threadIdx.y * blockDim.x + threadIdx.x)
#define SYCL_GROUP_ITEMS_ (blockDim.y * blockDim.x)
#else
#define SYCL_GROUP_ITEM_  ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)
#define SYCL_GROUP_ITEMS_ (blockDim.z * blockDim.y * blockDim.x)
#endif

static __forceinline__ uint sycl_sub_group_items_()
{
	uint first = SYCL_GROUP_ITEM_ & ~31u, items = SYCL_GROUP_ITEMS_;
	return items - first < 32u ? items - first : 32u;
}
static __forceinline__ uint sycl_sub_group_mask_() { return 0xffffffffu >> (32u - sycl_sub_group_items_()); }
#define sycl_sub_group_local_id() ((uint)(SYCL_GROUP_ITEM_ & 31u))
#define sycl_sub_group_size()     (sycl_sub_group_items_())
#define sycl_sub_group_max_size() ((uint)(SYCL_GROUP_ITEMS_ < 32u ? SYCL_GROUP_ITEMS_ : 32u))
#define sycl_sub_group_id()       ((uint)(SYCL_GROUP_ITEM_ / 32u))
#define sycl_sub_group_count()    ((uint)((SYCL_GROUP_ITEMS_ + 31u) / 32u))
#define sycl_sub_group_barrier()  __syncwarp(sycl_sub_group_mask_())

/* Any type of 1 to 8 bytes goes as words of 32 bits. */
template <int bytes> struct sycl_carrier_ { typedef uint type; };
template <> struct sycl_carrier_<1> { typedef uchar type; };
template <> struct sycl_carrier_<2> { typedef ushort type; };
template <> struct sycl_carrier_<8> { typedef unsigned long long type; };
#define SYCL_SHUFFLE_(word, call)                                                                                      \
	template <class T> static __forceinline__ T sycl_shuffle_##word##_(T x, uint i)                                \
	{                                                                                                              \
		typedef typename sycl_carrier_<sizeof(T)>::type carrier;                                               \
		const uint mask = sycl_sub_group_mask_();                                                              \
		if (sizeof(T) == 8) {                                                                                  \
			unsigned long long all = (unsigned long long)sycl_bits_<carrier>(x);                           \
			uint low = call(mask, (uint)all, i), high = call(mask, (uint)(all >> 32), i);                  \
			return sycl_bits_<T>((carrier)((unsigned long long)high << 32 | low));                         \
		}                                                                                                      \
		return sycl_bits_<T>((carrier)call(mask, (uint)sycl_bits_<carrier>(x), i));                            \
	}
SYCL_SHUFFLE_(idx, __shfl_sync)
SYCL_SHUFFLE_(up, __shfl_up_sync)
SYCL_SHUFFLE_(down, __shfl_down_sync)
SYCL_SHUFFLE_(xor, __shfl_xor_sync)
#define sycl_sub_group_shuffle(x, i)      sycl_shuffle_idx_((x), (uint)(i))
#define sycl_sub_group_shuffle_up(x, d)   sycl_shuffle_up_((x), (uint)(d))
#define sycl_sub_group_shuffle_down(x, d) sycl_shuffle_down_((x), (uint)(d))
#define sycl_sub_group_shuffle_xor(x, m)  sycl_shuffle_xor_((x), (uint)(m))
#define sycl_sub_group_broadcast(x, i)    sycl_shuffle_idx_((x), (uint)(i))
#define sycl_sub_group_any(p)             (__any_sync(sycl_sub_group_mask_(), (p) != 0) != 0)
#define sycl_sub_group_all(p)             (__all_sync(sycl_sub_group_mask_(), (p) != 0) != 0)

/* How two values become one, and the value that changes nothing. */
template <class T> struct sycl_limits_;
#define SYCL_LIMITS_(T, lowest_, highest_)                                                                             \
	template <> struct sycl_limits_<T> {                                                                           \
		static __forceinline__ T lowest() { return lowest_; }                                                  \
		static __forceinline__ T highest() { return highest_; }                                                \
	};
SYCL_LIMITS_(int, -2147483647 - 1, 2147483647)
SYCL_LIMITS_(uint, 0, 4294967295u)
SYCL_LIMITS_(long, -9223372036854775807l - 1, 9223372036854775807l)
SYCL_LIMITS_(ulong, 0, 18446744073709551615ul)
SYCL_LIMITS_(float, -__int_as_float(0x7f800000), __int_as_float(0x7f800000))
SYCL_LIMITS_(double, -__longlong_as_double(0x7ff0000000000000ll), __longlong_as_double(0x7ff0000000000000ll))
static __forceinline__ float sycl_least_(float a, float b) { return fmin(a, b); }
static __forceinline__ double sycl_least_(double a, double b) { return fmin(a, b); }
template <class T> static __forceinline__ T sycl_least_(T a, T b) { return b < a ? b : a; }
static __forceinline__ float sycl_greatest_(float a, float b) { return fmax(a, b); }
static __forceinline__ double sycl_greatest_(double a, double b) { return fmax(a, b); }
template <class T> static __forceinline__ T sycl_greatest_(T a, T b) { return a < b ? b : a; }
template <class T> struct sycl_do_add_ {
	static __forceinline__ T apply(T a, T b) { return a + b; }
	static __forceinline__ T identity() { return 0; }
};
template <class T> struct sycl_do_min_ {
	static __forceinline__ T apply(T a, T b) { return sycl_least_(a, b); }
	static __forceinline__ T identity() { return sycl_limits_<T>::highest(); }
};
template <class T> struct sycl_do_max_ {
	static __forceinline__ T apply(T a, T b) { return sycl_greatest_(a, b); }
	static __forceinline__ T identity() { return sycl_limits_<T>::lowest(); }
};

/* The lowest work-item has the right sum: of what lies beyond the last one nothing is taken. */
template <template <class> class O, class T> static __forceinline__ T sycl_sub_reduce_(T x)
{
	const uint lane = sycl_sub_group_local_id(), items = sycl_sub_group_items_();
	for (uint distance = 16; distance > 0; distance /= 2) {
		T other = sycl_shuffle_down_(x, distance);
		if (lane + distance < items)
			x = O<T>::apply(x, other);
	}
	return sycl_shuffle_idx_(x, 0u);
}
template <template <class> class O, class T> static __forceinline__ T sycl_sub_scan_(T x, bool exclusive)
{
	const uint lane = sycl_sub_group_local_id();
	for (uint distance = 1; distance < 32; distance *= 2) {
		T other = sycl_shuffle_up_(x, distance);
		if (lane >= distance)
			x = O<T>::apply(other, x);
	}
	if (!exclusive)
		return x;
	T before = sycl_shuffle_up_(x, 1u);
	return lane > 0 ? before : O<T>::identity();
}
#define SYCL_SUB_GROUP_REDUCE_CALL_(word, x)     sycl_sub_reduce_<sycl_do_##word##_>(x)
#define SYCL_SUB_GROUP_SCAN_CALL_(kind, word, x) sycl_sub_scan_<sycl_do_##word##_>((x), SYCL_IS_##kind##_)

/* A word for each warp of the work-group. */
#define SYCL_GROUP_SCRATCH __shared__ ulong sycl_group_scratch_[32]

template <template <class> class O, class T> static __forceinline__ T sycl_group_reduce_(T x, ulong *scratch)
{
	T *values = (T *)scratch;
	const uint warps = sycl_sub_group_count();
	x = sycl_sub_reduce_<O>(x);
	if (sycl_sub_group_local_id() == 0)
		values[sycl_sub_group_id()] = x;
	__syncthreads();
	T all = values[0];
	for (uint warp = 1; warp < warps; warp++)
		all = O<T>::apply(all, values[warp]);
	__syncthreads();
	return all;
}
template <template <class> class O, class T>
static __forceinline__ T sycl_group_scan_(T x, bool exclusive, ulong *scratch)
{
	T *values = (T *)scratch;
	const uint own = sycl_sub_group_id();
	T inclusive = sycl_sub_scan_<O>(x, false);
	if (sycl_sub_group_local_id() == sycl_sub_group_items_() - 1)
		values[own] = inclusive;
	T within = sycl_shuffle_up_(inclusive, 1u);
	__syncthreads();
	T before = O<T>::identity();
	for (uint warp = 0; warp < own; warp++)
		before = O<T>::apply(before, values[warp]);
	__syncthreads();
	if (!exclusive)
		return O<T>::apply(before, inclusive);
	return sycl_sub_group_local_id() > 0 ? O<T>::apply(before, within) : before;
}
template <class T> static __forceinline__ T sycl_group_broadcast_(T x, uint from, ulong *scratch)
{
	T *values = (T *)scratch;
	if (SYCL_GROUP_ITEM_ == from)
		values[0] = x;
	__syncthreads();
	T result = values[0];
	__syncthreads();
	return result;
}
#define SYCL_GROUP_REDUCE_CALL_(word, x) sycl_group_reduce_<sycl_do_##word##_>((x), sycl_group_scratch_)
#define SYCL_GROUP_SCAN_CALL_(kind, word, x) \
	sycl_group_scan_<sycl_do_##word##_>((x), SYCL_IS_##kind##_, sycl_group_scratch_)
#define sycl_group_any(p) ((void)sycl_group_scratch_, __syncthreads_or((p) != 0) != 0)
#define sycl_group_all(p) ((void)sycl_group_scratch_, __syncthreads_and((p) != 0) != 0)
