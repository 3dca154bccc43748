/*
 * The portable prelude, CUDA C++ side: barriers, fences, atomics. An order is made of fences around
 * a relaxed operation, but for loads and stores, which the machine has with orders. Others wait in
 * loops for what they see.
 */
#line 6 "prelude_atomics"

#if __CUDA_ARCH__ >= 700
#define SYCL_FENCE_WORDS_(words, scope, old) asm volatile("fence." words "." scope ";" ::: "memory")
#else
#define SYCL_FENCE_WORDS_(words, scope, old) asm volatile("membar." old ";" ::: "memory")
#endif
/* All orders of SYCL but relaxed are one of the machine's two (G9); a sub-group's scope is the work-group's (G8). */
static __forceinline__ void sycl_fence_(int order, int scope)
{
	if (order == SYCL_MEMORY_ORDER_RELAXED || scope == SYCL_MEMORY_SCOPE_WORK_ITEM)
		return;
	if (order == SYCL_MEMORY_ORDER_SEQ_CST) {
		if (scope == SYCL_MEMORY_SCOPE_SYSTEM)
			SYCL_FENCE_WORDS_("sc", "sys", "sys");
		else if (scope == SYCL_MEMORY_SCOPE_DEVICE)
			SYCL_FENCE_WORDS_("sc", "gpu", "gl");
		else
			SYCL_FENCE_WORDS_("sc", "cta", "cta");
	} else {
		if (scope == SYCL_MEMORY_SCOPE_SYSTEM)
			SYCL_FENCE_WORDS_("acq_rel", "sys", "sys");
		else if (scope == SYCL_MEMORY_SCOPE_DEVICE)
			SYCL_FENCE_WORDS_("acq_rel", "gpu", "gl");
		else
			SYCL_FENCE_WORDS_("acq_rel", "cta", "cta");
	}
}
static __forceinline__ void sycl_before_(int order, int scope)
{
	if (order > SYCL_MEMORY_ORDER_ACQUIRE)
		sycl_fence_(order, scope);
}
static __forceinline__ void sycl_after_(int order, int scope)
{
	if (order != SYCL_MEMORY_ORDER_RELEASE)
		sycl_fence_(order, scope);
}

/* For a launch that may begin before its predecessor is over (R5), and for that predecessor. */
#if __CUDA_ARCH__ >= 900
#define sycl_previous_launch_wait() asm volatile("griddepcontrol.wait;" ::: "memory")
#define sycl_next_launch_allow()    asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define sycl_previous_launch_wait() ((void)0)
#define sycl_next_launch_allow()    ((void)0)
#endif

#define sycl_group_barrier() __syncthreads()

/* The machine's own functions take the scope in their names. On local memory all scopes are the work-group's (G11). */
#define SYCL_SCOPED_(name, ...)                                                                                        \
	(scope <= SYCL_MEMORY_SCOPE_WORK_GROUP ? name##_block(__VA_ARGS__)                                             \
	 : scope == SYCL_MEMORY_SCOPE_DEVICE   ? name(__VA_ARGS__)                                                     \
					       : name##_system(__VA_ARGS__))
#define SYCL_ATOMIC_(word, name, T, W)                                                                                 \
	static __forceinline__ T sycl_atomic_##word##_(T *p, T v, int order, int scope)                                \
	{                                                                                                              \
		sycl_before_(order, scope);                                                                            \
		T old = (T)SYCL_SCOPED_(name, (W *)p, (W)v);                                                           \
		sycl_after_(order, scope);                                                                             \
		return old;                                                                                            \
	}
#define SYCL_ATOMIC_CAS_(T, W)                                                                                         \
	static __forceinline__ T sycl_atomic_compare_exchange_(T *p, T e, T d, int order, int scope)                   \
	{                                                                                                              \
		sycl_before_(order, scope);                                                                            \
		W old = SYCL_SCOPED_(atomicCAS, (W *)p, sycl_bits_<W>(e), sycl_bits_<W>(d));                           \
		sycl_after_(order, scope);                                                                             \
		return sycl_bits_<T>(old);                                                                             \
	}
#define SYCL_ATOMIC_INTEGER_(T, W, L)                                                                                  \
	SYCL_ATOMIC_(add, atomicAdd, T, W)                                                                             \
	SYCL_ATOMIC_(min, atomicMin, T, L)                                                                             \
	SYCL_ATOMIC_(max, atomicMax, T, L)                                                                             \
	SYCL_ATOMIC_(and, atomicAnd, T, W)                                                                             \
	SYCL_ATOMIC_(or, atomicOr, T, W)                                                                               \
	SYCL_ATOMIC_(xor, atomicXor, T, W)                                                                             \
	SYCL_ATOMIC_(exchange, atomicExch, T, W)                                                                       \
	SYCL_ATOMIC_CAS_(T, W)                                                                                         \
	static __forceinline__ T sycl_atomic_sub_(T *p, T v, int order, int scope)                                     \
	{                                                                                                              \
		return sycl_atomic_add_(p, (T)((W)0 - (W)v), order, scope);                                            \
	}
/* For floating point there are sums and exchanges; the least and the greatest repeat until no other
 * access came between. */
#define SYCL_ATOMIC_TRIES_(word, T, W, next)                                                                           \
	static __forceinline__ T sycl_atomic_##word##_(T *p, T v, int order, int scope)                                \
	{                                                                                                              \
		sycl_before_(order, scope);                                                                            \
		W seen = *(volatile W *)p, expected;                                                                   \
		do {                                                                                                   \
			T old = sycl_bits_<T>(seen);                                                                   \
			expected = seen;                                                                               \
			seen = SYCL_SCOPED_(atomicCAS, (W *)p, expected, sycl_bits_<W>((T)(next)));                    \
		} while (seen != expected);                                                                            \
		sycl_after_(order, scope);                                                                             \
		return sycl_bits_<T>(seen);                                                                            \
	}
#define SYCL_ATOMIC_REAL_(T, W)                                                                                        \
	SYCL_ATOMIC_(add, atomicAdd, T, T)                                                                             \
	SYCL_ATOMIC_TRIES_(min, T, W, fmin(old, v))                                                                    \
	SYCL_ATOMIC_TRIES_(max, T, W, fmax(old, v))                                                                    \
	SYCL_ATOMIC_CAS_(T, W)                                                                                         \
	static __forceinline__ T sycl_atomic_exchange_(T *p, T v, int order, int scope)                                \
	{                                                                                                              \
		sycl_before_(order, scope);                                                                            \
		W old = SYCL_SCOPED_(atomicExch, (W *)p, sycl_bits_<W>(v));                                            \
		sycl_after_(order, scope);                                                                             \
		return sycl_bits_<T>(old);                                                                             \
	}                                                                                                              \
	static __forceinline__ T sycl_atomic_sub_(T *p, T v, int order, int scope)                                     \
	{                                                                                                              \
		return sycl_atomic_add_(p, -v, order, scope);                                                          \
	}
#define SYCL_LOAD_WORDS_(words, T, letter, bits) \
	asm volatile("ld" words "." bits " %0, [%1];" : "=" letter(value) : "l"(p) : "memory")
#define SYCL_STORE_WORDS_(words, T, letter, bits) \
	asm volatile("st" words "." bits " [%0], %1;" : : "l"(p), letter(v) : "memory")
#define SYCL_SCOPED_WORDS_(access, words, T, letter, bits)                                                             \
	do {                                                                                                           \
		if (scope <= SYCL_MEMORY_SCOPE_WORK_GROUP)                                                             \
			access(words ".cta", T, letter, bits);                                                         \
		else if (scope == SYCL_MEMORY_SCOPE_DEVICE)                                                            \
			access(words ".gpu", T, letter, bits);                                                         \
		else                                                                                                   \
			access(words ".sys", T, letter, bits);                                                         \
	} while (0)
#if __CUDA_ARCH__ >= 700
#define SYCL_ATOMIC_PLAIN_(T, letter, bits)                                                                            \
	static __forceinline__ T sycl_atomic_load_(const T *p, int order, int scope)                                   \
	{                                                                                                              \
		T value;                                                                                               \
		if (order == SYCL_MEMORY_ORDER_RELAXED)                                                                \
			SYCL_SCOPED_WORDS_(SYCL_LOAD_WORDS_, ".relaxed", T, letter, bits);                             \
		else                                                                                                   \
			SYCL_SCOPED_WORDS_(SYCL_LOAD_WORDS_, ".acquire", T, letter, bits);                             \
		return value;                                                                                          \
	}                                                                                                              \
	static __forceinline__ void sycl_atomic_store_(T *p, T v, int order, int scope)                                \
	{                                                                                                              \
		if (order == SYCL_MEMORY_ORDER_RELAXED)                                                                \
			SYCL_SCOPED_WORDS_(SYCL_STORE_WORDS_, ".relaxed", T, letter, bits);                            \
		else                                                                                                   \
			SYCL_SCOPED_WORDS_(SYCL_STORE_WORDS_, ".release", T, letter, bits);                            \
	}
#else
#define SYCL_ATOMIC_PLAIN_(T, letter, bits)                                                                            \
	static __forceinline__ T sycl_atomic_load_(const T *p, int order, int scope)                                   \
	{                                                                                                              \
		T value = *(const volatile T *)p;                                                                      \
		sycl_fence_(order, scope);                                                                             \
		return value;                                                                                          \
	}                                                                                                              \
	static __forceinline__ void sycl_atomic_store_(T *p, T v, int order, int scope)                                \
	{                                                                                                              \
		sycl_fence_(order, scope);                                                                             \
		*(volatile T *)p = v;                                                                                  \
	}
#endif

/* The bits of one type as another of its size. */
template <class T, class S> static __forceinline__ T sycl_bits_(S from)
{
	static_assert(sizeof(T) == sizeof(S), "both types must have one size");
	T to;
	memcpy(&to, &from, sizeof(to));
	return to;
}

SYCL_ATOMIC_INTEGER_(int, uint, int)
SYCL_ATOMIC_INTEGER_(uint, uint, uint)
SYCL_ATOMIC_INTEGER_(long, unsigned long long, long long)
SYCL_ATOMIC_INTEGER_(ulong, unsigned long long, unsigned long long)
SYCL_ATOMIC_REAL_(float, uint)
SYCL_ATOMIC_REAL_(double, unsigned long long)
SYCL_ATOMIC_PLAIN_(int, "r", "s32")
SYCL_ATOMIC_PLAIN_(uint, "r", "u32")
SYCL_ATOMIC_PLAIN_(long, "l", "s64")
SYCL_ATOMIC_PLAIN_(ulong, "l", "u64")
SYCL_ATOMIC_PLAIN_(float, "f", "f32")
SYCL_ATOMIC_PLAIN_(double, "d", "f64")

/* The value becomes what p points to. */
#define SYCL_ATOMIC_WORD_(word)                                                                                        \
	template <class T>                                                                                             \
	static __forceinline__ T sycl_atomic_any_##word##_(T *p, typename sycl_same_<T>::type v, int order, int scope) \
	{                                                                                                              \
		return sycl_atomic_##word##_(p, v, order, scope);                                                      \
	}
SYCL_ATOMIC_WORD_(add)
SYCL_ATOMIC_WORD_(sub)
SYCL_ATOMIC_WORD_(min)
SYCL_ATOMIC_WORD_(max)
SYCL_ATOMIC_WORD_(and)
SYCL_ATOMIC_WORD_(or)
SYCL_ATOMIC_WORD_(xor)
SYCL_ATOMIC_WORD_(exchange)
template <class T>
static __forceinline__ void sycl_atomic_any_store_(T *p, typename sycl_same_<T>::type v, int order, int scope)
{
	sycl_atomic_store_(p, v, order, scope);
}
template <class T>
static __forceinline__ T sycl_atomic_any_compare_exchange_(T *p, typename sycl_same_<T>::type e,
							   typename sycl_same_<T>::type d, int order, int scope)
{
	return sycl_atomic_compare_exchange_(p, e, d, order, scope);
}

#define SYCL_ATOMIC_CALL_(word, p, v, order, scope) \
	sycl_atomic_any_##word##_(sycl_raw_(p), (v), (order), (scope))
#define SYCL_ATOMIC_LOAD_CALL_(p, order, scope) sycl_atomic_load_(sycl_raw_(p), (order), (scope))
#define SYCL_ATOMIC_CAS_CALL_(p, e, d, order, scope) \
	sycl_atomic_any_compare_exchange_(sycl_raw_(p), (e), (d), (order), (scope))
