/* The guarantees of the manual page of the portable form besides ids: atomics, mathematics,
 * integers, vectors, constants. */
#include "cuda/kernels_run.h"

#include <math.h>

TestSuite(portable_prelude, .timeout = 120);

Test(portable_prelude, atomics_work_on_global_and_local_memory)
{
	static const char source[] =
		"SYCL_KERNEL void atomics(SYCL_GLOBAL(int) g, SYCL_GLOBAL(uint) u, SYCL_LOCAL(int) l) {\n"
		"  int i = (int)sycl_global_id(0);\n"
		"  if (sycl_local_id(0) == 0) l[0] = 0;\n"
		"  sycl_group_barrier();\n"
		"  sycl_atomic_add(&l[0], 1);\n"
		"  sycl_atomic_add(&g[0], 2); sycl_atomic_sub(&g[1], 3); sycl_atomic_min(&g[2], -i);\n"
		"  sycl_atomic_max(&g[3], i);\n"
		"  sycl_atomic_or(&u[0], 1u << (i % 32)); sycl_atomic_and(&u[1], ~(1u << (i % 32))); "
		"sycl_atomic_xor(&u[2], 1u);\n"
		"  for (uint old = sycl_atomic_load(&u[3]);;) {\n"
		"    uint seen = sycl_atomic_compare_exchange(&u[3], old, old + 5u);\n"
		"    if (seen == old) break;\n"
		"    old = seen;\n"
		"  }\n"
		"  sycl_atomic_store(&g[4], 99); sycl_atomic_exchange(&g[5], 7); sycl_fence();\n"
		"  sycl_group_barrier();\n"
		"  if (sycl_local_id(0) == 0) sycl_atomic_add(&g[6], sycl_atomic_load(&l[0]));\n"
		"}\n";
	enum { COUNT = 256 };
	int32_t g[8] = {0};
	uint32_t u[4] = {0, ~0u, 0, 0};
	const uint64_t global = COUNT;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "atomics");
	struct backend_memory *a = run_memory(&run, g, sizeof(g)),
			      *b = run_memory(&run, u, sizeof(u));
	const struct backend_argument arguments[] = {
		global_argument(a),
		global_argument(b),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4}};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	command.launch.local[0] = 32;
	run_command(&run, &command);
	fixture_read(&run.fixture, a, 0, g, sizeof(g));
	fixture_read(&run.fixture, b, 0, u, sizeof(u));
	const int32_t expected[] = {2 * COUNT, -3 * COUNT, -(COUNT - 1), COUNT - 1, 99, 7, COUNT};
	for (int i = 0; i < 7; i++)
		cr_assert_eq(g[i], expected[i], "%d: %d", i, g[i]);
	cr_assert_eq(u[0], ~0u);
	cr_assert_eq(u[1], 0);
	cr_assert_eq(u[2], 0);
	cr_assert_eq(u[3], 5 * COUNT);
	run.fixture.ops->memory_free(a);
	run.fixture.ops->memory_free(b);
	run_close(&run);
}

/* Every name of the page; `T` is float or double. */
static const char mathematics_source[] =
	"SYCL_KERNEL void math(SYCL_GLOBAL(T) o, T x, T y) {\n"
	"  o[0] = sycl_sqrt(x); o[1] = sycl_rsqrt(x); o[2] = sycl_cbrt(x); o[3] = sycl_fabs(-x); o[4] = sycl_fma(x, y, "
	"(T)1);\n"
	"  o[5] = sycl_fmin(x, y); o[6] = sycl_fmax(x, y); o[7] = sycl_fmod(x, y); o[8] = sycl_floor(x); o[9] = "
	"sycl_ceil(x);\n"
	"  o[10] = sycl_trunc(x); o[11] = sycl_round(x); o[12] = sycl_rint(x); o[13] = sycl_exp(y); o[14] = "
	"sycl_exp2(y);\n"
	"  o[15] = sycl_exp10(y); o[16] = sycl_expm1(y); o[17] = sycl_log(x); o[18] = sycl_log2(x); o[19] = "
	"sycl_log10(x);\n"
	"  o[20] = sycl_log1p(x); o[21] = sycl_pow(x, y); o[22] = sycl_hypot(x, y); o[23] = sycl_sin(x); o[24] = "
	"sycl_cos(x);\n"
	"  o[25] = sycl_tan(y); o[26] = sycl_asin(y); o[27] = sycl_acos(y); o[28] = sycl_atan(x); o[29] = "
	"sycl_atan2(x, y);\n"
	"  o[30] = sycl_sinh(y); o[31] = sycl_cosh(y); o[32] = sycl_tanh(y); o[33] = sycl_erf(y); o[34] = "
	"sycl_copysign(x, -y);\n"
	"  o[35] = sycl_isnan((x - x) / (x - x)) ? 1 : 0; o[36] = sycl_isinf(x) ? 1 : 0;\n"
	"}\n";

static const double *host_mathematics(double x, double y)
{
	static double all[37];
	const double values[37] = {
		sqrt(x),    1 / sqrt(x), cbrt(x),  x,       x * y + 1, y,        x,
		fmod(x, y), 7,           8,        7,       7,         7,        exp(y),
		exp2(y),    pow(10, y),  expm1(y), log(x),  log2(x),   log10(x), log1p(x),
		pow(x, y),  hypot(x, y), sin(x),   cos(x),  tan(y),    asin(y),  acos(y),
		atan(x),    atan2(x, y), sinh(y),  cosh(y), tanh(y),   erf(y),   -x,
		1,          0,
	};

	memcpy(all, values, sizeof(all));
	return all;
}

/* Results of the device's functions, relative to the host's in double. */
static void check_mathematics(bool doubles, double bound)
{
	const double x = 7.25, y = 0.625, *expected = host_mathematics(x, y);
	const float fx = (float)x, fy = (float)y;
	const size_t size = doubles ? 8 : 4;
	const uint64_t global = 1;
	double as_double[37];
	float as_float[37];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, mathematics_source,
		 doubles ? "-DT=double" : "-DT=float", "math");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(as_double));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		value_argument(doubles ? (const void *)&x : &fx, size),
		value_argument(doubles ? (const void *)&y : &fy, size),
	};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, doubles ? (void *)as_double : as_float, 37 * size);
	for (int i = 0; i < 37; i++) {
		double got = doubles ? as_double[i] : (double)as_float[i];
		cr_assert_lt(fabs(got - expected[i]), bound * (1 + fabs(expected[i])),
			     "%d: %g, not %g", i, got, expected[i]);
	}
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(portable_prelude, mathematics_agree_with_the_host)
{
	check_mathematics(false, 1e-5);
}

Test(portable_prelude, mathematics_of_doubles_agree_with_the_host)
{
	check_mathematics(true, 1e-13);
}

Test(portable_prelude, integers_vectors_bits_and_constants)
{
	static const char source[] =
		"SYCL_DEVICE_DATA int table[] = {3, 1, 4, 1, 5};\n"
		"int pick(SYCL_CONSTANT(int) t, uint i) { return t[i]; }\n"
		"SYCL_KERNEL void integers(SYCL_GLOBAL(long) o, int m, uint u, float x) {\n"
		"  o[0] = sycl_min(m, 4); o[1] = sycl_max(u, 4u); o[2] = sycl_abs(m); o[3] = sycl_popcount(255u);\n"
		"  o[4] = sycl_clz(1u); o[5] = sycl_mul_hi(1u << 31, 6u); o[6] = sycl_mul_hi(m, 1 << 30);\n"
		"  o[7] = (long)sycl_mul_hi(1ul << 63, 6ul); o[8] = sycl_clz((ulong)u); o[9] = sycl_clz((uchar)1);\n"
		"  o[10] = sycl_popcount(-1l); o[11] = sycl_min(5ul, sycl_global_id(0)); o[12] = sycl_abs((short)-5);\n"
		"  o[13] = sycl_float_as_int(x); o[14] = sycl_float_as_uint(-x); o[15] = "
		"(long)sycl_int_as_float(0x40490fdb);\n"
		"  float4 v = sycl_float4(1.0f, 2.0f, 3.0f, 4.0f); float2 w = sycl_float2(5.0f, 6.0f);\n"
		"  int4 i = sycl_int4(1, 2, 3, 4); int2 j = sycl_int2(7, 8); uint2 k = sycl_uint2(8u, 9u);\n"
		"  uint4 l = sycl_uint4(1u, 2u, 3u, 4u);\n"
		"  o[16] = (long)(v.x + v.w + w.y) * 1000 + i.z * 100 + j.y + (int)k.y + (int)l.w;\n"
		"  uint8_t a = 255; int8_t b = -128; uint16_t c = 65535; int64_t d = -1; ushort e = 65535; ulong f = "
		"~0ul;\n"
		"  o[17] = a + b + c + d + e; o[18] = (long)(f >> 60); o[19] = pick(table, 4) * 10 + table[2];\n"
		"  o[20] = sizeof(long) * 10 + sizeof(int); o[21] = (long)sycl_min((uchar)200, (uchar)100);\n"
		"  o[22] = (long)sycl_uint_as_float(0x40a00000u);\n"
		"}\n";
	static const int64_t expected[] = {
		-7, 9,  7,  8,   31,         3,          -2, 3,     60,
		7,  64, 0,  5,   0x40e80000, 0xc0e80000, 3,  11321, 255 - 128 + 65535 - 1 + 65535,
		15, 54, 84, 100, 5};
	enum { COUNT = 23 };
	int64_t got[COUNT];
	const int m = -7;
	const uint32_t u = 9;
	const float x = 7.25f;
	const uint64_t global = 1;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "integers");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory), value_argument(&m, 4),
						     value_argument(&u, 4), value_argument(&x, 4)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 4);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (int i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], expected[i], "%d: %lld, not %lld", i, (long long)got[i],
			     (long long)expected[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* A source may request no options of its compiler, or options of OpenCL. */
Test(portable_prelude, options_of_opencl_are_understood)
{
	static const char source[] =
		"#if defined(SYCL_PORTABLE) && defined(SYCL_DEVICE_CUDA) != defined(SYCL_DEVICE_OPENCL)\n"
		"SYCL_KERNEL void put(SYCL_GLOBAL(int) restrict o) { o[0] = VALUE; }\n"
		"#endif\n";
	const uint64_t global = 1;
	int got = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source,
		 "-cl-std=CL1.2 -cl-fast-relaxed-math -D VALUE=12 -w", "put");
	struct backend_memory *memory = run_memory(&run, NULL, 4);
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, &got, 4);
	cr_assert_eq(got, 12);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}
