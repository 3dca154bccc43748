/*
 * The portable prelude, CUDA C++ side: what README.md of this folder promises, for NVRTC with -default-device.
 * Every name here begins with SYCL_ or sycl_, but the types that OpenCL C has and C++ lacks.
 *
 * Where a work-item is depends on more than CUDA's own registers: the range may end inside the last work-group, ids may
 * have an offset, and a grid may have been folded to fit the device. All of that comes with each launch in a record,
 * which is a parameter that the compiler does not know of: it is added to every kernel when the PTX is completed
 * (cuda_ptx.h), under the name sycl_launch. struct cuda_launch_record in cuda_geometry.h is its layout.
 */
#line 11 "prelude"

#define SYCL_PORTABLE 1
#define SYCL_DEVICE_CUDA 1
#define SYCL_HAS_DOUBLE 1
#define restrict __restrict__

/* Kernels and their parameters. */
#define SYCL_KERNEL         __global__
#define SYCL_GLOBAL(type)   sycl_pointer_<type>
#define SYCL_CONSTANT(type) sycl_pointer_<const type>
#define SYCL_LOCAL(type)    sycl_local_<type>
#define SYCL_DEVICE_DATA    static __constant__ const
/* The three sizes, for all architectures: the completion of the PTX makes an exact shape of it. Bit 30 marks it. */
#define SYCL_REQUIRED_GROUP(s0, s1, s2) \
	__launch_bounds__((s0) * (s1) * (s2), \
			  (1 << 30) | ((s0) - 1 & 127) << 20 | ((s1) - 1 & 1023) << 10 | ((s2) - 1 & 1023))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

template <class T> using sycl_pointer_ = T *;

/*
 * A pointer to memory of the work-group. As a parameter it is the place inside the group's dynamic memory, because a
 * kernel's parameter that is a plain pointer is taken for one to global memory by the compiler.
 */
extern __shared__ __align__(128) unsigned char sycl_local_memory_[];
template <class T> struct sycl_local_ {
	uint place;

	sycl_local_() = default;
	__forceinline__ sycl_local_(T *from) : place((uint)((unsigned char *)from - sycl_local_memory_)) {}
	template <class U> __forceinline__ sycl_local_(sycl_local_<U> from) : place(from.place) { (void)(T *)(U *)0; }
	__forceinline__ operator T *() const { return (T *)(sycl_local_memory_ + place); }
	__forceinline__ T *operator->() const { return *this; }
	template <class I> __forceinline__ sycl_local_ &operator+=(I n)
	{
		place += (uint)n * (uint)sizeof(T);
		return *this;
	}
	template <class I> __forceinline__ sycl_local_ &operator-=(I n)
	{
		place -= (uint)n * (uint)sizeof(T);
		return *this;
	}
	__forceinline__ sycl_local_ &operator++() { return *this += 1; }
	__forceinline__ sycl_local_ &operator--() { return *this -= 1; }
	__forceinline__ sycl_local_ operator++(int)
	{
		sycl_local_ old = *this;
		*this += 1;
		return old;
	}
	__forceinline__ sycl_local_ operator--(int)
	{
		sycl_local_ old = *this;
		*this -= 1;
		return old;
	}
};

/* The launch's record: reads without side effects, so that what nobody needs goes away. */
template <uint offset> static __forceinline__ uint sycl_record_word_()
{
	uint value;
	asm("ld.param.b32 %0, [sycl_launch+%1];" : "=r"(value) : "n"(offset));
	return value;
}
template <uint offset> static __forceinline__ ulong sycl_record_()
{
	ulong value;
	asm("ld.param.b64 %0, [sycl_launch+%1];" : "=l"(value) : "n"(offset));
	return value;
}
static __forceinline__ ulong sycl_range_(uint d)
{
	return d == 0 ? sycl_record_<8>() : d == 1 ? sycl_record_<16>() : sycl_record_<24>();
}
static __forceinline__ ulong sycl_offset_(uint d)
{
	return d == 0 ? sycl_record_<32>() : d == 1 ? sycl_record_<40>() : sycl_record_<48>();
}
static __forceinline__ ulong sycl_groups_(uint d)
{
	return d == 0 ? sycl_record_<56>() : d == 1 ? sycl_record_<64>() : sycl_record_<72>();
}
static __forceinline__ uint sycl_item_(uint d) { return d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : threadIdx.z; }
static __forceinline__ uint sycl_items_(uint d) { return d == 0 ? blockDim.x : d == 1 ? blockDim.y : blockDim.z; }

/*
 * The group, in CUDA's order. What does not fit into a dimension of a grid goes on in another one, which is free with
 * one or two dimensions; with three the x dimension holds it, and only then there is something to divide.
 */
static __forceinline__ ulong sycl_group_(uint d)
{
#if SYCL_DIMENSIONS == 1
	return d == 0 ? blockIdx.x + (ulong)gridDim.x * blockIdx.y : 0;
#elif SYCL_DIMENSIONS == 2
	return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y + (ulong)gridDim.y * blockIdx.z : 0;
#else
	if (sycl_record_word_<0>() & 2u) {
		uint columns = sycl_record_word_<56>(), folds = sycl_record_word_<4>();
		uint fold = blockIdx.x / columns;
		if (d == 0)
			return blockIdx.x - fold * columns;
		return d == 1 ? blockIdx.y + (ulong)gridDim.y * (fold % folds) : blockIdx.z + (ulong)gridDim.z * (fold / folds);
	}
	return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z;
#endif
}
static __forceinline__ ulong sycl_place_(uint d) { return sycl_group_(d) * sycl_items_(d) + sycl_item_(d); }

/* Dimension 0 varies slowest: CUDA's last. */
#define SYCL_DIMENSION_(d)    (SYCL_DIMENSIONS - 1u - (uint)(d))
#define sycl_dimensions()     ((uint)SYCL_DIMENSIONS)
#define sycl_global_id(d)     (sycl_place_(SYCL_DIMENSION_(d)) + sycl_offset_(SYCL_DIMENSION_(d)))
#define sycl_global_range(d)  (sycl_range_(SYCL_DIMENSION_(d)))
#define sycl_global_offset(d) (sycl_offset_(SYCL_DIMENSION_(d)))
#define sycl_local_id(d)      ((ulong)sycl_item_(SYCL_DIMENSION_(d)))
#define sycl_local_range(d)   ((ulong)sycl_items_(SYCL_DIMENSION_(d)))
#define sycl_group_id(d)      (sycl_group_(SYCL_DIMENSION_(d)))
#define sycl_group_range(d)   (sycl_groups_(SYCL_DIMENSION_(d)))

#if SYCL_DIMENSIONS == 1
#define sycl_global_linear_id() (sycl_place_(0))
#define sycl_local_linear_id()  ((ulong)threadIdx.x)
#define sycl_group_linear_id()  (sycl_group_(0))
#elif SYCL_DIMENSIONS == 2
#define sycl_global_linear_id() (sycl_place_(1) * sycl_range_(0) + sycl_place_(0))
#define sycl_local_linear_id()  ((ulong)(threadIdx.y * blockDim.x + threadIdx.x))
#define sycl_group_linear_id()  (sycl_group_(1) * sycl_groups_(0) + sycl_group_(0))
#else
#define sycl_global_linear_id() ((sycl_place_(2) * sycl_range_(1) + sycl_place_(1)) * sycl_range_(0) + sycl_place_(0))
#define sycl_local_linear_id()  ((ulong)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x))
#define sycl_group_linear_id()  ((sycl_group_(2) * sycl_groups_(1) + sycl_group_(1)) * sycl_groups_(0) + sycl_group_(0))
#endif

/* Barriers and fences: each is at least as strong as what the page promises. */
#define sycl_group_barrier() __syncthreads()
#define sycl_fence()         __threadfence()
#define sycl_fence_acquire() __threadfence()
#define sycl_fence_release() __threadfence()

/* Relaxed atomics on int and unsigned int in global or local memory; each gives the old value. */
#define sycl_atomic_add(p, v)                              atomicAdd((p), (v))
#define sycl_atomic_sub(p, v)                              atomicSub((p), (v))
#define sycl_atomic_min(p, v)                              atomicMin((p), (v))
#define sycl_atomic_max(p, v)                              atomicMax((p), (v))
#define sycl_atomic_and(p, v)                              atomicAnd((p), (v))
#define sycl_atomic_or(p, v)                               atomicOr((p), (v))
#define sycl_atomic_xor(p, v)                              atomicXor((p), (v))
#define sycl_atomic_exchange(p, v)                         atomicExch((p), (v))
#define sycl_atomic_compare_exchange(p, expected, desired) atomicCAS((p), (expected), (desired))
static __forceinline__ int sycl_atomic_load_(const int *p) { return *(const volatile int *)p; }
static __forceinline__ uint sycl_atomic_load_(const uint *p) { return *(const volatile uint *)p; }
static __forceinline__ void sycl_atomic_store_(int *p, int v) { *(volatile int *)p = v; }
static __forceinline__ void sycl_atomic_store_(uint *p, uint v) { *(volatile uint *)p = v; }
#define sycl_atomic_load(p)     sycl_atomic_load_(p)
#define sycl_atomic_store(p, v) sycl_atomic_store_((p), (v))

/* Mathematics on float and double: the functions choose by type. */
#define sycl_sqrt(x)        sqrt(x)
#define sycl_rsqrt(x)       rsqrt(x)
#define sycl_cbrt(x)        cbrt(x)
#define sycl_fabs(x)        fabs(x)
#define sycl_fma(a, b, c)   fma((a), (b), (c))
#define sycl_fmin(a, b)     fmin((a), (b))
#define sycl_fmax(a, b)     fmax((a), (b))
#define sycl_fmod(a, b)     fmod((a), (b))
#define sycl_floor(x)       floor(x)
#define sycl_ceil(x)        ceil(x)
#define sycl_trunc(x)       trunc(x)
#define sycl_round(x)       round(x)
#define sycl_rint(x)        rint(x)
#define sycl_exp(x)         exp(x)
#define sycl_exp2(x)        exp2(x)
#define sycl_exp10(x)       exp10(x)
#define sycl_expm1(x)       expm1(x)
#define sycl_log(x)         log(x)
#define sycl_log2(x)        log2(x)
#define sycl_log10(x)       log10(x)
#define sycl_log1p(x)       log1p(x)
#define sycl_pow(a, b)      pow((a), (b))
#define sycl_hypot(a, b)    hypot((a), (b))
#define sycl_sin(x)         sin(x)
#define sycl_cos(x)         cos(x)
#define sycl_tan(x)         tan(x)
#define sycl_asin(x)        asin(x)
#define sycl_acos(x)        acos(x)
#define sycl_atan(x)        atan(x)
#define sycl_atan2(a, b)    atan2((a), (b))
#define sycl_sinh(x)        sinh(x)
#define sycl_cosh(x)        cosh(x)
#define sycl_tanh(x)        tanh(x)
#define sycl_erf(x)         erf(x)
#define sycl_copysign(a, b) copysign((a), (b))
#define sycl_isnan(x)       ((int)(isnan(x) != 0))
#define sycl_isinf(x)       ((int)(isinf(x) != 0))

/* Integers, of 8 to 64 bits. */
template <class A, class B> __forceinline__ auto sycl_min_(A a, B b) -> decltype(a + b)
{
	return (decltype(a + b))b < (decltype(a + b))a ? b : a;
}
template <class A, class B> __forceinline__ auto sycl_max_(A a, B b) -> decltype(a + b)
{
	return (decltype(a + b))a < (decltype(a + b))b ? b : a;
}
template <int bytes> struct sycl_word_ { typedef uint type; };
template <> struct sycl_word_<1> { typedef uchar type; };
template <> struct sycl_word_<2> { typedef ushort type; };
template <> struct sycl_word_<8> { typedef ulong type; };
template <class T> __forceinline__ typename sycl_word_<sizeof(T)>::type sycl_abs_(T x)
{
	typedef typename sycl_word_<sizeof(T)>::type word;
	return (word)(x < (T)0 ? (word)0 - (word)x : (word)x);
}
template <class T> __forceinline__ T sycl_popcount_(T x)
{
	return (T)__popcll((unsigned long long)(typename sycl_word_<sizeof(T)>::type)x);
}
template <class T> __forceinline__ T sycl_clz_(T x)
{
	return (T)(__clzll((long long)(typename sycl_word_<sizeof(T)>::type)x) - (64 - 8 * (int)sizeof(T)));
}
/* Of 8 and 16 bits; the product is an int. */
template <class T> __forceinline__ T sycl_mul_hi_(T a, T b) { return (T)((a * b) >> (8 * sizeof(T))); }
static __forceinline__ int sycl_mul_hi_(int a, int b) { return __mulhi(a, b); }
static __forceinline__ uint sycl_mul_hi_(uint a, uint b) { return __umulhi(a, b); }
static __forceinline__ long sycl_mul_hi_(long a, long b) { return __mul64hi(a, b); }
static __forceinline__ ulong sycl_mul_hi_(ulong a, ulong b) { return __umul64hi(a, b); }
#define sycl_min(a, b)    sycl_min_((a), (b))
#define sycl_max(a, b)    sycl_max_((a), (b))
#define sycl_abs(x)       sycl_abs_(x)
#define sycl_popcount(x)  sycl_popcount_(x)
#define sycl_clz(x)       sycl_clz_(x)
#define sycl_mul_hi(a, b) sycl_mul_hi_((a), (b))

/* The bits of one type as another of the same size. */
#define sycl_float_as_int(x)  __float_as_int(x)
#define sycl_float_as_uint(x) __float_as_uint(x)
#define sycl_int_as_float(x)  __int_as_float(x)
#define sycl_uint_as_float(x) __uint_as_float(x)

/* Vectors. */
#define sycl_int2(x, y)         make_int2((x), (y))
#define sycl_int4(x, y, z, w)   make_int4((x), (y), (z), (w))
#define sycl_uint2(x, y)        make_uint2((x), (y))
#define sycl_uint4(x, y, z, w)  make_uint4((x), (y), (z), (w))
#define sycl_float2(x, y)       make_float2((x), (y))
#define sycl_float4(x, y, z, w) make_float4((x), (y), (z), (w))
