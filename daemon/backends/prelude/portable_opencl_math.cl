/* The portable prelude, OpenCL C side: mathematics beside portable_math.inc. The builtins take vectors, too. */
#line 3 "prelude_math"

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
#define sycl_double_bits_(x)   as_ulong(x)
