/*
 * The portable prelude, OpenCL C side: barriers, fences, atomics. OpenCL C 1.2 has relaxed atomics
 * only, so an order is made of fences around one. So a scope beyond local memory's work-group is
 * the work-group's there (G11).
 */
#line 5 "prelude_atomics"

/* mem_fence orders for the work-group only: where the compiler has a stronger one it is taken. */
#if defined(__NV_CL_C_VERSION)
#define SYCL_HARD_FENCE_(scope)                                                                                        \
	do {                                                                                                           \
		if ((scope) == SYCL_MEMORY_SCOPE_SYSTEM)                                                               \
			__asm volatile("membar.sys;" ::: "memory");                                                    \
		else if ((scope) == SYCL_MEMORY_SCOPE_DEVICE)                                                          \
			__asm volatile("membar.gl;" ::: "memory");                                                     \
		else                                                                                                   \
			__asm volatile("membar.cta;" ::: "memory");                                                    \
	} while (0)
#elif defined(__has_builtin)
#if __has_builtin(__c11_atomic_thread_fence)
#define SYCL_HARD_FENCE_(scope) __c11_atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif
#endif
#ifndef SYCL_HARD_FENCE_
#define SYCL_HARD_FENCE_(scope) mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

static inline __attribute__((always_inline)) void sycl_fence_(int order, int scope)
{
	if (order != SYCL_MEMORY_ORDER_RELAXED)
		SYCL_HARD_FENCE_(scope);
}

/* Nothing here begins before the launch before it is over. */
#define sycl_previous_launch_wait() ((void)0)
#define sycl_next_launch_allow()    ((void)0)

/* Local and global memory are both made consistent. */
#define sycl_group_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define SYCL_BEFORE_(order, scope)                                                                                     \
	if ((order) > SYCL_MEMORY_ORDER_ACQUIRE)                                                                       \
	SYCL_HARD_FENCE_(scope)
#define SYCL_AFTER_(order, scope)                                                                                      \
	if ((order) != SYCL_MEMORY_ORDER_RELAXED && (order) != SYCL_MEMORY_ORDER_RELEASE)                              \
	SYCL_HARD_FENCE_(scope)

/* An operation: `what` carries it out on p with v, and gives the value before. */
#define SYCL_ATOMIC_(word, space, T, what)                                                                             \
	SYCL_OVERLOAD_ T sycl_atomic_##word##_(volatile space T *p, T v, int order, int scope)                         \
	{                                                                                                              \
		SYCL_BEFORE_(order, scope);                                                                            \
		T old = what;                                                                                          \
		SYCL_AFTER_(order, scope);                                                                             \
		return old;                                                                                            \
	}
#define SYCL_ATOMIC_PLAIN_(space, T)                                                                                   \
	SYCL_OVERLOAD_ T sycl_atomic_load_(const volatile space T *p, int order, int scope)                            \
	{                                                                                                              \
		SYCL_BEFORE_(order, scope);                                                                            \
		T value = *p;                                                                                          \
		SYCL_AFTER_(order, scope);                                                                             \
		return value;                                                                                          \
	}                                                                                                              \
	SYCL_OVERLOAD_ void sycl_atomic_store_(volatile space T *p, T v, int order, int scope)                         \
	{                                                                                                              \
		SYCL_BEFORE_(order, scope);                                                                            \
		*p = v;                                                                                                \
		if ((order) == SYCL_MEMORY_ORDER_SEQ_CST)                                                              \
			SYCL_HARD_FENCE_(scope);                                                                       \
	}
#define SYCL_ATOMIC_CAS_(space, T, what)                                                                               \
	SYCL_OVERLOAD_ T sycl_atomic_compare_exchange_(volatile space T *p, T e, T d, int order, int scope)            \
	{                                                                                                              \
		SYCL_BEFORE_(order, scope);                                                                            \
		T old = what;                                                                                          \
		SYCL_AFTER_(order, scope);                                                                             \
		return old;                                                                                            \
	}
#define SYCL_ATOMIC_INTEGER_(space, T, prefix)                                                                         \
	SYCL_ATOMIC_(add, space, T, prefix##_add(p, v))                                                                \
	SYCL_ATOMIC_(sub, space, T, prefix##_sub(p, v))                                                                \
	SYCL_ATOMIC_(min, space, T, prefix##_min(p, v))                                                                \
	SYCL_ATOMIC_(max, space, T, prefix##_max(p, v))                                                                \
	SYCL_ATOMIC_(and, space, T, prefix##_and(p, v))                                                                \
	SYCL_ATOMIC_(or, space, T, prefix##_or(p, v))                                                                  \
	SYCL_ATOMIC_(xor, space, T, prefix##_xor(p, v))                                                                \
	SYCL_ATOMIC_(exchange, space, T, prefix##_xchg(p, v))                                                          \
	SYCL_ATOMIC_CAS_(space, T, prefix##_cmpxchg(p, e, d))                                                          \
	SYCL_ATOMIC_PLAIN_(space, T)

/* For floating point there is only the exchange; other operations repeat until no other access came
 * between. */
#define SYCL_ATOMIC_TRIES_(word, space, T, W, cas, next)                                                               \
	SYCL_OVERLOAD_ T sycl_atomic_##word##_(volatile space T *p, T v, int order, int scope)                         \
	{                                                                                                              \
		SYCL_BEFORE_(order, scope);                                                                            \
		W seen = *(volatile space W *)p, expected;                                                             \
		do {                                                                                                   \
			T old = as_##T(seen);                                                                          \
			expected = seen;                                                                               \
			seen = cas((volatile space W *)p, expected, as_##W((T)(next)));                                \
		} while (seen != expected);                                                                            \
		SYCL_AFTER_(order, scope);                                                                             \
		return as_##T(seen);                                                                                   \
	}
#define SYCL_ATOMIC_REAL_(space, T, W, cas, xchg)                                                                      \
	SYCL_ATOMIC_TRIES_(add, space, T, W, cas, old + v)                                                             \
	SYCL_ATOMIC_TRIES_(sub, space, T, W, cas, old - v)                                                             \
	SYCL_ATOMIC_TRIES_(min, space, T, W, cas, fmin(old, v))                                                        \
	SYCL_ATOMIC_TRIES_(max, space, T, W, cas, fmax(old, v))                                                        \
	SYCL_ATOMIC_(exchange, space, T, as_##T(xchg((volatile space W *)p, as_##W(v))))                               \
	SYCL_ATOMIC_CAS_(space, T, as_##T(cas((volatile space W *)p, as_##W(e), as_##W(d))))                           \
	SYCL_ATOMIC_PLAIN_(space, T)

SYCL_ATOMIC_INTEGER_(__global, int, atomic)
SYCL_ATOMIC_INTEGER_(__local, int, atomic)
SYCL_ATOMIC_INTEGER_(__global, uint, atomic)
SYCL_ATOMIC_INTEGER_(__local, uint, atomic)
SYCL_ATOMIC_REAL_(__global, float, uint, atomic_cmpxchg, atomic_xchg)
SYCL_ATOMIC_REAL_(__local, float, uint, atomic_cmpxchg, atomic_xchg)
#ifdef SYCL_HAS_ATOMIC64
SYCL_ATOMIC_INTEGER_(__global, long, atom)
SYCL_ATOMIC_INTEGER_(__local, long, atom)
SYCL_ATOMIC_INTEGER_(__global, ulong, atom)
SYCL_ATOMIC_INTEGER_(__local, ulong, atom)
#ifdef SYCL_HAS_FP64
SYCL_ATOMIC_REAL_(__global, double, ulong, atom_cmpxchg, atom_xchg)
SYCL_ATOMIC_REAL_(__local, double, ulong, atom_cmpxchg, atom_xchg)
#endif
#endif

/* The value becomes what p points to, so that 1 does for a uint as well. */
#define SYCL_AS_(p, v) ((__typeof__(*(p) + 0))(v))
#define SYCL_ATOMIC_CALL_(word, p, v, order, scope) \
	sycl_atomic_##word##_((p), SYCL_AS_(p, v), (order), (scope))
#define SYCL_ATOMIC_LOAD_CALL_(p, order, scope) sycl_atomic_load_((p), (order), (scope))
#define SYCL_ATOMIC_CAS_CALL_(p, e, d, order, scope) \
	sycl_atomic_compare_exchange_((p), SYCL_AS_(p, e), SYCL_AS_(p, d), (order), (scope))
