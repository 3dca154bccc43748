/* Types of the portable form: vectors, conversions, half precision, and features that a device may
 * lack. */
#include "cuda/kernels_run.h"

#include "status.h"

#include <stdio.h>

TestSuite(portable_vectors, .timeout = 120);

/* One work-item fills `count` longs. */
static void check_longs(const char *source, const int64_t *expected, int count)
{
	const uint64_t global = 1;
	int64_t got[64];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "fill");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	command.launch.local[0] = 1;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (int i = 0; i < count; i++)
		cr_assert_eq(got[i], expected[i], "%d: %lld, not %lld", i, (long long)got[i],
			     (long long)expected[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}
#define CHECK(source, ...)                                                                         \
	do {                                                                                       \
		const int64_t expected_[] = {__VA_ARGS__};                                         \
		check_longs(source, expected_, (int)(sizeof(expected_) / sizeof(*expected_)));     \
	} while (0)

Test(portable_vectors, elements_operators_and_layout)
{
	static const char source[] =
		"SYCL_KERNEL void fill(SYCL_GLOBAL(long) o) {\n"
		"  float4 v = sycl_float4(1.0f, 2.0f, 3.0f, 4.0f); int3 t = sycl_int3(5, 6, 7); uchar2 c = "
		"sycl_uchar2(250, 3);\n"
		"  int8 e = sycl_int8(0, 1, 2, 3, 4, 5, 6, 7);\n"
		"  short16 w = sycl_short16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);\n"
		"  o[0] = sizeof(float2); o[1] = sizeof(int3); o[2] = sizeof(uchar4); o[3] = sizeof(long8); o[4] = "
		"sizeof(short16);\n"
		"  v = (v + 1.0f) * 2.0f - sycl_float4(0.0f, 1.0f, 2.0f, 3.0f); v /= 2.0f;\n"
		"  o[5] = (long)(v.x * 10); o[6] = (long)(v.w * 10);\n"
		"  t = (t << 2) ^ 1; o[7] = t.x; o[8] = (~t).y; o[9] = (-t).z;\n"
		"  c = c + (uchar)10; o[10] = c.x; o[11] = c.y;\n"
		"  e.s7 += e.s3; o[12] = e.s7; o[13] = w.sa + w.sf + w.s9; w.sb = 100; o[14] = w.sb;\n"
		"  int4 m = v > 3.0f; o[15] = m.x; o[16] = m.w; o[17] = sycl_any(m) * 10 + sycl_all(m);\n"
		"  float4 s = sycl_select(v, -v, m); o[18] = (long)(s.x * 10); o[19] = (long)(s.w * 10);\n"
		"  o[20] = sycl_select(3, 4, t.x > 0); o[21] = sycl_get(e, 5); sycl_set(e, 5, 50); o[22] = e.s5;\n"
		"  int4 r = (sycl_int4(7, 8, 9, 10) % 4) | (sycl_int4(8, 8, 8, 8) >> 1); o[23] = r.x * 1000 + r.w;\n"
		"  double2 d = 0.5; d = d + 1; o[24] = (long)(d.y * 10); o[25] = (e == e).s0;\n"
		"}\n";

	CHECK(source, 8, 16, 4, 64, 32, 20, 35, 21, ~(int64_t)25, -29, 4, 13, 10, 34, 100, 0, -1,
	      10, 20, -35, 4, 5, 50, 7006, 15, -1);
}

Test(portable_vectors, memory_functions_and_conversions)
{
	static const char source[] =
		"SYCL_KERNEL void fill(SYCL_GLOBAL(long) o) {\n"
		"  SYCL_LOCAL_ARRAY(int, tile, 13);\n"
		"  SYCL_LOCAL(int) p = tile;\n"
		"  for (int i = 0; i < 13; i++) p[i] = i * i;\n"
		"  int4 a = sycl_load4(p, 2); o[0] = a.x; o[1] = a.w; int3 b = sycl_load3(p + 1, 1); o[2] = b.x;\n"
		"  sycl_store2(p, 3, sycl_int2(-1, -2)); o[3] = tile[6]; o[4] = tile[7]; o[5] = tile[8];\n"
		"  long4 l = sycl_load4(o, 0); o[6] = l.x + l.y;\n"
		"  float4 v = sycl_float4(-1.5f, 2.5f, 300.75f, 3e10f);\n"
		"  int2 q = sycl_convert(int2, sycl_float2(-1.9f, 2.9f)); o[7] = q.x; o[8] = q.y;\n"
		"  uchar4 u = sycl_convert_sat(uchar4, v); o[9] = u.x; o[10] = u.y; o[11] = u.z; o[12] = u.w;\n"
		"  int4 i = sycl_convert_sat(int4, v); o[13] = i.w; o[14] = sycl_convert_sat(short, -70000);\n"
		"  o[15] = sycl_convert_sat(uint, -5l); o[16] = sycl_convert_sat(char, 200u);\n"
		"  o[17] = (long)sycl_convert(float, 3); o[18] = sycl_as(int, 1.0f);\n"
		"  uint2 bits = sycl_as(uint2, sycl_float2(1.0f, -0.0f)); o[19] = bits.y;\n"
		"  o[20] = (long)sycl_dot(sycl_float4(1, 2, 3, 4), sycl_float4(5, 6, 7, 8));\n"
		"  o[21] = (long)sycl_length(sycl_float2(3.0f, 4.0f));\n"
		"  float3 x = sycl_cross(sycl_float3(1, 0, 0), sycl_float3(0, 1, 0)); o[22] = (long)x.z;\n"
		"  o[23] = (long)(sycl_normalize(sycl_float2(0.0f, 9.0f)).y * 10);\n"
		"  o[24] = (long)sycl_sqrt(sycl_float2(16.0f, 25.0f)).y;\n"
		"  o[25] = sycl_max(sycl_int2(1, 9), sycl_int2(4, 4)).x; o[26] = sycl_min(sycl_int2(1, 9), "
		"sycl_int2(4, "
		"4)).y;\n"
		"  o[27] = (long)(sycl_half_to_float(sycl_float_to_half(2.75f)) * 100); o[28] = "
		"sycl_float_to_half(1.0f);\n"
		"  o[29] = (long)sycl_fma(sycl_float2(2, 3), sycl_float2(4, 5), sycl_float2(6, 7)).y;\n"
		"}\n";

	CHECK(source, 64, 121, 16, -1, -2, 64, 185, -1, 2, 0, 2, 255, 255, 2147483647, -32768, 0,
	      127, 3, 0x3f800000, 0x80000000, 70, 5, 1, 10, 5, 4, 4, 275, 0x3c00, 22);
}

/* Pointers to vectors, vectors as values, local memory of both kinds in one kernel. */
Test(portable_vectors, E14_E21_vectors_as_arguments)
{
	static const char source[] =
		"SYCL_KERNEL void put(SYCL_GLOBAL(float4) o, SYCL_GLOBAL(const int3) in, float4 add, uchar16 bytes, "
		"SYCL_LOCAL(int4) l) {\n"
		"  SYCL_LOCAL_ARRAY(int, own, 4);\n"
		"  SYCL_LOCAL(int) p = own;\n"
		"  SYCL_LOCAL(int4) q = l;\n"
		"  uint k = (uint)sycl_local_id(0);\n"
		"  p[k] = in[k].z; q[k] = sycl_int4(1, 2, 3, (int)k);\n"
		"  sycl_group_barrier();\n"
		"  o[k] = add + sycl_float4((float)own[3 - k], (float)l[3 - k].w, (float)sycl_get(bytes, k), "
		"(float)l[k].z);\n"
		"}\n";
	const int32_t in[16] = {0, 0, 10, 0, 0, 0, 11, 0, 0, 0, 12, 0, 0, 0, 13, 0};
	const float add[4] = {0.5f, 1.5f, 2.5f, 3.5f};
	uint8_t bytes[16];
	const uint64_t four = 4;
	float got[16];
	struct run run;

	for (int i = 0; i < 16; i++)
		bytes[i] = (uint8_t)(200 + i);
	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "put");
	struct backend_memory *to = run_memory(&run, NULL, sizeof(got)),
			      *from = run_memory(&run, in, sizeof(in));
	const struct backend_argument arguments[] = {
		global_argument(to),
		global_argument(from),
		value_argument(add, 16),
		value_argument(bytes, 16),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 64}};
	struct backend_command command = launch_command(run.kernel, 1, &four, arguments, 5);
	command.launch.local[0] = 4;
	run_command(&run, &command);
	fixture_read(&run.fixture, to, 0, got, sizeof(got));
	for (int k = 0; k < 4; k++) {
		const float expected[4] = {0.5f + (float)(13 - k), 1.5f + (float)(3 - k),
					   202.5f + (float)k, 6.5f};
		for (int i = 0; i < 4; i++)
			cr_assert_eq(got[4 * k + i], expected[i], "%d %d: %g", k, i,
				     (double)got[4 * k + i]);
	}
	run.fixture.ops->memory_free(to);
	run.fixture.ops->memory_free(from);
	run_close(&run);
}

static bool vectors_has_aspect(const struct run *run, unsigned aspect)
{
	return run->fixture.facts->aspects >> aspect & 1;
}

enum { ASPECT_FP16 = 6, ASPECT_FP64 = 7 }; /* enum sycl_aspect */

/* A missing feature of the device is reported as such, whether the source states that it needs the
 * feature or just uses it. */
Test(portable_vectors, E19_half_precision_or_a_refusal)
{
	static const char uses[] =
		"SYCL_KERNEL void fill(SYCL_GLOBAL(long) o) {\n"
		"  half h = 1.5f; half4 v = sycl_half4(h, h * h, h + 1, -h); v = v * v; v.x += h;\n"
		"  o[0] = (long)((float)v.x * 100); o[1] = (long)((float)v.y * 100); o[2] = (long)((float)v.z * 100);\n"
		"  o[3] = (long)((float)v.w * 100); o[4] = h < 2.0f; o[5] = (long)((float)sycl_fma(h, h, h) * 100);\n"
		"  o[6] = (long)((float)sycl_sqrt((half)16) * 100); o[7] = sizeof(half);\n"
		"  o[8] = (long)((float)(h / 4) * 1000);\n"
		"}\n";
	static const char declares[] = "SYCL_REQUIRES_FP16;\n"
				       "#if SYCL_HAS_FP16\n"
				       "SYCL_KERNEL void fill(SYCL_GLOBAL(half) o) { o[0] = 1; }\n"
				       "#endif\n";
	struct run run = {.fixture = {.wake_fd = -1}};

	fixture_open(&run.fixture, 0);
	bool has = vectors_has_aspect(&run, ASPECT_FP16);
	if (!has) {
		free(run_build_fails(&run.fixture, BACKEND_SOURCE_PORTABLE, uses, strlen(uses), "",
				     STATUS_KERNEL_NOT_SUPPORTED));
		free(run_build_fails(&run.fixture, BACKEND_SOURCE_PORTABLE, declares,
				     strlen(declares), "", STATUS_KERNEL_NOT_SUPPORTED));
	}
	fixture_close(&run.fixture);
	if (has) {
		CHECK(uses, 375, 506, 625, 225, 1, 375, 400, 2, 375);
		run_open(&run, BACKEND_SOURCE_PORTABLE, declares, "", "fill");
		run_close(&run);
	}
}

/* An ordinary mistake is reported as one, and a feature that exists is no reason to refuse. */
Test(portable_vectors, E19_requirements_that_are_met_change_nothing)
{
	static const char wrong[] =
		"SYCL_REQUIRES_ATOMIC64;\nSYCL_KERNEL void fill(SYCL_GLOBAL(long) o) { o[0] = x; }\n";
	static const char right[] =
		"SYCL_REQUIRES_FP64;\nSYCL_REQUIRES_FP64;\nSYCL_REQUIRES_ATOMIC64;\n"
		"SYCL_KERNEL void fill(SYCL_GLOBAL(long) o) { double d = 2.5; o[0] = (long)(d * 2); }\n";
	struct run run = {.fixture = {.wake_fd = -1}};

	fixture_open(&run.fixture, 0);
	cr_assert(vectors_has_aspect(&run, ASPECT_FP64));
	free(run_build_fails(&run.fixture, BACKEND_SOURCE_PORTABLE, wrong, strlen(wrong), "",
			     STATUS_BUILD));
	fixture_close(&run.fixture);
	CHECK(right, 5);
}
