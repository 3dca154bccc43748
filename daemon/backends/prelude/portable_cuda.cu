/*
 * The portable prelude, CUDA C++ side: what docs/portable-kernels.md promises, for NVRTC with -default-device. This
 * file goes first, the other parts follow (opencl.cmake).
 * Every name here begins with SYCL_ or sycl_, but the types that OpenCL C has and C++ lacks.
 *
 * Where a work-item is depends on more than CUDA's own registers. The range may end inside the last
 * work-group, ids may have an offset, and a grid may have been folded to fit the device. All of
 * that comes with each launch in a record, which is a parameter that the compiler does not see. It
 * is added to every kernel when the PTX is completed (cuda_ptx.h), under the name sycl_launch.
 * struct cuda_launch_record in cuda_geometry.h is its layout.
 */
#line 13 "prelude"

#define SYCL_PORTABLE 1
#define SYCL_DEVICE_CUDA 1
#define SYCL_HAS_DOUBLE 1
#define SYCL_HAS_FP64 1
#define SYCL_HAS_FP16 1
#define SYCL_HAS_ATOMIC64 1
#define SYCL_HAS_SUB_GROUPS 1
#define SYCL_HAS_SUB_GROUP_SHUFFLE 1
#define SYCL_REQUIRES_FP64       struct sycl_has_fp64_
#define SYCL_REQUIRES_FP16       struct sycl_has_fp16_
#define SYCL_REQUIRES_ATOMIC64   struct sycl_has_atomic64_
#define SYCL_REQUIRES_SUB_GROUPS struct sycl_has_sub_groups_
#define restrict __restrict__

/* The words in which the parts of both languages (portable_*.inc) are written. */
#define SYCL_OVERLOAD_  static __forceinline__ /* of one name for several types */
#define SYCL_INLINE_    static __forceinline__
#define SYCL_NO_INLINE_ static __noinline__
#define SYCL_TEXT_      const char * /* in quotes */

/* Kernels and their parameters. */
#define SYCL_KERNEL         __global__
#define SYCL_GLOBAL(type)   sycl_pointer_<type>
#define SYCL_CONSTANT(type) sycl_pointer_<const type>
#define SYCL_LOCAL(type)    sycl_local_<type>
#define SYCL_LOCAL_ARRAY(type, name, count) __shared__ type name[count]
#define SYCL_DEVICE_DATA    static __constant__ const
/* The three sizes, for all architectures: the completion of the PTX makes an exact shape of it. Bit 30 marks it. */
#define SYCL_REQUIRED_GROUP(s0, s1, s2) \
	__launch_bounds__((s0) * (s1) * (s2), \
			  (1 << 30) | ((s0) - 1 & 127) << 20 | ((s1) - 1 & 1023) << 10 | ((s2) - 1 & 1023))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t; /* as in C++, where char is another type; the others are in portable_types.inc */

template <class T> using sycl_pointer_ = T *;

/*
 * A pointer to memory of the work-group. As a parameter it is the place inside the group's dynamic
 * memory. The compiler takes a kernel's parameter that is a plain pointer for one to global memory.
 * Arrays of the kernel's own lie before the dynamic memory: places are signed.
 */
extern __shared__ __align__(128) unsigned char sycl_local_memory_[];
template <class T> struct sycl_local_ {
	int place;

	sycl_local_() = default;
	__forceinline__ sycl_local_(T *from) : place((int)((const unsigned char *)from - sycl_local_memory_)) {}
	template <class U> __forceinline__ sycl_local_(sycl_local_<U> from) : place(from.place) { (void)(T *)(U *)0; }
	__forceinline__ operator T *() const { return (T *)(sycl_local_memory_ + place); }
	__forceinline__ T *operator->() const { return *this; }
	template <class I> __forceinline__ sycl_local_ &operator+=(I n)
	{
		place += (int)n * (int)sizeof(T);
		return *this;
	}
	template <class I> __forceinline__ sycl_local_ &operator-=(I n)
	{
		place -= (int)n * (int)sizeof(T);
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
 * The group, in CUDA's order. Of a launch that is sent in parts, those of the last dimension count
 * from the part's first, which is 0 otherwise. It is the record's second word, where the grid is
 * not folded. What does not fit into a dimension of a grid goes on in another one, which is free
 * with one or two dimensions. With three the x dimension holds it, and only then there is something
 * to divide.
 */
static __forceinline__ ulong sycl_group_(uint d)
{
#if SYCL_DIMENSIONS == 1
	return d == 0 ? blockIdx.x + (ulong)gridDim.x * blockIdx.y + sycl_record_word_<4>() : 0;
#elif SYCL_DIMENSIONS == 2
	return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y + (ulong)gridDim.y * blockIdx.z + sycl_record_word_<4>() : 0;
#else
	if (sycl_record_word_<0>() & 2u) {
		uint columns = sycl_record_word_<56>(), folds = sycl_record_word_<4>();
		uint fold = blockIdx.x / columns;
		if (d == 0)
			return blockIdx.x - fold * columns;
		return d == 1 ? blockIdx.y + (ulong)gridDim.y * (fold % folds) : blockIdx.z + (ulong)gridDim.z * (fold / folds);
	}
	return d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : (ulong)blockIdx.z + sycl_record_word_<4>();
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

/* Converts an argument of this form to a pointer. */
template <class T> static __forceinline__ T *sycl_raw_(T *p) { return p; }
template <class T> static __forceinline__ T *sycl_raw_(sycl_local_<T> p) { return p; }
template <class T> struct sycl_same_ {
	typedef T type;
};
template <class T> struct sycl_same_<const T> {
	typedef T type;
};
template <class T> struct sycl_same_<volatile T> {
	typedef T type;
};
