/* The portable prelude, CUDA C++ side: mathematics. */
#line 3 "prelude_math"

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
