/* The portable prelude, OpenCL C side: vectors, conversions, half precision as memory. */
#line 3 "prelude_vectors"

/* Makers, and elements by number, for each type listed in portable_vectors.inc. */
#define SYCL_VECTOR_(T)                                                                                                \
	static inline T##2 sycl_##T##2(T a, T b) { return (T##2)(a, b); }                                              \
	static inline T##3 sycl_##T##3(T a, T b, T c) { return (T##3)(a, b, c); }                                      \
	static inline T##4 sycl_##T##4(T a, T b, T c, T d) { return (T##4)(a, b, c, d); }                              \
	static inline T##8 sycl_##T##8(T a, T b, T c, T d, T e, T f, T g, T h)                                         \
	{                                                                                                              \
		return (T##8)(a, b, c, d, e, f, g, h);                                                                 \
	}                                                                                                              \
	static inline T##16 sycl_##T##16(T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k, T l, T m, T n, T o,    \
					 T p)                                                                          \
	{                                                                                                              \
		return (T##16)(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);                                        \
	}                                                                                                              \
	SYCL_ELEMENTS_(T, 2) SYCL_ELEMENTS_(T, 3) SYCL_ELEMENTS_(T, 4) SYCL_ELEMENTS_(T, 8) SYCL_ELEMENTS_(T, 16)
#define SYCL_ELEMENTS_(T, n)                                                                                           \
	SYCL_OVERLOAD_ T sycl_get_(T##n v, uint i)                                                                     \
	{                                                                                                              \
		union {                                                                                                \
			T##n v;                                                                                        \
			T s[sizeof(T##n) / sizeof(T)];                                                                 \
		} both;                                                                                                \
		both.v = v;                                                                                            \
		return both.s[i];                                                                                      \
	}                                                                                                              \
	SYCL_OVERLOAD_ T##n sycl_set_(T##n v, uint i, T x)                                                             \
	{                                                                                                              \
		union {                                                                                                \
			T##n v;                                                                                        \
			T s[sizeof(T##n) / sizeof(T)];                                                                 \
		} both;                                                                                                \
		both.v = v;                                                                                            \
		both.s[i] = x;                                                                                         \
		return both.v;                                                                                         \
	}
#define sycl_get(v, i)    sycl_get_((v), (uint)(i))
#define sycl_set(v, i, x) ((v) = sycl_set_((v), (uint)(i), (x)))

#define SYCL_LOAD_(n, p, i)     vload##n((size_t)(i), (p))
#define SYCL_STORE_(n, p, i, v) vstore##n((v), (size_t)(i), (p))

#define sycl_dot(a, b)          dot((a), (b))
#define sycl_cross(a, b)        cross((a), (b))
#define sycl_length(v)          length(v)
#define sycl_distance(a, b)     distance((a), (b))
#define sycl_normalize(v)       normalize(v)
#define sycl_select(no, yes, c) select((no), (yes), (c))
#define sycl_any(c)             (any(c) != 0)
#define sycl_all(c)             (all(c) != 0)

#define SYCL_PASTE_(a, b)        SYCL_PASTED_(a, b)
#define SYCL_PASTED_(a, b)       a##b
#define sycl_convert(type, v)     SYCL_PASTE_(convert_, type)(v)
#define sycl_convert_sat(type, v) SYCL_PASTE_(SYCL_PASTE_(convert_, type), _sat)(v)
#define sycl_as(type, v)          SYCL_PASTE_(as_, type)(v)

/* Half precision as 16 bits in memory: also where the device cannot compute with it. */
static inline float sycl_half_to_float(ushort bits) { return vload_half(0, (const __private half *)&bits); }
static inline ushort sycl_float_to_half(float x)
{
	ushort bits;

	vstore_half_rte(x, 0, (__private half *)&bits);
	return bits;
}

/* Last of all, for what comes before may say them in words of the language's own. */
#ifndef SYCL_HAS_FP16
#define half sycl_the_device_has_no_fp16_
#endif
#ifndef SYCL_HAS_FP64
#define double sycl_the_device_has_no_fp64_
#endif
