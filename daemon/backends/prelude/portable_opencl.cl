/*
 * The portable prelude, OpenCL C side: what README.md of this folder promises, for OpenCL C 1.2 and later.
 * Every name here begins with SYCL_ or sycl_, but the types that CUDA C++ lacks and OpenCL C has anyway.
 */
#line 5 "prelude"

#define SYCL_PORTABLE 1
#define SYCL_DEVICE_OPENCL 1

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
#define SYCL_HAS_DOUBLE 1
#endif

/* Kernels and their parameters. */
#define SYCL_KERNEL         __kernel
#define SYCL_GLOBAL(type)   __global type *
#define SYCL_CONSTANT(type) __constant type *
#define SYCL_LOCAL(type)    __local type *
#define SYCL_DEVICE_DATA    __constant
#define SYCL_REQUIRED_GROUP(s0, s1, s2) __attribute__((reqd_work_group_size(s2, s1, s0)))

/* Types of a stated width; OpenCL C has those widths, but not the names. */
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

/*
 * Where a work-item is. Dimension 0 varies slowest: OpenCL's last. The source is compiled once for each number of
 * dimensions, so that which one that is is known to the compiler.
 */
#ifdef SYCL_DIMENSIONS
#define SYCL_DIMENSION_(d)    (SYCL_DIMENSIONS - 1u - (uint)(d))
#define sycl_dimensions()     ((uint)SYCL_DIMENSIONS)
#define sycl_global_id(d)     ((ulong)get_global_id(SYCL_DIMENSION_(d)))
#define sycl_global_range(d)  ((ulong)get_global_size(SYCL_DIMENSION_(d)))
#define sycl_global_offset(d) ((ulong)get_global_offset(SYCL_DIMENSION_(d)))
#define sycl_local_id(d)      ((ulong)get_local_id(SYCL_DIMENSION_(d)))
#define sycl_local_range(d)   ((ulong)get_local_size(SYCL_DIMENSION_(d)))
#define sycl_group_id(d)      ((ulong)get_group_id(SYCL_DIMENSION_(d)))
#define sycl_group_range(d)   ((ulong)get_num_groups(SYCL_DIMENSION_(d)))

#define SYCL_GLOBAL_(d) ((ulong)get_global_id(d) - (ulong)get_global_offset(d))
#if SYCL_DIMENSIONS == 1
#define sycl_global_linear_id() SYCL_GLOBAL_(0)
#define sycl_local_linear_id()  ((ulong)get_local_id(0))
#define sycl_group_linear_id()  ((ulong)get_group_id(0))
#elif SYCL_DIMENSIONS == 2
#define sycl_global_linear_id() (SYCL_GLOBAL_(1) * get_global_size(0) + SYCL_GLOBAL_(0))
#define sycl_local_linear_id()  ((ulong)get_local_id(1) * get_local_size(0) + get_local_id(0))
#define sycl_group_linear_id()  ((ulong)get_group_id(1) * get_num_groups(0) + get_group_id(0))
#else
#define sycl_global_linear_id() \
	((SYCL_GLOBAL_(2) * get_global_size(1) + SYCL_GLOBAL_(1)) * get_global_size(0) + SYCL_GLOBAL_(0))
#define sycl_local_linear_id() \
	(((ulong)get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))
#define sycl_group_linear_id() \
	(((ulong)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0))
#endif
#endif /* without it the source was taken for one that asks for none of these */

/* Barriers and fences of a work-group: local and global memory are both made consistent. */
#define sycl_group_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define sycl_fence()         mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define sycl_fence_acquire() read_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define sycl_fence_release() write_mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* Relaxed atomics on int and unsigned int in global or local memory; each gives the old value. */
#define sycl_atomic_add(p, v)                                 atomic_add((p), (v))
#define sycl_atomic_sub(p, v)                                 atomic_sub((p), (v))
#define sycl_atomic_min(p, v)                                 atomic_min((p), (v))
#define sycl_atomic_max(p, v)                                 atomic_max((p), (v))
#define sycl_atomic_and(p, v)                                 atomic_and((p), (v))
#define sycl_atomic_or(p, v)                                  atomic_or((p), (v))
#define sycl_atomic_xor(p, v)                                 atomic_xor((p), (v))
#define sycl_atomic_exchange(p, v)                            atomic_xchg((p), (v))
#define sycl_atomic_compare_exchange(p, expected, desired)    atomic_cmpxchg((p), (expected), (desired))
#define sycl_atomic_load(p)                                   atomic_or((p), 0)
#define sycl_atomic_store(p, v)                               ((void)atomic_xchg((p), (v)))

/* Mathematics on float (and double where SYCL_HAS_DOUBLE): the builtins choose by type. */
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
#define sycl_isnan(x)       (isnan(x) != 0)
#define sycl_isinf(x)       (isinf(x) != 0)

/* Integers. */
#define sycl_min(a, b)      min((a), (b))
#define sycl_max(a, b)      max((a), (b))
#define sycl_abs(x)         abs(x)
#define sycl_popcount(x)    popcount(x)
#define sycl_clz(x)         clz(x)
#define sycl_mul_hi(a, b)   mul_hi((a), (b))

/* The bits of one type as another of the same size. */
#define sycl_float_as_int(x)  as_int(x)
#define sycl_float_as_uint(x) as_uint(x)
#define sycl_int_as_float(x)  as_float(x)
#define sycl_uint_as_float(x) as_float(x)

/* Vectors: the types int2 .. float4 have the same names and members in both languages, their constructors do not. */
#define sycl_int2(x, y)          ((int2)((x), (y)))
#define sycl_int4(x, y, z, w)    ((int4)((x), (y), (z), (w)))
#define sycl_uint2(x, y)         ((uint2)((x), (y)))
#define sycl_uint4(x, y, z, w)   ((uint4)((x), (y), (z), (w)))
#define sycl_float2(x, y)        ((float2)((x), (y)))
#define sycl_float4(x, y, z, w)  ((float4)((x), (y), (z), (w)))
