/* The portable prelude, OpenCL C side: sub-groups, and what a group does together. */
#line 3 "prelude_groups"

#ifdef SYCL_HAS_SUB_GROUPS
#define sycl_sub_group_local_id() get_sub_group_local_id()
#define sycl_sub_group_size()     get_sub_group_size()
#define sycl_sub_group_max_size() get_max_sub_group_size()
#define sycl_sub_group_id()       get_sub_group_id()
#define sycl_sub_group_count()    get_num_sub_groups()
#define sycl_sub_group_barrier()  sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define sycl_sub_group_any(p)                   (sub_group_any((p) != 0) != 0)
#define sycl_sub_group_all(p)                   (sub_group_all((p) != 0) != 0)
#define sycl_sub_group_broadcast(x, i)          sub_group_broadcast((x), (uint)(i))
#define SYCL_SUB_GROUP_REDUCE_CALL_(word, x)     sub_group_reduce_##word(x)
#define SYCL_SUB_GROUP_SCAN_CALL_(kind, word, x) sub_group_scan_##kind##_##word(x)
#ifdef SYCL_HAS_SUB_GROUP_SHUFFLE
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#define sycl_sub_group_shuffle(x, i)      sub_group_shuffle((x), (uint)(i))
#define sycl_sub_group_shuffle_xor(x, m)  sub_group_shuffle_xor((x), (uint)(m))
#define sycl_sub_group_shuffle_up(x, d)   sub_group_shuffle_up((x), (uint)(d))
#define sycl_sub_group_shuffle_down(x, d) sub_group_shuffle_down((x), (uint)(d))
#endif
#else
#define sycl_sub_group_local_id()               sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_size()                   sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_max_size()               sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_id()                     sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_count()                  sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_barrier()                sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_any(p)                    sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_all(p)                    sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_broadcast(x, i)           sycl_the_device_has_no_sub_groups_
#define SYCL_SUB_GROUP_REDUCE_CALL_(word, x)     sycl_the_device_has_no_sub_groups_
#define SYCL_SUB_GROUP_SCAN_CALL_(kind, word, x) sycl_the_device_has_no_sub_groups_
#endif
#ifndef SYCL_HAS_SUB_GROUP_SHUFFLE
#define sycl_sub_group_shuffle(x, i)            sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_shuffle_xor(x, m)        sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_shuffle_up(x, d)         sycl_the_device_has_no_sub_groups_
#define sycl_sub_group_shuffle_down(x, d)       sycl_the_device_has_no_sub_groups_
#endif

/*
 * A work-group's functions pass values through local memory, which only a kernel itself may
 * declare. One word for each work-item, and one for each of 32 parts: the build defines how many
 * items a group may have.
 */
#ifndef SYCL_MAX_GROUP_
#define SYCL_MAX_GROUP_ 1024
#endif
#define SYCL_GROUP_SCRATCH __local ulong sycl_group_scratch_[32 + SYCL_MAX_GROUP_]

#define SYCL_GROUP_ITEMS_ ((uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))
#define SYCL_GROUP_ITEM_ \
	((uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)))

/*
 * Up to 32 work-items go through a part of the values each, then one through what they found. No barrier is inside of a
 * loop, because PoCL takes minutes to compile a kernel with several of those. The last barrier frees the memory.
 */
#define SYCL_ADD_(a, b) ((a) + (b))
#define SYCL_GROUP_BEGIN_(T)                                                                                           \
	__local T *parts = (__local T *)scratch, *values = parts + 32;                                                 \
	const uint item = SYCL_GROUP_ITEM_, items = SYCL_GROUP_ITEMS_, length = (items + 31) / 32;                     \
	const uint first = item * length, end = min(first + length, items);                                            \
	values[item] = x;                                                                                              \
	barrier(CLK_LOCAL_MEM_FENCE);
#define SYCL_GROUP_REDUCE_(T, word, combine)                                                                           \
	SYCL_OVERLOAD_ T sycl_group_reduce_##word##_(T x, __local ulong *scratch)                                      \
	{                                                                                                              \
		SYCL_GROUP_BEGIN_(T)                                                                                   \
		if (item < 32 && first < items) {                                                                      \
			T sum = values[first];                                                                         \
			for (uint i = first + 1; i < end; i++)                                                         \
				sum = combine(sum, values[i]);                                                         \
			parts[item] = sum;                                                                             \
		}                                                                                                      \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		if (item == 0) {                                                                                       \
			T sum = parts[0];                                                                              \
			for (uint i = 1; i * length < items; i++)                                                      \
				sum = combine(sum, parts[i]);                                                          \
			parts[0] = sum;                                                                                \
		}                                                                                                      \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		T result = parts[0];                                                                                   \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		return result;                                                                                         \
	}
#define SYCL_GROUP_SCAN_(T, word, combine, identity)                                                                   \
	SYCL_OVERLOAD_ T sycl_group_scan_##word##_(T x, int exclusive, __local ulong *scratch)                         \
	{                                                                                                              \
		SYCL_GROUP_BEGIN_(T)                                                                                   \
		if (item < 32 && first < items) {                                                                      \
			T sum = values[first];                                                                         \
			for (uint i = first + 1; i < end; i++)                                                         \
				values[i] = sum = combine(sum, values[i]);                                             \
			parts[item] = sum;                                                                             \
		}                                                                                                      \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		if (item == 0) { /* what is before each part */                                                        \
			T sum = (T)(identity);                                                                         \
			for (uint i = 0; i * length < items; i++) {                                                    \
				T own = parts[i];                                                                      \
				parts[i] = sum;                                                                        \
				sum = combine(sum, own);                                                               \
			}                                                                                              \
		}                                                                                                      \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		const uint part = item / length;                                                                       \
		T result = parts[part];                                                                                \
		if (!exclusive)                                                                                        \
			result = combine(result, values[item]);                                                        \
		else if (item > part * length)                                                                         \
			result = combine(result, values[item - 1]);                                                    \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		return result;                                                                                         \
	}
#define SYCL_GROUP_BROADCAST_(T)                                                                                       \
	SYCL_OVERLOAD_ T sycl_group_broadcast_(T x, uint from, __local ulong *scratch)                                 \
	{                                                                                                              \
		__local T *values = (__local T *)scratch;                                                              \
		if (SYCL_GROUP_ITEM_ == from)                                                                          \
			values[0] = x;                                                                                 \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		T result = values[0];                                                                                  \
		barrier(CLK_LOCAL_MEM_FENCE);                                                                          \
		return result;                                                                                         \
	}
#define SYCL_GROUP_TYPE_(T, min_, max_, least, most)                                                                   \
	SYCL_GROUP_REDUCE_(T, add, SYCL_ADD_)                                                                          \
	SYCL_GROUP_REDUCE_(T, min, min_)                                                                               \
	SYCL_GROUP_REDUCE_(T, max, max_)                                                                               \
	SYCL_GROUP_SCAN_(T, add, SYCL_ADD_, 0)                                                                         \
	SYCL_GROUP_SCAN_(T, min, min_, most)                                                                           \
	SYCL_GROUP_SCAN_(T, max, max_, least)                                                                          \
	SYCL_GROUP_BROADCAST_(T)
SYCL_GROUP_TYPE_(int, min, max, INT_MIN, INT_MAX)
SYCL_GROUP_TYPE_(uint, min, max, 0, UINT_MAX)
SYCL_GROUP_TYPE_(long, min, max, LONG_MIN, LONG_MAX)
SYCL_GROUP_TYPE_(ulong, min, max, 0, ULONG_MAX)
SYCL_GROUP_TYPE_(float, fmin, fmax, -INFINITY, INFINITY)
#ifdef SYCL_HAS_FP64
SYCL_GROUP_TYPE_(double, fmin, fmax, -INFINITY, INFINITY)
#endif

#define SYCL_GROUP_REDUCE_CALL_(word, x) sycl_group_reduce_##word##_((x), sycl_group_scratch_)
#define SYCL_GROUP_SCAN_CALL_(kind, word, x) \
	sycl_group_scan_##word##_((x), SYCL_IS_##kind##_, sycl_group_scratch_)
#define sycl_group_any(p) (sycl_group_reduce_max_((uint)((p) != 0), sycl_group_scratch_) != 0)
#define sycl_group_all(p) (sycl_group_reduce_min_((uint)((p) != 0), sycl_group_scratch_) != 0)
