/*
 * The portable prelude, CUDA C++ side: half precision, vectors, conversions. CUDA's own vectors have no operators and
 * another layout; so OpenCL's names mean classes of this file, laid out as OpenCL's vectors are.
 */
#line 5 "prelude_vectors"

/* Half precision as the machine computes it; what it has no instruction for goes by way of float. */
struct half {
	ushort bits;

	half() = default;
	__forceinline__ half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
	__forceinline__ half(double x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
	__forceinline__ half(int x) { asm("cvt.rn.f16.s32 %0, %1;" : "=h"(bits) : "r"(x)); }
	__forceinline__ half(uint x) { asm("cvt.rn.f16.u32 %0, %1;" : "=h"(bits) : "r"(x)); }
	__forceinline__ half(long x) { asm("cvt.rn.f16.s64 %0, %1;" : "=h"(bits) : "l"(x)); }
	__forceinline__ half(ulong x) { asm("cvt.rn.f16.u64 %0, %1;" : "=h"(bits) : "l"(x)); }
	__forceinline__ operator float() const
	{
		float x;
		asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
		return x;
	}
};
static __forceinline__ half operator-(half a)
{
	a.bits ^= 0x8000;
	return a;
}
#define SYCL_HALF_INSTRUCTION_(op, words)                                                                              \
	static __forceinline__ half operator op(half a, half b)                                                        \
	{                                                                                                              \
		half r;                                                                                                \
		asm(words " %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));                                   \
		return r;                                                                                              \
	}
SYCL_HALF_INSTRUCTION_(+, "add.rn.f16")
SYCL_HALF_INSTRUCTION_(-, "sub.rn.f16")
SYCL_HALF_INSTRUCTION_(*, "mul.rn.f16")
static __forceinline__ half operator/(half a, half b) { return half((float)a / (float)b); }
/* With float and double it is their arithmetic, with integers half's own, as in OpenCL C. */
#define SYCL_HALF_MIXED_(op, T, R)                                                                                     \
	static __forceinline__ R operator op(half a, T b) { return (R)(float)a op (R)b; }                              \
	static __forceinline__ R operator op(T a, half b) { return (R)a op (R)(float)b; }
#define SYCL_HALF_OPERATOR_(op)                                                                                        \
	SYCL_HALF_MIXED_(op, float, float)                                                                             \
	SYCL_HALF_MIXED_(op, double, double)                                                                           \
	SYCL_HALF_MIXED_(op, int, half)                                                                                \
	SYCL_HALF_MIXED_(op, uint, half)                                                                               \
	SYCL_HALF_MIXED_(op, long, half)                                                                               \
	SYCL_HALF_MIXED_(op, ulong, half)                                                                              \
	template <class T> static __forceinline__ half &operator op##=(half &a, T b) { return a = half(a op b); }
SYCL_HALF_OPERATOR_(+)
SYCL_HALF_OPERATOR_(-)
SYCL_HALF_OPERATOR_(*)
SYCL_HALF_OPERATOR_(/)
#define SYCL_HALF_1_(name) static __forceinline__ half name(half x) { return half(name((float)x)); }
#define SYCL_HALF_2_(name) static __forceinline__ half name(half a, half b) { return half(name((float)a, (float)b)); }
SYCL_HALF_1_(sqrt) SYCL_HALF_1_(rsqrt) SYCL_HALF_1_(cbrt) SYCL_HALF_1_(fabs) SYCL_HALF_1_(floor) SYCL_HALF_1_(ceil)
SYCL_HALF_1_(trunc) SYCL_HALF_1_(round) SYCL_HALF_1_(rint) SYCL_HALF_1_(exp) SYCL_HALF_1_(exp2) SYCL_HALF_1_(exp10)
SYCL_HALF_1_(expm1) SYCL_HALF_1_(log) SYCL_HALF_1_(log2) SYCL_HALF_1_(log10) SYCL_HALF_1_(log1p) SYCL_HALF_1_(sin)
SYCL_HALF_1_(cos) SYCL_HALF_1_(tan) SYCL_HALF_1_(asin) SYCL_HALF_1_(acos) SYCL_HALF_1_(atan) SYCL_HALF_1_(sinh)
SYCL_HALF_1_(cosh) SYCL_HALF_1_(tanh) SYCL_HALF_1_(erf)
SYCL_HALF_2_(fmin) SYCL_HALF_2_(fmax) SYCL_HALF_2_(fmod) SYCL_HALF_2_(pow) SYCL_HALF_2_(hypot) SYCL_HALF_2_(atan2)
SYCL_HALF_2_(copysign)
static __forceinline__ half fma(half a, half b, half c)
{
	half r;
	asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
	return r;
}
static __forceinline__ float sycl_half_to_float(ushort bits)
{
	half h;
	h.bits = bits;
	return (float)h;
}
static __forceinline__ ushort sycl_float_to_half(float x) { return half(x).bits; }

/* The result of a comparison of vectors: 0, or -1 in an integer of the element's size. */
template <int bytes> struct sycl_mask_ { typedef int type; };
template <> struct sycl_mask_<1> { typedef char type; };
template <> struct sycl_mask_<2> { typedef short type; };
template <> struct sycl_mask_<8> { typedef long type; };

template <class T, int n> struct sycl_elements_;
template <class T> struct alignas(2 * sizeof(T)) sycl_elements_<T, 2> {
	union {
		struct { T x, y; };
		struct { T s0, s1; };
		T s[2];
	};
};
template <class T> struct alignas(4 * sizeof(T)) sycl_elements_<T, 3> {
	union {
		struct { T x, y, z; };
		struct { T s0, s1, s2; };
		T s[4];
	};
};
template <class T> struct alignas(4 * sizeof(T)) sycl_elements_<T, 4> {
	union {
		struct { T x, y, z, w; };
		struct { T s0, s1, s2, s3; };
		T s[4];
	};
};
template <class T> struct alignas(8 * sizeof(T)) sycl_elements_<T, 8> {
	union {
		struct { T x, y, z, w; };
		struct { T s0, s1, s2, s3, s4, s5, s6, s7; };
		T s[8];
	};
};
template <class T> struct alignas(16 * sizeof(T)) sycl_elements_<T, 16> {
	union {
		struct { T x, y, z, w; };
		struct { T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf; };
		struct { T s0_, s1_, s2_, s3_, s4_, s5_, s6_, s7_, s8_, s9_, sA, sB, sC, sD, sE, sF; };
		T s[16];
	};
};

#define SYCL_EACH_ _Pragma("unroll") for (int i = 0; i < n; i++)
#define SYCL_VECTOR_OPERATOR_(op)                                                                                      \
	friend __forceinline__ sycl_vec_ operator op(sycl_vec_ a, sycl_vec_ b)                                         \
	{                                                                                                              \
		SYCL_EACH_ a.s[i] = (T)(a.s[i] op b.s[i]);                                                             \
		return a;                                                                                              \
	}                                                                                                              \
	friend __forceinline__ sycl_vec_ &operator op##=(sycl_vec_ &a, sycl_vec_ b) { return a = a op b; }
#define SYCL_VECTOR_COMPARE_(op)                                                                                       \
	friend __forceinline__ sycl_vec_<typename sycl_mask_<sizeof(T)>::type, n> operator op(sycl_vec_ a,             \
											      sycl_vec_ b)             \
	{                                                                                                              \
		sycl_vec_<typename sycl_mask_<sizeof(T)>::type, n> r;                                                  \
		SYCL_EACH_ r.s[i] = a.s[i] op b.s[i] ? -1 : 0;                                                         \
		return r;                                                                                              \
	}
template <class T, int n> struct sycl_vec_ : sycl_elements_<T, n> {
	sycl_vec_() = default;
	__forceinline__ sycl_vec_(T x) { SYCL_EACH_ this->s[i] = x; }
	SYCL_VECTOR_OPERATOR_(+)
	SYCL_VECTOR_OPERATOR_(-)
	SYCL_VECTOR_OPERATOR_(*)
	SYCL_VECTOR_OPERATOR_(/)
	SYCL_VECTOR_OPERATOR_(%)
	SYCL_VECTOR_OPERATOR_(&)
	SYCL_VECTOR_OPERATOR_(|)
	SYCL_VECTOR_OPERATOR_(^)
	SYCL_VECTOR_OPERATOR_(<<)
	SYCL_VECTOR_OPERATOR_(>>)
	SYCL_VECTOR_COMPARE_(<)
	SYCL_VECTOR_COMPARE_(>)
	SYCL_VECTOR_COMPARE_(<=)
	SYCL_VECTOR_COMPARE_(>=)
	SYCL_VECTOR_COMPARE_(==)
	SYCL_VECTOR_COMPARE_(!=)
	friend __forceinline__ sycl_vec_ operator-(sycl_vec_ a)
	{
		SYCL_EACH_ a.s[i] = -a.s[i];
		return a;
	}
	friend __forceinline__ sycl_vec_ operator~(sycl_vec_ a)
	{
		SYCL_EACH_ a.s[i] = (T)~a.s[i];
		return a;
	}
	friend __forceinline__ sycl_vec_ operator+(sycl_vec_ a) { return a; }
};

/* The types, and their makers, for each type listed in portable_vectors.inc. */
#define SYCL_VECTOR_(T)                                                                                                \
	typedef sycl_vec_<T, 2> sycl_vec_##T##2_;                                                                      \
	typedef sycl_vec_<T, 3> sycl_vec_##T##3_;                                                                      \
	typedef sycl_vec_<T, 4> sycl_vec_##T##4_;                                                                      \
	typedef sycl_vec_<T, 8> sycl_vec_##T##8_;                                                                      \
	typedef sycl_vec_<T, 16> sycl_vec_##T##16_;                                                                    \
	static __forceinline__ sycl_vec_##T##2_ sycl_##T##2(T a, T b)                                                  \
	{                                                                                                              \
		sycl_vec_##T##2_ v;                                                                                    \
		v.x = a, v.y = b;                                                                                      \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ sycl_vec_##T##3_ sycl_##T##3(T a, T b, T c)                                             \
	{                                                                                                              \
		sycl_vec_##T##3_ v;                                                                                    \
		v.x = a, v.y = b, v.z = c;                                                                             \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ sycl_vec_##T##4_ sycl_##T##4(T a, T b, T c, T d)                                        \
	{                                                                                                              \
		sycl_vec_##T##4_ v;                                                                                    \
		v.x = a, v.y = b, v.z = c, v.w = d;                                                                    \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ sycl_vec_##T##8_ sycl_##T##8(T a, T b, T c, T d, T e, T f, T g, T h)                    \
	{                                                                                                              \
		sycl_vec_##T##8_ v;                                                                                    \
		v.s0 = a, v.s1 = b, v.s2 = c, v.s3 = d, v.s4 = e, v.s5 = f, v.s6 = g, v.s7 = h;                        \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ sycl_vec_##T##16_ sycl_##T##16(T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k,   \
							       T l, T m, T n, T o, T p)                                \
	{                                                                                                              \
		sycl_vec_##T##16_ v;                                                                                   \
		v.s0 = a, v.s1 = b, v.s2 = c, v.s3 = d, v.s4 = e, v.s5 = f, v.s6 = g, v.s7 = h;                        \
		v.s8 = i, v.s9 = j, v.sa = k, v.sb = l, v.sc = m, v.sd = n, v.se = o, v.sf = p;                        \
		return v;                                                                                              \
	}

#define char2    sycl_vec_char2_
#define char3    sycl_vec_char3_
#define char4    sycl_vec_char4_
#define char8    sycl_vec_char8_
#define char16   sycl_vec_char16_
#define uchar2   sycl_vec_uchar2_
#define uchar3   sycl_vec_uchar3_
#define uchar4   sycl_vec_uchar4_
#define uchar8   sycl_vec_uchar8_
#define uchar16  sycl_vec_uchar16_
#define short2   sycl_vec_short2_
#define short3   sycl_vec_short3_
#define short4   sycl_vec_short4_
#define short8   sycl_vec_short8_
#define short16  sycl_vec_short16_
#define ushort2  sycl_vec_ushort2_
#define ushort3  sycl_vec_ushort3_
#define ushort4  sycl_vec_ushort4_
#define ushort8  sycl_vec_ushort8_
#define ushort16 sycl_vec_ushort16_
#define int2     sycl_vec_int2_
#define int3     sycl_vec_int3_
#define int4     sycl_vec_int4_
#define int8     sycl_vec_int8_
#define int16    sycl_vec_int16_
#define uint2    sycl_vec_uint2_
#define uint3    sycl_vec_uint3_
#define uint4    sycl_vec_uint4_
#define uint8    sycl_vec_uint8_
#define uint16   sycl_vec_uint16_
#define long2    sycl_vec_long2_
#define long3    sycl_vec_long3_
#define long4    sycl_vec_long4_
#define long8    sycl_vec_long8_
#define long16   sycl_vec_long16_
#define ulong2   sycl_vec_ulong2_
#define ulong3   sycl_vec_ulong3_
#define ulong4   sycl_vec_ulong4_
#define ulong8   sycl_vec_ulong8_
#define ulong16  sycl_vec_ulong16_
#define float2   sycl_vec_float2_
#define float3   sycl_vec_float3_
#define float4   sycl_vec_float4_
#define float8   sycl_vec_float8_
#define float16  sycl_vec_float16_
#define double2  sycl_vec_double2_
#define double3  sycl_vec_double3_
#define double4  sycl_vec_double4_
#define double8  sycl_vec_double8_
#define double16 sycl_vec_double16_
#define half2    sycl_vec_half2_
#define half3    sycl_vec_half3_
#define half4    sycl_vec_half4_
#define half8    sycl_vec_half8_
#define half16   sycl_vec_half16_

template <class T, int n> static __forceinline__ T sycl_get_(sycl_vec_<T, n> v, uint i) { return v.s[i]; }
#define sycl_get(v, i)    sycl_get_((v), (uint)(i))
#define sycl_set(v, i, x) ((void)((v).s[(uint)(i)] = (x)))

/* The i-th of the vectors that lie one behind the other at p, which need be aligned as one element only. */
template <int n, class T>
static __forceinline__ sycl_vec_<typename sycl_same_<T>::type, n> sycl_load_(T *p, ulong at)
{
	sycl_vec_<typename sycl_same_<T>::type, n> v;
	SYCL_EACH_ v.s[i] = p[at * n + i];
	return v;
}
template <int n, class T> static __forceinline__ void sycl_store_(T *p, ulong at, sycl_vec_<T, n> v)
{
	SYCL_EACH_ p[at * n + i] = v.s[i];
}
#define SYCL_LOAD_(n, p, i)     sycl_load_<n>(sycl_raw_(p), (ulong)(i))
#define SYCL_STORE_(n, p, i, v) sycl_store_<n>(sycl_raw_(p), (ulong)(i), (v))

/* CUDA's functions, element by element. */
#define SYCL_VECTOR_1_(name)                                                                                           \
	template <class T, int n> static __forceinline__ sycl_vec_<T, n> name(sycl_vec_<T, n> v)                       \
	{                                                                                                              \
		SYCL_EACH_ v.s[i] = name(v.s[i]);                                                                      \
		return v;                                                                                              \
	}
#define SYCL_VECTOR_2_(name)                                                                                           \
	template <class T, int n> static __forceinline__ sycl_vec_<T, n> name(sycl_vec_<T, n> a, sycl_vec_<T, n> b)    \
	{                                                                                                              \
		SYCL_EACH_ a.s[i] = name(a.s[i], b.s[i]);                                                              \
		return a;                                                                                              \
	}
SYCL_VECTOR_1_(sqrt) SYCL_VECTOR_1_(rsqrt) SYCL_VECTOR_1_(cbrt) SYCL_VECTOR_1_(fabs) SYCL_VECTOR_1_(floor)
SYCL_VECTOR_1_(ceil) SYCL_VECTOR_1_(trunc) SYCL_VECTOR_1_(round) SYCL_VECTOR_1_(rint) SYCL_VECTOR_1_(exp)
SYCL_VECTOR_1_(exp2) SYCL_VECTOR_1_(exp10) SYCL_VECTOR_1_(expm1) SYCL_VECTOR_1_(log) SYCL_VECTOR_1_(log2)
SYCL_VECTOR_1_(log10) SYCL_VECTOR_1_(log1p) SYCL_VECTOR_1_(sin) SYCL_VECTOR_1_(cos) SYCL_VECTOR_1_(tan)
SYCL_VECTOR_1_(asin) SYCL_VECTOR_1_(acos) SYCL_VECTOR_1_(atan) SYCL_VECTOR_1_(sinh) SYCL_VECTOR_1_(cosh)
SYCL_VECTOR_1_(tanh) SYCL_VECTOR_1_(erf)
SYCL_VECTOR_1_(sycl_popcount_) SYCL_VECTOR_1_(sycl_clz_)
SYCL_VECTOR_2_(fmin) SYCL_VECTOR_2_(fmax) SYCL_VECTOR_2_(fmod) SYCL_VECTOR_2_(pow) SYCL_VECTOR_2_(hypot)
SYCL_VECTOR_2_(atan2) SYCL_VECTOR_2_(copysign)
SYCL_VECTOR_2_(sycl_min_) SYCL_VECTOR_2_(sycl_max_)
template <class T, int n>
static __forceinline__ sycl_vec_<T, n> fma(sycl_vec_<T, n> a, sycl_vec_<T, n> b, sycl_vec_<T, n> c)
{
	SYCL_EACH_ a.s[i] = fma(a.s[i], b.s[i], c.s[i]);
	return a;
}

template <class T, int n> static __forceinline__ T sycl_dot(sycl_vec_<T, n> a, sycl_vec_<T, n> b)
{
	T sum = 0;
	SYCL_EACH_ sum += a.s[i] * b.s[i];
	return sum;
}
template <class T, int n> static __forceinline__ sycl_vec_<T, n> sycl_cross(sycl_vec_<T, n> a, sycl_vec_<T, n> b)
{
	sycl_vec_<T, n> v(0);
	v.x = a.y * b.z - a.z * b.y;
	v.y = a.z * b.x - a.x * b.z;
	v.z = a.x * b.y - a.y * b.x;
	return v;
}
template <class T, int n> static __forceinline__ T sycl_length(sycl_vec_<T, n> v) { return sqrt(sycl_dot(v, v)); }
template <class T, int n> static __forceinline__ T sycl_distance(sycl_vec_<T, n> a, sycl_vec_<T, n> b)
{
	return sycl_length(a - b);
}
template <class T, int n> static __forceinline__ sycl_vec_<T, n> sycl_normalize(sycl_vec_<T, n> v)
{
	return v / sycl_vec_<T, n>(sycl_length(v));
}
/* For vectors the highest bit decides, for scalars whether it is 0. */
template <class T, class C> static __forceinline__ T sycl_select_(T no, T yes, C c) { return c ? yes : no; }
template <class T, class C, int n>
static __forceinline__ sycl_vec_<T, n> sycl_select_(sycl_vec_<T, n> no, sycl_vec_<T, n> yes, sycl_vec_<C, n> c)
{
	SYCL_EACH_ no.s[i] = c.s[i] < 0 ? yes.s[i] : no.s[i];
	return no;
}
#define sycl_select(no, yes, c) sycl_select_((no), (yes), (c))
template <class C, int n> static __forceinline__ int sycl_any(sycl_vec_<C, n> c)
{
	int any = 0;
	SYCL_EACH_ any |= c.s[i] < 0;
	return any;
}
template <class C, int n> static __forceinline__ int sycl_all(sycl_vec_<C, n> c)
{
	int all = 1;
	SYCL_EACH_ all &= c.s[i] < 0;
	return all;
}

/* Conversions of numbers: as C's, or to the nearest number that the type has. */
template <class T> struct sycl_range_of_;
#define SYCL_RANGE_OF_(T, least_, most_)                                                                               \
	template <> struct sycl_range_of_<T> {                                                                         \
		static const long least = least_;                                                                      \
		static const ulong most = most_;                                                                       \
	};
SYCL_RANGE_OF_(char, -128, 127)
SYCL_RANGE_OF_(signed char, -128, 127)
SYCL_RANGE_OF_(uchar, 0, 255)
SYCL_RANGE_OF_(short, -32768, 32767)
SYCL_RANGE_OF_(ushort, 0, 65535)
SYCL_RANGE_OF_(int, -2147483647l - 1, 2147483647)
SYCL_RANGE_OF_(uint, 0, 4294967295u)
SYCL_RANGE_OF_(long, -9223372036854775807l - 1, 9223372036854775807ul)
SYCL_RANGE_OF_(ulong, 0, 18446744073709551615ul)
template <class T> static __forceinline__ T sycl_saturate_(long x)
{
	if (x < 0)
		return x < sycl_range_of_<T>::least ? (T)sycl_range_of_<T>::least : (T)x;
	return (ulong)x > sycl_range_of_<T>::most ? (T)sycl_range_of_<T>::most : (T)x;
}
template <class T> static __forceinline__ T sycl_saturate_(ulong x)
{
	return x > sycl_range_of_<T>::most ? (T)sycl_range_of_<T>::most : (T)x;
}
template <class T> static __forceinline__ T sycl_saturate_(double x)
{
	if (x != x)
		return 0;
	if (x <= (double)sycl_range_of_<T>::least)
		return (T)sycl_range_of_<T>::least;
	return x >= (double)sycl_range_of_<T>::most ? (T)sycl_range_of_<T>::most : (T)x;
}
template <class T> static __forceinline__ T sycl_saturate_(char x) { return sycl_saturate_<T>((long)x); }
template <class T> static __forceinline__ T sycl_saturate_(short x) { return sycl_saturate_<T>((long)x); }
template <class T> static __forceinline__ T sycl_saturate_(int x) { return sycl_saturate_<T>((long)x); }
template <class T> static __forceinline__ T sycl_saturate_(uchar x) { return sycl_saturate_<T>((ulong)x); }
template <class T> static __forceinline__ T sycl_saturate_(ushort x) { return sycl_saturate_<T>((ulong)x); }
template <class T> static __forceinline__ T sycl_saturate_(uint x) { return sycl_saturate_<T>((ulong)x); }
template <class T> static __forceinline__ T sycl_saturate_(float x) { return sycl_saturate_<T>((double)x); }
template <class T> static __forceinline__ T sycl_saturate_(half x) { return sycl_saturate_<T>((double)(float)x); }

template <class R> struct sycl_conversion_ {
	template <class S> static __forceinline__ R plain(S x) { return (R)x; }
	template <class S> static __forceinline__ R saturated(S x) { return sycl_saturate_<R>(x); }
};
template <class T, int n> struct sycl_conversion_<sycl_vec_<T, n>> {
	template <class S> static __forceinline__ sycl_vec_<T, n> plain(sycl_vec_<S, n> v)
	{
		sycl_vec_<T, n> r;
		SYCL_EACH_ r.s[i] = (T)v.s[i];
		return r;
	}
	template <class S> static __forceinline__ sycl_vec_<T, n> saturated(sycl_vec_<S, n> v)
	{
		sycl_vec_<T, n> r;
		SYCL_EACH_ r.s[i] = sycl_saturate_<T>(v.s[i]);
		return r;
	}
};
#define sycl_convert(type, v)     sycl_conversion_<type>::plain(v)
#define sycl_convert_sat(type, v) sycl_conversion_<type>::saturated(v)
#define sycl_as(type, v)          sycl_bits_<type>(v)
