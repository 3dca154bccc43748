/*
 * OpenCL C's built-in functions that libclc lacks for NVIDIA's GPUs, or has with other means than
 * those of this backend. Compiled for each translation, and linked before libclc, so what is here
 * is taken. The compiler's own header is not included: this file has what it needs of it.
 *
 * Where a work-item is comes with each launch in the record of program/geometry.h, whose range has
 * three dimensions always. In its flags, bit 1 means a folded grid; bits 8 and 9 are the number of
 * dimensions that the program gave.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef uint cl_mem_fence_flags;
typedef enum memory_scope {
	memory_scope_work_item,
	memory_scope_work_group,
	memory_scope_device,
	memory_scope_all_svm_devices,
	memory_scope_sub_group
} memory_scope;
typedef enum memory_order {
	memory_order_relaxed = 0,
	memory_order_acquire = 2,
	memory_order_release = 3,
	memory_order_acq_rel = 4,
	memory_order_seq_cst = 5
} memory_order;

#define FN  __attribute__((overloadable, always_inline))
#define OWN static __attribute__((overloadable, always_inline))

/* The launch's record. */
#define RECORD_WORD(offset) \
	({ \
		uint word_; \
		__asm("ld.param.b32 %0, [sycl_launch+" #offset "];" : "=r"(word_)); \
		word_; \
	})
#define RECORD_LONG(offset) \
	({ \
		ulong long_; \
		__asm("ld.param.b64 %0, [sycl_launch+" #offset "];" : "=l"(long_)); \
		long_; \
	})
#define BY_DIMENSION(d, x, y, z, none) ((d) == 0 ? (x) : (d) == 1 ? (y) : (d) == 2 ? (z) : (none))

#define TID(axis)    ((ulong)__nvvm_read_ptx_sreg_tid_##axis())
#define NTID(axis)   ((ulong)__nvvm_read_ptx_sreg_ntid_##axis())
#define CTAID(axis)  ((ulong)__nvvm_read_ptx_sreg_ctaid_##axis())
#define NCTAID(axis) ((ulong)__nvvm_read_ptx_sreg_nctaid_##axis())

OWN ulong group_of(uint d)
{
	if (RECORD_WORD(0) & 2u) {
		uint columns = RECORD_WORD(56), folds = RECORD_WORD(4);
		uint x = __nvvm_read_ptx_sreg_ctaid_x(), fold = x / columns;
		return BY_DIMENSION(d, (ulong)(x - fold * columns), CTAID(y) + NCTAID(y) * (fold % folds),
				    CTAID(z) + NCTAID(z) * (fold / folds), 0ul);
	}
	return BY_DIMENSION(d, CTAID(x), CTAID(y), CTAID(z), 0ul);
}

FN uint get_work_dim(void) { return RECORD_WORD(0) >> 8 & 3u; }
FN size_t get_group_id(uint d) { return group_of(d); }
FN size_t get_local_id(uint d) { return BY_DIMENSION(d, TID(x), TID(y), TID(z), 0ul); }
FN size_t get_local_size(uint d) { return BY_DIMENSION(d, NTID(x), NTID(y), NTID(z), 1ul); }
FN size_t get_enqueued_local_size(uint d) { return get_local_size(d); }
FN size_t get_global_size(uint d)
{
	return BY_DIMENSION(d, RECORD_LONG(8), RECORD_LONG(16), RECORD_LONG(24), 1ul);
}
FN size_t get_global_offset(uint d)
{
	return BY_DIMENSION(d, RECORD_LONG(32), RECORD_LONG(40), RECORD_LONG(48), 0ul);
}
FN size_t get_num_groups(uint d)
{
	return BY_DIMENSION(d, RECORD_LONG(56), RECORD_LONG(64), RECORD_LONG(72), 1ul);
}
OWN size_t place_of(uint d) { return group_of(d) * get_local_size(d) + get_local_id(d); }
FN size_t get_global_id(uint d)
{
	return d > 2 ? 0 : place_of(d) + get_global_offset(d);
}
FN size_t get_global_linear_id(void)
{
	return (place_of(2) * get_global_size(1) + place_of(1)) * get_global_size(0) + place_of(0);
}
FN size_t get_local_linear_id(void) { return (TID(z) * NTID(y) + TID(y)) * NTID(x) + TID(x); }

/* Barriers and fences. A barrier of a work-group orders all memory for the group. */
#if SYCL_ARCHITECTURE >= 70
#define FENCE(scope) __asm volatile("fence.acq_rel." scope ";" ::: "memory")
#define FENCE_SC(scope) __asm volatile("fence.sc." scope ";" ::: "memory")
#define FENCE_GROUP  "cta"
#define FENCE_DEVICE "gpu"
#else
#define FENCE(scope) __asm volatile("membar." scope ";" ::: "memory")
#define FENCE_SC(scope) FENCE(scope)
#define FENCE_GROUP  "cta"
#define FENCE_DEVICE "gl"
#endif
OWN void fence_of(memory_order order, memory_scope scope)
{
	if (order == memory_order_relaxed || scope == memory_scope_work_item)
		return;
	if (order == memory_order_seq_cst) {
		if (scope == memory_scope_all_svm_devices)
			FENCE_SC("sys");
		else if (scope == memory_scope_device)
			FENCE_SC(FENCE_DEVICE);
		else
			FENCE_SC(FENCE_GROUP);
	} else if (scope == memory_scope_all_svm_devices) {
		FENCE("sys");
	} else if (scope == memory_scope_device) {
		FENCE(FENCE_DEVICE);
	} else {
		FENCE(FENCE_GROUP);
	}
}
FN void barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
FN void work_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
FN void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
	if (scope == memory_scope_device || scope == memory_scope_all_svm_devices)
		fence_of(memory_order_acq_rel, scope);
	__nvvm_bar_sync(0);
}
FN void mem_fence(cl_mem_fence_flags flags) { FENCE(FENCE_GROUP); }
FN void read_mem_fence(cl_mem_fence_flags flags) { FENCE(FENCE_GROUP); }
FN void write_mem_fence(cl_mem_fence_flags flags) { FENCE(FENCE_GROUP); }
FN void atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
	fence_of(order, scope);
}

/*
 * Atomics with orders and scopes: relaxed ones between fences. What is before an acquire fence's
 * read, and behind a release fence's write, is ordered by them.
 */
#define BEFORE(order, scope) \
	do { \
		if ((order) == memory_order_release || (order) == memory_order_acq_rel || (order) == memory_order_seq_cst) \
			fence_of(order, scope); \
	} while (0)
#define BEHIND(order, scope) \
	do { \
		if ((order) == memory_order_acquire || (order) == memory_order_acq_rel || (order) == memory_order_seq_cst) \
			fence_of((order) == memory_order_seq_cst ? memory_order_acq_rel : (order), scope); \
	} while (0)
#define RELAXED memory_order_relaxed, memory_scope_device

/* Each function in OpenCL's three forms: without an order, with one, and with a scope as well. */
#define ATOMIC_FETCH(space, type, name, operation) \
	FN type atomic_##name##_explicit(volatile space atomic_##type *at, type value, memory_order order, \
					 memory_scope scope) \
	{ \
		BEFORE(order, scope); \
		type old = operation; \
		BEHIND(order, scope); \
		return old; \
	} \
	FN type atomic_##name##_explicit(volatile space atomic_##type *at, type value, memory_order order) \
	{ \
		return atomic_##name##_explicit(at, value, order, memory_scope_device); \
	} \
	FN type atomic_##name(volatile space atomic_##type *at, type value) \
	{ \
		return atomic_##name##_explicit(at, value, memory_order_seq_cst, memory_scope_device); \
	}
#define ATOMIC_COMPARE(space, space_expected, type, strength) \
	FN bool atomic_compare_exchange_##strength##_explicit(volatile space atomic_##type *at, \
							      space_expected type *expected, type value, \
							      memory_order success, memory_order failure, \
							      memory_scope scope) \
	{ \
		type wanted = *expected; \
		BEFORE(success, scope); \
		bool done = __opencl_atomic_compare_exchange_strong(at, &wanted, value, memory_order_relaxed, \
								    memory_order_relaxed, memory_scope_device); \
		if (done) \
			BEHIND(success, scope); \
		else \
			BEHIND(failure, scope); \
		if (!done) \
			*expected = wanted; \
		return done; \
	} \
	FN bool atomic_compare_exchange_##strength##_explicit(volatile space atomic_##type *at, \
							      space_expected type *expected, type value, \
							      memory_order success, memory_order failure) \
	{ \
		return atomic_compare_exchange_##strength##_explicit(at, expected, value, success, failure, \
								     memory_scope_device); \
	} \
	FN bool atomic_compare_exchange_##strength(volatile space atomic_##type *at, space_expected type *expected, \
						   type value) \
	{ \
		return atomic_compare_exchange_##strength##_explicit(at, expected, value, memory_order_seq_cst, \
								     memory_order_seq_cst, memory_scope_device); \
	}
#define ATOMIC_ANY(space, type) \
	FN void atomic_init(volatile space atomic_##type *at, type value) { __opencl_atomic_init(at, value); } \
	FN void atomic_store_explicit(volatile space atomic_##type *at, type value, memory_order order, \
				      memory_scope scope) \
	{ \
		BEFORE(order, scope); \
		__opencl_atomic_store(at, value, RELAXED); \
		if (order == memory_order_seq_cst) \
			fence_of(order, scope); \
	} \
	FN void atomic_store_explicit(volatile space atomic_##type *at, type value, memory_order order) \
	{ \
		atomic_store_explicit(at, value, order, memory_scope_device); \
	} \
	FN void atomic_store(volatile space atomic_##type *at, type value) \
	{ \
		atomic_store_explicit(at, value, memory_order_seq_cst, memory_scope_device); \
	} \
	FN type atomic_load_explicit(volatile space atomic_##type *at, memory_order order, memory_scope scope) \
	{ \
		if (order == memory_order_seq_cst) \
			fence_of(order, scope); \
		type value = __opencl_atomic_load(at, RELAXED); \
		BEHIND(order, scope); \
		return value; \
	} \
	FN type atomic_load_explicit(volatile space atomic_##type *at, memory_order order) \
	{ \
		return atomic_load_explicit(at, order, memory_scope_device); \
	} \
	FN type atomic_load(volatile space atomic_##type *at) \
	{ \
		return atomic_load_explicit(at, memory_order_seq_cst, memory_scope_device); \
	} \
	ATOMIC_FETCH(space, type, exchange, __opencl_atomic_exchange(at, value, RELAXED))
#define ATOMIC_ADD(space, type) \
	ATOMIC_FETCH(space, type, fetch_add, __opencl_atomic_fetch_add(at, value, RELAXED)) \
	ATOMIC_FETCH(space, type, fetch_sub, __opencl_atomic_fetch_sub(at, value, RELAXED))
#define ATOMIC_WHOLE(space, type) \
	ATOMIC_ADD(space, type) \
	ATOMIC_FETCH(space, type, fetch_or, __opencl_atomic_fetch_or(at, value, RELAXED)) \
	ATOMIC_FETCH(space, type, fetch_xor, __opencl_atomic_fetch_xor(at, value, RELAXED)) \
	ATOMIC_FETCH(space, type, fetch_and, __opencl_atomic_fetch_and(at, value, RELAXED)) \
	ATOMIC_FETCH(space, type, fetch_min, __opencl_atomic_fetch_min(at, value, RELAXED)) \
	ATOMIC_FETCH(space, type, fetch_max, __opencl_atomic_fetch_max(at, value, RELAXED))
/* min and max of floating point by comparing words. */
#define ATOMIC_FLOATING(space, type, word, as_type, as_word) \
	ATOMIC_ADD(space, type) \
	ATOMIC_FETCH(space, type, fetch_min, atomic_lesser_(at, value)) \
	ATOMIC_FETCH(space, type, fetch_max, atomic_greater_(at, value))
#define ATOMIC_CHOICE(space, type, word, name, better) \
	OWN type name(volatile space atomic_##type *at, type value) \
	{ \
		type old = __opencl_atomic_load(at, RELAXED); \
		while (better && !__opencl_atomic_compare_exchange_strong(at, &old, value, memory_order_relaxed, \
									  memory_order_relaxed, memory_scope_device)) { \
		} \
		return old; \
	}
#define ATOMIC_CHOICES(space, type, word) \
	ATOMIC_CHOICE(space, type, word, atomic_lesser_, value < old) \
	ATOMIC_CHOICE(space, type, word, atomic_greater_, value > old)
#define ATOMIC_FLAG(space) \
	FN bool atomic_flag_test_and_set_explicit(volatile space atomic_int *at, memory_order order, \
						  memory_scope scope) \
	{ \
		return atomic_exchange_explicit(at, 1, order, scope) != 0; \
	} \
	FN bool atomic_flag_test_and_set_explicit(volatile space atomic_int *at, memory_order order) \
	{ \
		return atomic_exchange_explicit(at, 1, order) != 0; \
	} \
	FN bool atomic_flag_test_and_set(volatile space atomic_int *at) { return atomic_exchange(at, 1) != 0; } \
	FN void atomic_flag_clear_explicit(volatile space atomic_int *at, memory_order order, memory_scope scope) \
	{ \
		atomic_store_explicit(at, 0, order, scope); \
	} \
	FN void atomic_flag_clear_explicit(volatile space atomic_int *at, memory_order order) \
	{ \
		atomic_store_explicit(at, 0, order); \
	} \
	FN void atomic_flag_clear(volatile space atomic_int *at) { atomic_store(at, 0); }
#define ATOMIC_COMPARES(space, space_expected) \
	ATOMIC_COMPARE(space, space_expected, int, strong) \
	ATOMIC_COMPARE(space, space_expected, int, weak) \
	ATOMIC_COMPARE(space, space_expected, uint, strong) \
	ATOMIC_COMPARE(space, space_expected, uint, weak) \
	ATOMIC_COMPARE(space, space_expected, long, strong) \
	ATOMIC_COMPARE(space, space_expected, long, weak) \
	ATOMIC_COMPARE(space, space_expected, ulong, strong) \
	ATOMIC_COMPARE(space, space_expected, ulong, weak) \
	ATOMIC_COMPARE(space, space_expected, float, strong) \
	ATOMIC_COMPARE(space, space_expected, float, weak) \
	ATOMIC_COMPARE(space, space_expected, double, strong) \
	ATOMIC_COMPARE(space, space_expected, double, weak)
#define ATOMICS(space) \
	ATOMIC_ANY(space, int) ATOMIC_WHOLE(space, int) \
	ATOMIC_ANY(space, uint) ATOMIC_WHOLE(space, uint) \
	ATOMIC_ANY(space, long) ATOMIC_WHOLE(space, long) \
	ATOMIC_ANY(space, ulong) ATOMIC_WHOLE(space, ulong) \
	ATOMIC_CHOICES(space, float, uint) ATOMIC_CHOICES(space, double, ulong) \
	ATOMIC_ANY(space, float) ATOMIC_FLOATING(space, float, uint, as_float, as_uint) \
	ATOMIC_ANY(space, double) ATOMIC_FLOATING(space, double, ulong, as_double, as_ulong) \
	ATOMIC_FLAG(space)
ATOMICS(__generic)
ATOMICS(__global)
ATOMICS(__local)
ATOMIC_COMPARES(__generic, __generic)
ATOMIC_COMPARES(__global, __global)
ATOMIC_COMPARES(__global, __local)
ATOMIC_COMPARES(__global, __private)
ATOMIC_COMPARES(__local, __global)
ATOMIC_COMPARES(__local, __local)
ATOMIC_COMPARES(__local, __private)

/* Approximations of the device, for each width. */
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float3 __attribute__((ext_vector_type(3)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
#define LOG2_E  1.44269504088896340736f
#define LOG2_10 3.32192809488736234787f
#define LN_2    0.69314718055994530942f
#define LOG10_2 0.30102999566398119521f
#define NATIVE_VECTOR(name, wide, half_) \
	FN wide name(wide x) { return (wide)(name(x.lo), name(x.hi)); }
#define NATIVE(name, value) \
	FN float name(float x) { return value; } \
	NATIVE_VECTOR(name, float2, float) \
	FN float3 name(float3 x) { return (float3)(name(x.x), name(x.y), name(x.z)); } \
	NATIVE_VECTOR(name, float4, float2) \
	NATIVE_VECTOR(name, float8, float4) \
	NATIVE_VECTOR(name, float16, float8)
#define NATIVE_TWO_VECTOR(name, wide) \
	FN wide name(wide x, wide y) { return (wide)(name(x.lo, y.lo), name(x.hi, y.hi)); }
#define NATIVE_TWO(name, value) \
	FN float name(float x, float y) { return value; } \
	NATIVE_TWO_VECTOR(name, float2) \
	FN float3 name(float3 x, float3 y) { return (float3)(name(x.x, y.x), name(x.y, y.y), name(x.z, y.z)); } \
	NATIVE_TWO_VECTOR(name, float4) \
	NATIVE_TWO_VECTOR(name, float8) \
	NATIVE_TWO_VECTOR(name, float16)
NATIVE(native_sin, __nvvm_sin_approx_f(x))
NATIVE(native_cos, __nvvm_cos_approx_f(x))
NATIVE(native_tan, __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)))
NATIVE(native_exp2, __nvvm_ex2_approx_f(x))
NATIVE(native_exp, __nvvm_ex2_approx_f(x * LOG2_E))
NATIVE(native_exp10, __nvvm_ex2_approx_f(x * LOG2_10))
NATIVE(native_log2, __nvvm_lg2_approx_f(x))
NATIVE(native_log, __nvvm_lg2_approx_f(x) * LN_2)
NATIVE(native_log10, __nvvm_lg2_approx_f(x) * LOG10_2)
NATIVE(native_recip, __nvvm_div_approx_f(1.0f, x))
NATIVE(native_rsqrt, __nvvm_rsqrt_approx_f(x))
NATIVE(native_sqrt, __nvvm_sqrt_approx_f(x))
NATIVE_TWO(native_divide, __nvvm_div_approx_f(x, y))
NATIVE_TWO(native_powr, __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(x) * y))

/* Zeros behind the last bit that is set. */
#define COUNT_VECTOR(wide) \
	FN wide ctz(wide x) { return (wide)(ctz(x.lo), ctz(x.hi)); }
#define COUNT(type, bits, count) \
	typedef type type##2 __attribute__((ext_vector_type(2))); \
	typedef type type##3 __attribute__((ext_vector_type(3))); \
	typedef type type##4 __attribute__((ext_vector_type(4))); \
	typedef type type##8 __attribute__((ext_vector_type(8))); \
	typedef type type##16 __attribute__((ext_vector_type(16))); \
	FN type ctz(type x) { return x ? (type)count : (type)bits; } \
	COUNT_VECTOR(type##2) \
	FN type##3 ctz(type##3 x) { return (type##3)(ctz(x.x), ctz(x.y), ctz(x.z)); } \
	COUNT_VECTOR(type##4) \
	COUNT_VECTOR(type##8) \
	COUNT_VECTOR(type##16)
COUNT(char, 8, __builtin_ctz((uint)(uchar)x))
COUNT(uchar, 8, __builtin_ctz((uint)x))
COUNT(short, 16, __builtin_ctz((uint)(ushort)x))
COUNT(ushort, 16, __builtin_ctz((uint)x))
COUNT(int, 32, __builtin_ctz((uint)x))
COUNT(uint, 32, __builtin_ctz(x))
COUNT(long, 64, __builtin_ctzl((ulong)x))
COUNT(ulong, 64, __builtin_ctzl(x))

/* Sub-groups are warps. The last one of a group may have fewer work-items. */
OWN uint group_items(void) { return (uint)(NTID(x) * NTID(y) * NTID(z)); }
OWN uint lane_of(void) { return (uint)get_local_linear_id() & 31u; }
FN uint get_max_sub_group_size(void)
{
	uint items = group_items();
	return items < 32u ? items : 32u;
}
FN uint get_num_sub_groups(void) { return (group_items() + 31u) / 32u; }
FN uint get_enqueued_num_sub_groups(void) { return get_num_sub_groups(); }
FN uint get_sub_group_id(void) { return (uint)get_local_linear_id() / 32u; }
FN uint get_sub_group_local_id(void) { return lane_of(); }
FN uint get_sub_group_size(void)
{
	uint left = group_items() - get_sub_group_id() * 32u;
	return left < 32u ? left : 32u;
}
OWN uint members(void)
{
	uint size = get_sub_group_size();
	return size == 32u ? ~0u : (1u << size) - 1u;
}
OWN uint active(void)
{
	uint mask;
	__asm volatile("activemask.b32 %0;" : "=r"(mask));
	return mask;
}
FN void sub_group_barrier(cl_mem_fence_flags flags)
{
	__nvvm_bar_warp_sync(members());
}
FN void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
	fence_of(memory_order_acq_rel, scope);
	__nvvm_bar_warp_sync(members());
}
FN int sub_group_all(int predicate) { return __nvvm_vote_all_sync(members(), predicate != 0); }
FN int sub_group_any(int predicate) { return __nvvm_vote_any_sync(members(), predicate != 0); }
FN int sub_group_elect(void) { return lane_of() == (uint)__builtin_ctz(active()); }
FN int sub_group_non_uniform_all(int predicate) { return __nvvm_vote_all_sync(active(), predicate != 0); }
FN int sub_group_non_uniform_any(int predicate) { return __nvvm_vote_any_sync(active(), predicate != 0); }
FN uint4 sub_group_ballot(int predicate)
{
	return (uint4)(__nvvm_vote_ballot_sync(active(), predicate != 0), 0u, 0u, 0u);
}
FN int sub_group_inverse_ballot(uint4 value) { return (int)(value.x >> lane_of() & 1u); }
FN int sub_group_ballot_bit_extract(uint4 value, uint index) { return (int)(value.x >> (index & 31u) & 1u); }
FN uint sub_group_ballot_bit_count(uint4 value) { return (uint)__builtin_popcount(value.x & members()); }
FN uint sub_group_ballot_inclusive_scan(uint4 value)
{
	return (uint)__builtin_popcount(value.x & (~0u >> (31u - lane_of())));
}
FN uint sub_group_ballot_exclusive_scan(uint4 value)
{
	return (uint)__builtin_popcount(value.x & ((1u << lane_of()) - 1u));
}
FN uint sub_group_ballot_find_lsb(uint4 value) { return (uint)__builtin_ctz(value.x & members()); }
FN uint sub_group_ballot_find_msb(uint4 value) { return 31u - (uint)__builtin_clz(value.x & members()); }
FN uint4 get_sub_group_eq_mask(void) { return (uint4)(1u << lane_of(), 0u, 0u, 0u); }
FN uint4 get_sub_group_ge_mask(void) { return (uint4)(~0u << lane_of() & members(), 0u, 0u, 0u); }
FN uint4 get_sub_group_gt_mask(void) { return (uint4)(~1u << lane_of() & members(), 0u, 0u, 0u); }
FN uint4 get_sub_group_le_mask(void) { return (uint4)(~0u >> (31u - lane_of()), 0u, 0u, 0u); }
FN uint4 get_sub_group_lt_mask(void) { return (uint4)((1u << lane_of()) - 1u, 0u, 0u, 0u); }

OWN int word_from(int value, uint lane, uint mask) { return __nvvm_shfl_sync_idx_i32(mask, value, (int)lane, 31); }
#define FROM_WORD(type, to, back) \
	OWN type value_from(type value, uint lane, uint mask) { return back(word_from((int)to(value), lane, mask)); }
#define SAME
#define TO_CHAR(x)   ((char)(x))
#define TO_UCHAR(x)  ((uchar)(x))
#define TO_SHORT(x)  ((short)(x))
#define TO_USHORT(x) ((ushort)(x))
#define TO_UINT(x)   ((uint)(x))
#define OF_FLOAT(x)  __builtin_astype((x), int)
#define TO_FLOAT(x)  __builtin_astype((x), float)
#define OF_HALF(x)   __builtin_astype((x), short)
#define TO_HALF(x)   __builtin_astype((short)(x), half)
FROM_WORD(char, SAME, TO_CHAR)
FROM_WORD(uchar, SAME, TO_UCHAR)
FROM_WORD(short, SAME, TO_SHORT)
FROM_WORD(ushort, SAME, TO_USHORT)
FROM_WORD(int, SAME, SAME)
FROM_WORD(uint, SAME, TO_UINT)
FROM_WORD(float, OF_FLOAT, TO_FLOAT)
FROM_WORD(half, OF_HALF, TO_HALF)
OWN ulong value_from(ulong value, uint lane, uint mask)
{
	uint low = (uint)word_from((int)(uint)value, lane, mask);
	return (ulong)(uint)word_from((int)(uint)(value >> 32), lane, mask) << 32 | low;
}
OWN long value_from(long value, uint lane, uint mask) { return (long)value_from((ulong)value, lane, mask); }
OWN double value_from(double value, uint lane, uint mask)
{
	return __builtin_astype(value_from(__builtin_astype(value, ulong), lane, mask), double);
}

#define SUB_GROUP_MOVES(type) \
	FN type sub_group_broadcast(type value, uint lane) { return value_from(value, lane, members()); } \
	FN type sub_group_non_uniform_broadcast(type value, uint lane) { return value_from(value, lane, active()); } \
	FN type sub_group_broadcast_first(type value) \
	{ \
		return value_from(value, (uint)__builtin_ctz(active()), active()); \
	} \
	FN type sub_group_shuffle(type value, uint lane) { return value_from(value, lane, active()); } \
	FN type sub_group_shuffle_xor(type value, uint mask) { return value_from(value, lane_of() ^ mask, active()); } \
	FN type sub_group_shuffle_up(type value, uint n) { return value_from(value, lane_of() - n, active()); } \
	FN type sub_group_shuffle_down(type value, uint n) { return value_from(value, lane_of() + n, active()); } \
	FN type intel_sub_group_shuffle(type value, uint lane) { return value_from(value, lane, active()); } \
	FN type intel_sub_group_shuffle_xor(type value, uint mask) \
	{ \
		return value_from(value, lane_of() ^ mask, active()); \
	}
#define SUB_GROUP_REDUCTION(type, name, neutral, combined) \
	OWN type scan_##name(type x) \
	{ \
		uint lane = lane_of(), mask = members(); \
		for (uint step = 1; step < 32u; step *= 2u) { \
			type y = value_from(x, lane - step, mask); \
			if (lane >= step) \
				x = combined; \
		} \
		return x; \
	} \
	FN type sub_group_reduce_##name(type x) \
	{ \
		return value_from(scan_##name(x), get_sub_group_size() - 1u, members()); \
	} \
	FN type sub_group_scan_inclusive_##name(type x) { return scan_##name(x); } \
	FN type sub_group_scan_exclusive_##name(type x) \
	{ \
		type before = value_from(scan_##name(x), lane_of() - 1u, members()); \
		return lane_of() == 0u ? (type)(neutral) : before; \
	}
#define SUB_GROUPS(type, least, most) \
	SUB_GROUP_MOVES(type) \
	SUB_GROUP_REDUCTION(type, add, 0, y + x) \
	SUB_GROUP_REDUCTION(type, min, most, y < x ? y : x) \
	SUB_GROUP_REDUCTION(type, max, least, y > x ? y : x)
#define INFINITE __builtin_inff()
SUB_GROUPS(char, -128, 127)
SUB_GROUPS(uchar, 0, 255)
SUB_GROUPS(short, -32768, 32767)
SUB_GROUPS(ushort, 0, 65535)
SUB_GROUPS(int, -2147483647 - 1, 2147483647)
SUB_GROUPS(uint, 0, ~0u)
SUB_GROUPS(long, -9223372036854775807l - 1, 9223372036854775807l)
SUB_GROUPS(ulong, 0, ~0ul)
SUB_GROUPS(half, -INFINITE, INFINITE)
SUB_GROUPS(float, -INFINITE, INFINITE)
SUB_GROUPS(double, -INFINITE, INFINITE)

