/* What kernels compute: OpenCL C's ids, functions and atomics, and a module of SPIR-V. On every
 * device that has what a test needs: PoCL, the double of NVIDIA's driver, a GPU. */
#include "driver.h"
#include "module.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(language, .init = with_driver, .fini = without_driver, .timeout = 120);

enum { ITEMS = 256 };

static cl_kernel kernel_with(const char *source, const char *options, const char *name)
{
	char log[4096] = "";
	cl_int code = 0;
	cl_program program = clCreateProgramWithSource(cl_context_made, 1, &source, NULL, &code);
	CL(code);
	code = clBuildProgram(program, 0, NULL, options, NULL, NULL);
	if (code != CL_SUCCESS)
		(void)clGetProgramBuildInfo(program, cl_device, CL_PROGRAM_BUILD_LOG, sizeof(log),
					    log, NULL);
	cr_assert(eq(int, code, CL_SUCCESS), "%s", log);
	cl_kernel kernel = clCreateKernel(program, name, &code);
	CL(code);
	CL(clReleaseProgram(program));
	return kernel;
}

static cl_mem memory_of(size_t bytes, const void *contents)
{
	cl_int code = 0;
	cl_mem buffer = clCreateBuffer(cl_context_made, contents ? CL_MEM_COPY_HOST_PTR : 0, bytes,
				       (void *)(uintptr_t)contents, &code);
	CL(code);
	return buffer;
}

/* Runs a kernel of one buffer, and reads that. */
static void run_once(cl_kernel kernel, size_t items, size_t group, size_t bytes, void *contents)
{
	cl_mem buffer = memory_of(bytes, contents);
	CL(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	CL(clEnqueueNDRangeKernel(cl_queue, kernel, 1, NULL, &items, group ? &group : NULL, 0, NULL,
				  NULL));
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, bytes, contents, 0, NULL, NULL));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseKernel(kernel));
}

static bool device_has(const char *extension)
{
	static char text[16384];
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_EXTENSIONS, sizeof(text), text, NULL));
	return strstr(text, extension) != NULL;
}

Test(language, ids_and_sizes_of_three_dimensions_with_an_offset)
{
	static const char source[] =
		"kernel void ids(global ulong *o) {\n"
		"  size_t i = ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) +\n"
		"    get_global_id(1) - get_global_offset(1)) * get_global_size(0) +\n"
		"    get_global_id(0) - get_global_offset(0);\n"
		"  ulong all = get_work_dim();\n"
		"  for (uint d = 0; d < 3; d++)\n"
		"    all = all * 31 + get_global_id(d) + 7 * get_group_id(d) + 11 * get_local_id(d) +\n"
		"      13 * get_local_size(d) + 17 * get_num_groups(d) + 19 * get_global_size(d);\n"
		"  o[i] = all;\n"
		"}\n";
	const size_t global[3] = {8, 6, 4}, local[3] = {4, 3, 2}, offset[3] = {100, 3, 70000};
	cl_ulong seen[8 * 6 * 4];
	cl_kernel kernel = kernel_with(source, "", "ids");
	cl_mem buffer = memory_of(sizeof(seen), NULL);
	CL(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	CL(clEnqueueNDRangeKernel(cl_queue, kernel, 3, offset, global, local, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
	for (size_t i = 0; i < 8 * 6 * 4; i++) {
		const size_t at[3] = {i % 8, i / 8 % 6, i / 48};
		cl_ulong all = 3;
		for (int d = 0; d < 3; d++)
			all = all * 31 + at[d] + offset[d] + 7 * (at[d] / local[d]) +
			      11 * (at[d] % local[d]) + 13 * local[d] +
			      17 * (global[d] / local[d]) + 19 * global[d];
		cr_assert(eq(u64, seen[i], all), "item %zu", i);
	}
	CL(clReleaseMemObject(buffer));
	CL(clReleaseKernel(kernel));
}

/* Half a millionth is far more than any of these functions may be off. */
Test(language, functions_are_near_those_of_the_host)
{
	static const char source[] =
		"kernel void all(global float *x) {\n"
		"  size_t i = get_global_id(0); float v = x[i];\n"
		"  x[i] = sin(v) + cos(v) * exp(-v) + log(v) + sqrt(v) + pow(v, 1.5f) + tanh(v) +\n"
		"    atan2(v, 3.0f) + fma(v, v, 2.0f) + erf(v) + cbrt(v) + hypot(v, 1.0f) + exp2(v) + log2(v);\n"
		"}\n";
	float x[ITEMS];
	for (int i = 0; i < ITEMS; i++)
		x[i] = 0.05f + (float)i * 0.02f;
	run_once(kernel_with(source, "", "all"), ITEMS, 0, sizeof(x), x);
	for (int i = 0; i < ITEMS; i++) {
		const double v = 0.05f + (float)i * 0.02f;
		const double wanted = sin(v) + cos(v) * exp(-v) + log(v) + sqrt(v) + pow(v, 1.5) +
				      tanh(v) + atan2(v, 3) + fma(v, v, 2) + erf(v) + cbrt(v) +
				      hypot(v, 1) + exp2(v) + log2(v);
		cr_assert(fabs((double)x[i] - wanted) <= 2e-6 * fabs(wanted), "%g: %g, not %g", v,
			  (double)x[i], wanted);
	}
}

Test(language, native_functions_are_near_too)
{
	static const char source[] =
		"kernel void all(global float4 *x) {\n"
		"  size_t i = get_global_id(0); float4 v = x[i];\n"
		"  x[i] = native_sin(v) + native_cos(v) + native_exp(v) + native_log(v) + native_sqrt(v) +\n"
		"    native_rsqrt(v) + native_recip(v) + native_divide(v, v + 1.0f) + native_powr(v, v) +\n"
		"    native_exp2(v) + native_log2(v) + native_exp10(v) + native_log10(v) + native_tan(v);\n"
		"}\n";
	float x[ITEMS];
	for (int i = 0; i < ITEMS; i++)
		x[i] = 0.1f + (float)i * 0.004f;
	run_once(kernel_with(source, "", "all"), ITEMS / 4, 0, sizeof(x), x);
	for (int i = 0; i < ITEMS; i++) {
		const double v = 0.1f + (float)i * 0.004f;
		const double wanted = sin(v) + cos(v) + exp(v) + log(v) + sqrt(v) + 1 / sqrt(v) +
				      1 / v + v / (v + 1) + pow(v, v) + exp2(v) + log2(v) +
				      pow(10, v) + log10(v) + tan(v);
		cr_assert(fabs((double)x[i] - wanted) <= 2e-4 * fabs(wanted) + 1e-4,
			  "%g: %g, not %g", v, (double)x[i], wanted);
	}
}

Test(language, integers_vectors_and_conversions_are_exact)
{
	static const char source[] =
		"kernel void all(global uint *x) {\n"
		"  size_t i = get_global_id(0); uint v = x[i];\n"
		"  uint4 q = (uint4)(v, v + 1, v * 3, v >> 2); char4 c = convert_char4_sat(as_int4(q * 5u));\n"
		"  short8 s = (short8)((short)v) * (short8)(1, 2, 3, 4, 5, 6, 7, 8);\n"
		"  x[i] = popcount(v) + 37 * clz(v) + 101 * rotate(v, 7u) + mul_hi(v, 0x9e3779b9u) +\n"
		"    as_uint(c) + (uint)s.s7 + add_sat(v, 0xffffff00u) + hadd(v, 77u) + mad24((int)(v & 255), 3, 4) +\n"
		"    convert_uint_rte((float)v * 0.5f) + bitselect(v, 0x55aau, 0xff0fu) + abs_diff(v, 500u) + q.zy.x;\n"
		"}\n";
	cl_uint x[ITEMS], wanted[ITEMS];
	for (cl_uint i = 0; i < ITEMS; i++) {
		const cl_uint v = x[i] = i * 3;
		const cl_int lanes[4] = {(cl_int)(v * 5), (cl_int)(v * 5 + 5), (cl_int)(v * 15),
					 (cl_int)((v >> 2) * 5)};
		cl_uint bytes = 0;
		for (int k = 0; k < 4; k++)
			bytes |= (cl_uint)(lanes[k] > 127 ? 127 : lanes[k]) << (8 * k);
		const cl_uint sum = v + 0xffffff00u;
		wanted[i] = (cl_uint)__builtin_popcount(v) +
			    37 * (v ? (cl_uint)__builtin_clz(v) : 32u) + 101 * (v << 7 | v >> 25) +
			    (cl_uint)((cl_ulong)v * 0x9e3779b9u >> 32) + bytes +
			    (cl_uint)(cl_short)(v * 8) + (sum < v ? 0xffffffffu : sum) +
			    ((v + 77u) >> 1) + (v & 255) * 3 + 4 + (cl_uint)rint(v * 0.5) +
			    ((v & ~0xff0fu) | (0x55aau & 0xff0fu)) +
			    (v > 500u ? v - 500u : 500u - v) + v * 3;
	}
	run_once(kernel_with(source, "", "all"), ITEMS, 0, sizeof(x), x);
	for (int i = 0; i < ITEMS; i++)
		cr_assert(eq(u32, x[i], wanted[i]), "item %d", i);
}

Test(language, doubles_and_halves_are_computed)
{
	static const char doubles[] =
		"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
		"kernel void all(global double *x) { size_t i = get_global_id(0); double v = x[i];\n"
		"  x[i] = sin(v) + exp(v) + log(v) + sqrt(v) + pow(v, 0.7) + fma(v, v, 1.0); }\n";
	static const char halves[] =
		"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
		"kernel void all(global half *x) { size_t i = get_global_id(0);\n"
		"  half2 v = (half2)(x[i], x[i] + (half)1.0f); x[i] = v.x * v.y + (half)0.5f; }\n";
	double x[ITEMS];
	cl_half h[ITEMS];
	if (!device_has("cl_khr_fp64"))
		cr_skip_test("the device has no doubles");
	for (int i = 0; i < ITEMS; i++) {
		x[i] = 0.25 + i * 0.01;
		h[i] = 0x4000; /* 2 */
	}
	run_once(kernel_with(doubles, "", "all"), ITEMS, 0, sizeof(x), x);
	for (int i = 0; i < ITEMS; i++) {
		const double v = 0.25 + i * 0.01;
		const double wanted =
			sin(v) + exp(v) + log(v) + sqrt(v) + pow(v, 0.7) + fma(v, v, 1.0);
		cr_assert(fabs(x[i] - wanted) <= 1e-14 * fabs(wanted), "%g: %.17g, not %.17g", v,
			  x[i], wanted);
	}
	if (!device_has("cl_khr_fp16"))
		return;
	run_once(kernel_with(halves, "", "all"), ITEMS, 0, sizeof(h), h);
	for (int i = 0; i < ITEMS; i++)
		cr_assert(eq(u32, h[i], 0x4680u), "6.5"); /* 2 * 3 + 0.5 */
}

/* Each work-item adds to counters of both memories; one of them is a lock of words. */
Test(language, atomics_of_both_memories_lose_nothing)
{
	static const char source[] =
		"kernel void count(global int *x) {\n"
		"  local int mine; if (get_local_id(0) == 0) mine = 0; barrier(CLK_LOCAL_MEM_FENCE);\n"
		"  atomic_add(&mine, 3); atomic_inc(&x[0]); atomic_max(&x[1], (int)get_global_id(0));\n"
		"  atomic_or((volatile global uint *)&x[2], 1u << (get_global_id(0) & 31));\n"
		"  int old = x[3], seen; while ((seen = atomic_cmpxchg(&x[3], old, old + 2)) != old) old = seen;\n"
		"  barrier(CLK_LOCAL_MEM_FENCE); if (get_local_id(0) == 0) atomic_add(&x[4], mine);\n"
		"}\n";
	cl_int x[5] = {0};
	run_once(kernel_with(source, "", "count"), ITEMS, 64, sizeof(x), x);
	const cl_int wanted[5] = {ITEMS, ITEMS - 1, -1, 2 * ITEMS, 3 * ITEMS};
	for (int i = 0; i < 5; i++)
		cr_expect(eq(int, x[i], wanted[i]), "word %d", i);
}

/* OpenCL 2.0's: orders and scopes, a message from one work-group to another one, and floats. */
Test(language, atomics_have_orders_and_scopes)
{
	static const char source[] =
		"kernel void pass(global atomic_int *x) {\n"
		"  atomic_fetch_add_explicit(&x[0], 1, memory_order_acq_rel, memory_scope_device);\n"
		"  atomic_fetch_max(&x[1], (int)get_global_id(0));\n"
		"  int old = atomic_load_explicit(&x[2], memory_order_relaxed, memory_scope_device);\n"
		"  while (!atomic_compare_exchange_weak_explicit(&x[2], &old, old + 5, memory_order_seq_cst,\n"
		"           memory_order_relaxed, memory_scope_device)) { }\n"
		"  volatile global atomic_float *f = (volatile global atomic_float *)&x[3];\n"
		"  if (get_global_id(0) == 0) { atomic_store(f, 1.5f); atomic_exchange(&x[4], 9); }\n"
		"  local atomic_int sum; if (get_local_id(0) == 0) atomic_init(&sum, 0);\n"
		"  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
		"  atomic_fetch_add_explicit(&sum, 2, memory_order_relaxed, memory_scope_work_group);\n"
		"  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
		"  if (get_local_id(0) == 0) atomic_fetch_add(&x[5], atomic_load(&sum));\n"
		"}\n";
	cl_int x[6] = {0};
	const float stored = 1.5f;
	cl_int word = 0;
	if (!driver_is_cuda())
		cr_skip_test("not every version of PoCL has OpenCL C 2.0");
	memcpy(&word, &stored, sizeof(word));
	run_once(kernel_with(source, "-cl-std=CL2.0", "pass"), ITEMS, 64, sizeof(x), x);
	const cl_int wanted[6] = {ITEMS, ITEMS - 1, 5 * ITEMS, word, 9, 2 * ITEMS};
	for (int i = 0; i < 6; i++)
		cr_expect(eq(int, x[i], wanted[i]), "word %d", i);
}

/* Groups of 80 work-items: the last sub-group has 16. */
Test(language, sub_groups_are_32_wide)
{
	static const char source[] =
		"#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
		"kernel void groups(global uint *x) {\n"
		"  size_t i = get_global_id(0); uint lane = get_sub_group_local_id();\n"
		"  uint all = sub_group_reduce_add(1u) * 1000000 + sub_group_scan_exclusive_add(lane) * 1000 +\n"
		"    sub_group_reduce_max(lane) + sub_group_broadcast(lane, 3);\n"
		"  if (get_num_sub_groups() != 3 || get_max_sub_group_size() != 32 ||\n"
		"      get_sub_group_size() != (get_sub_group_id() == 2 ? 16 : 32) ||\n"
		"      !sub_group_all(lane < 32) || sub_group_any(lane > 31)) all = 1;\n"
		"  x[i] = all;\n"
		"}\n";
	cl_uint x[160] = {0};
	if (!driver_is_cuda())
		cr_skip_test("no device of NVIDIA's");
	run_once(kernel_with(source, "-cl-std=CL3.0", "groups"), 160, 80, sizeof(x), x);
	for (cl_uint i = 0; i < 160; i++) {
		const cl_uint lane = i % 80 % 32, size = i % 80 / 32 == 2 ? 16 : 32;
		const cl_uint wanted = size * 1000000 + lane * (lane - 1) / 2 * 1000 + size - 1 + 3;
		cr_assert(eq(u32, x[i], lane ? wanted : size * 1000000 + size + 2), "item %u", i);
	}
}

Test(language, a_module_of_spirv_is_built_and_runs)
{
	const size_t global = ITEMS, local = 32, offset = 64;
	const cl_uint constant = 10, n = 5;
	cl_uint x[ITEMS + 64], seen[ITEMS + 64];
	cl_int code = 0;
	if (!device_has("cl_khr_il_program"))
		cr_skip_test("the device takes no SPIR-V");
	cl_program program =
		clCreateProgramWithIL(cl_context_made, turn_module, sizeof(turn_module), &code);
	CL(code);
	CL(clBuildProgram(program, 0, NULL, "", NULL, NULL));
	cl_kernel turn = clCreateKernel(program, "turn", &code);
	CL(code);
	for (cl_uint i = 0; i < ITEMS + 64; i++)
		x[i] = i * i;
	cl_mem words = memory_of(sizeof(x), x), fixed = memory_of(sizeof(constant), &constant);
	CL(clSetKernelArg(turn, 0, sizeof(words), &words));
	CL(clSetKernelArg(turn, 1, local * sizeof(cl_uint), NULL));
	CL(clSetKernelArg(turn, 2, sizeof(fixed), &fixed));
	CL(clSetKernelArg(turn, 3, sizeof(n), &n));
	CL(clEnqueueNDRangeKernel(cl_queue, turn, 1, &offset, &global, &local, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, words, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
	for (cl_uint i = 0; i < ITEMS + 64; i++) {
		const cl_uint other = i / 32 * 32 + 31 - i % 32;
		const cl_uint wanted = i < 64 ? x[i] : x[other] * 2 + constant + n + 64;
		cr_assert(eq(u32, seen[i], wanted), "item %u", i);
	}
	CL(clReleaseMemObject(words));
	CL(clReleaseMemObject(fixed));
	CL(clReleaseKernel(turn));
	CL(clReleaseProgram(program));
}
