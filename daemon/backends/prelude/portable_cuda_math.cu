/* The portable prelude, CUDA C++ side: mathematics beside portable_math.inc. */
#line 3 "prelude_math"

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
/* For 8 and 16 bits; the product is an int. */
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
#define sycl_double_bits_(x)   __double_as_longlong(x)
