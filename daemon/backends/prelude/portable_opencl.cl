/*
 * The portable prelude, OpenCL C side: what docs/portable-kernels.md promises, for OpenCL C 1.2 and later. This file
 * goes first, the other parts follow (opencl.cmake).
 * Every name here begins with SYCL_ or sycl_, but the types that CUDA C++ lacks and OpenCL C has anyway.
 */
#line 6 "prelude"

#define SYCL_PORTABLE 1
#define SYCL_DEVICE_OPENCL 1

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
#define SYCL_HAS_DOUBLE 1
#define SYCL_HAS_FP64 1
#endif
#if defined(cl_khr_fp16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define SYCL_HAS_FP16 1
#endif
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define SYCL_HAS_ATOMIC64 1
#endif
/* Both must have it: the device's facts, as the build gives them, and this compiler in this version
 * of the language. */
#if defined(SYCL_DEVICE_SUB_GROUPS_) && (defined(cl_khr_subgroups) || defined(__opencl_c_subgroups))
#if defined(cl_khr_subgroups)
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define SYCL_HAS_SUB_GROUPS 1
#if defined(cl_khr_subgroup_shuffle) && defined(cl_khr_subgroup_shuffle_relative)
#define SYCL_HAS_SUB_GROUP_SHUFFLE 1
#endif
#endif

/* The words in which the parts of both languages (portable_*.inc) are written. */
#define SYCL_OVERLOAD_  static inline __attribute__((overloadable, always_inline)) /* of one name for several types */
#define SYCL_INLINE_    static inline
#define SYCL_NO_INLINE_ static
#define SYCL_TEXT_      __constant const char * /* in quotes */

/*
 * Features that the device lacks have such names in the compiler's log. The build finds the names
 * there and reports KERNEL_NOT_SUPPORTED (opencl_missing.c).
 */
#ifdef SYCL_HAS_FP64
#define SYCL_REQUIRES_FP64 struct sycl_has_fp64_
#else
#define SYCL_REQUIRES_FP64 sycl_the_device_has_no_fp64_ sycl_required_fp64_
#endif
#ifdef SYCL_HAS_FP16
#define SYCL_REQUIRES_FP16 struct sycl_has_fp16_
#else
#define SYCL_REQUIRES_FP16 sycl_the_device_has_no_fp16_ sycl_required_fp16_
#endif
#ifdef SYCL_HAS_ATOMIC64
#define SYCL_REQUIRES_ATOMIC64 struct sycl_has_atomic64_
#else
#define SYCL_REQUIRES_ATOMIC64 sycl_the_device_has_no_atomic64_ sycl_required_atomic64_
#endif
#ifdef SYCL_HAS_SUB_GROUPS
#define SYCL_REQUIRES_SUB_GROUPS struct sycl_has_sub_groups_
#else
#define SYCL_REQUIRES_SUB_GROUPS sycl_the_device_has_no_sub_groups_ sycl_required_sub_groups_
#endif

/* Kernels and their parameters. */
#define SYCL_KERNEL         __kernel
#define SYCL_GLOBAL(type)   __global type *
#define SYCL_CONSTANT(type) __constant type *
#define SYCL_LOCAL(type)    __local type *
#define SYCL_LOCAL_ARRAY(type, name, count) __local type name[count]
#define SYCL_DEVICE_DATA    __constant
#define SYCL_REQUIRED_GROUP(s0, s1, s2) __attribute__((reqd_work_group_size(s2, s1, s0)))

typedef char int8_t; /* which its functions are for; the others are in portable_types.inc */

/*
 * Where a work-item is. Dimension 0 varies slowest: OpenCL's last. The source is compiled once for each number of
 * dimensions, so that which one that is is known to the compiler.
 */
#ifdef SYCL_DIMENSIONS
#define sycl_dimensions()     ((uint)SYCL_DIMENSIONS)
#define sycl_global_id(d)     SYCL_OF_(get_global_id, d)
#define sycl_global_range(d)  SYCL_OF_(get_global_size, d)
#define sycl_global_offset(d) SYCL_OF_(get_global_offset, d)
#define sycl_local_id(d)      SYCL_OF_(get_local_id, d)
#define sycl_local_range(d)   SYCL_OF_(get_local_size, d)
#define sycl_group_id(d)      SYCL_OF_(get_group_id, d)
#define sycl_group_range(d)   SYCL_OF_(get_num_groups, d)

/*
 * Every dimension is read by its number, then one is chosen; nothing is left of that where d is
 * known. For a number that is not known, PoCL 5.0 makes kernels of two dimensions that cannot be
 * loaded. It replaces its variables of the group where they are read, not where the compiler chose
 * one of two to read from.
 */
static inline __attribute__((always_inline)) ulong sycl_of_(uint d, ulong first, ulong second, ulong third)
{
	return d == 0 ? first : d == 1 ? second : third;
}
#if SYCL_DIMENSIONS == 1
#define SYCL_OF_(get, d) sycl_of_((uint)(d), get(0), 0, 0)
#elif SYCL_DIMENSIONS == 2
#define SYCL_OF_(get, d) sycl_of_((uint)(d), get(1), get(0), 0)
#else
#define SYCL_OF_(get, d) sycl_of_((uint)(d), get(2), get(1), get(0))
#endif

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
#endif /* without it the source was taken for one that uses none of these */
