/* The double's interpreter: the results of PTX instructions. The expected values come from the
 * language's manual, not from the double. */
#include "fake_cuda/double.h"

#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(cuda_double_ptx, .timeout = 30);

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

struct operation {
	char text[80]; /* %a %b %c stand for inputs and %d for the output; of 32 bits, %A .. of 64,
			  %fa, %ga */
	uint64_t a, b, c; /* bits */
	uint64_t expected;
};

static uint64_t F(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t D(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* All inputs and outputs are in memory. The text determines in which register the result is. */
static void make_text(const struct operation *operation, char *text, size_t bytes)
{
	const char *result = strstr(operation->text, "%gd")   ? "st.f64 [%out], %gd;"
			     : strstr(operation->text, "%fd") ? "st.f32 [%out], %fd;"
			     : strstr(operation->text, "%D")  ? "st.u64 [%out], %D;"
							      : "st.u32 [%out], %d;";

	(void)snprintf(
		text, bytes,
		HEAD
		".visible .entry one(.param .u64 memory)\n{\n"
		".reg .b64 %%out, %%A, %%B, %%C, %%D; .reg .b32 %%a, %%b, %%c, %%d; .reg .b16 %%hd;\n"
		".reg .f32 %%fa, %%fb, %%fc, %%fd; .reg .f64 %%ga, %%gb, %%gd; .reg .pred %%p, %%q, %%ptrue;\n"
		"ld.param.u64 %%out, [memory]; setp.eq.u64 %%ptrue, 0, 0; mov.u32 %%d, 0xdead;\n"
		"ld.u64 %%A, [%%out+8]; ld.u64 %%B, [%%out+16]; ld.u64 %%C, [%%out+24];\n"
		"ld.u32 %%a, [%%out+8]; ld.u32 %%b, [%%out+16]; ld.u32 %%c, [%%out+24];\n"
		"ld.f32 %%fa, [%%out+8]; ld.f32 %%fb, [%%out+16]; ld.f32 %%fc, [%%out+24];\n"
		"ld.f64 %%ga, [%%out+8]; ld.f64 %%gb, [%%out+16];\n%s\n%s\nret;\n}\n",
		operation->text, result);
}

static const struct operation of_integers[] = {
	{"add.s32 %d, %a, %b;", 7, UINT32_MAX, 0, 6},
	{"add.sat.s32 %d, %a, %b;", INT32_MAX, 5, 0, INT32_MAX},
	{"sub.u32 %d, %a, %b;", 3, 5, 0, UINT32_MAX - 1},
	{"add.u64 %D, %A, %B;", UINT64_MAX, 2, 0, 1},
	{"mul.lo.s32 %d, %a, %b;", (uint32_t)-3, 7, 0, (uint32_t)-21},
	{"mul.hi.u32 %d, %a, %b;", UINT32_MAX, UINT32_MAX, 0, UINT32_MAX - 1},
	{"mul.hi.s32 %d, %a, %b;", (uint32_t)-1, 5, 0, UINT32_MAX},
	{"mul.hi.u64 %D, %A, %B;", UINT64_MAX, 16, 0, 15},
	{"mul.hi.s64 %D, %A, %B;", UINT64_MAX, 16, 0, UINT64_MAX},
	{"mul.wide.u32 %D, %a, %b;", UINT32_MAX, 2, 0, UINT64_C(0x1fffffffe)},
	{"mul.wide.s32 %D, %a, %b;", (uint32_t)-2, 3, 0, (uint64_t)-6},
	{"mad.lo.u32 %d, %a, %b, %c;", 5, 6, 7, 37},
	{"mad.wide.s32 %D, %a, %b, %C;", (uint32_t)-2, 3, 10, 4},
	{"div.s32 %d, %a, %b;", (uint32_t)-7, 2, 0, (uint32_t)-3},
	{"div.u32 %d, %a, %b;", (uint32_t)-7, 2, 0, 2147483644},
	{"rem.s32 %d, %a, %b;", (uint32_t)-7, 2, 0, UINT32_MAX},
	{"rem.u64 %D, %A, %B;", 100, 7, 0, 2},
	{"abs.s32 %d, %a;", (uint32_t)-9, 0, 0, 9},
	{"neg.s64 %D, %A;", 9, 0, 0, (uint64_t)-9},
	{"min.s32 %d, %a, %b;", (uint32_t)-1, 1, 0, UINT32_MAX},
	{"min.u32 %d, %a, %b;", (uint32_t)-1, 1, 0, 1},
	{"max.s64 %D, %A, %B;", (uint64_t)-1, 1, 0, 1},
	{"and.b32 %d, %a, %b;", 12, 10, 0, 8},
	{"or.b64 %D, %A, %B;", 12, 3, 0, 15},
	{"xor.b32 %d, %a, %b;", 12, 10, 0, 6},
	{"not.b32 %d, %a;", 0, 0, 0, UINT32_MAX},
	{"shl.b32 %d, %a, %b;", 1, 31, 0, UINT32_C(1) << 31},
	{"shl.b32 %d, %a, %b;", 1, 32, 0, 0},
	{"shr.s32 %d, %a, %b;", (uint32_t)-8, 1, 0, (uint32_t)-4},
	{"shr.s32 %d, %a, %b;", (uint32_t)-8, 99, 0, UINT32_MAX},
	{"shr.u64 %D, %A, %b;", UINT64_MAX, 63, 0, 1},
	{"shf.l.wrap.b32 %d, %a, %b, %c;", 0x80000000, 1, 1, 3},
	{"shf.r.clamp.b32 %d, %a, %b, %c;", 5, 7, 32, 7},
	{"bfe.u32 %d, %a, %b, %c;", 0xabcd, 4, 8, 0xbc},
	{"bfe.s32 %d, %a, %b, %c;", 0xf0, 4, 4, UINT32_MAX},
	{"bfi.b32 %d, %a, %b, 8, 4;", 0xf, 0, 0, 0xf00},
	{"brev.b32 %d, %a;", 1, 0, 0, 0x80000000},
	{"popc.b64 %d, %A;", UINT64_MAX, 0, 0, 64},
	{"clz.b32 %d, %a;", 1, 0, 0, 31},
	{"clz.b64 %d, %A;", 0, 0, 0, 64},
	{"bfind.u32 %d, %a;", 0x100, 0, 0, 8},
	{"prmt.b32 %d, %a, %b, 0x7531;", 0x44332211, 0x88776655, 0, 0x88664422},
	{"lop3.b32 %d, %a, %b, %c, 0x96;", 5, 3, 9, 5 ^ 3 ^ 9},
	{"selp.b32 %d, %a, %b, %ptrue;", 1, 2, 0, 1},
	{"cvt.s64.s32 %D, %a;", (uint32_t)-5, 0, 0, (uint64_t)-5},
	{"cvt.u64.u32 %D, %a;", (uint32_t)-5, 0, 0, (uint32_t)-5},
	{"cvt.s32.s8 %d, %a;", 0x1ff, 0, 0, UINT32_MAX},
	{"cvt.u32.u8 %d, %a;", 0x1ff, 0, 0, 255},
	{"mov.b64 %D, {%a, %b};", 1, 2, 0, UINT64_C(0x200000001)},
	{"mov.b64 {%d, _}, %A;", UINT64_C(0x200000001), 0, 0, 1},
	{"add.cc.u32 %d, %a, %b; addc.u32 %d, 0, 0;", UINT32_MAX, 1, 0, 1},
	{"sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0;", 0, 1, 5, 4},
	{"setp.lt.s32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", (uint32_t)-1, 1, 0, 1},
	{"setp.lt.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p;", (uint32_t)-1, 1, 0, 0},
	{"setp.eq.and.u32 %p, %a, %b, !%ptrue; selp.u32 %d, 1, 0, %p;", 1, 1, 0, 0},
	{"setp.ne.u32 %p|%q, %a, %b; selp.u32 %d, 1, 0, %q;", 1, 1, 0, 1},
	{"@!%ptrue add.u32 %d, %a, %b;", 1, 1, 0, UINT64_C(0xdead)},
	{"mov.u32 %d, -1;", 0, 0, 0, UINT32_MAX},
};

ParameterizedTestParameters(cuda_double_ptx, one_instruction)
{
	const struct operation of_floats[] = {
		{"cvt.rzi.s32.f32 %d, %fa;", F(-2.75f), 0, 0, (uint32_t)-2},
		{"cvt.rmi.s32.f32 %d, %fa;", F(-2.25f), 0, 0, (uint32_t)-3},
		{"cvt.rni.s32.f32 %d, %fa;", F(2.5f), 0, 0, 2},
		{"cvt.rzi.u32.f32 %d, %fa;", F(-1.0f), 0, 0, 0},
		{"cvt.rzi.s32.f32 %d, %fa;", F(3e10f), 0, 0, INT32_MAX},
		{"cvt.rn.f32.s32 %fd, %a;", (uint32_t)-7, 0, 0, F(-7.0f)},
		{"cvt.rn.f32.u64 %fd, %A;", UINT64_MAX, 0, 0, F(18446744073709551616.0f)},
		{"cvt.rn.f32.f64 %fd, %ga;", D(0.1), 0, 0, F(0.1f)},
		{"cvt.f64.f32 %gd, %fa;", F(0.5f), 0, 0, D(0.5)},
		{"cvt.rn.f64.s64 %gd, %A;", (uint64_t)-3, 0, 0, D(-3.0)},
		{"add.f32 %fd, %fa, %fb;", F(0.1f), F(0.2f), 0, F(0.1f + 0.2f)},
		{"mul.rn.f64 %gd, %ga, %gb;", D(3.0), D(0.1), 0, D(3.0 * 0.1)},
		{"fma.rn.f32 %fd, %fa, %fb, %fc;", F(1.5f), F(2.0f), F(-3.0f), F(0.0f)},
		{"div.rn.f32 %fd, %fa, %fb;", F(1.0f), F(3.0f), 0, F(1.0f / 3.0f)},
		{"add.rz.f32 %fd, %fa, %fb;", F(1.0f), F(1e-9f), 0, F(1.0f)},
		{"add.rp.f32 %fd, %fa, %fb;", F(1.0f), F(1e-9f), 0, F(1.0f) + 1},
		{"sqrt.rn.f64 %gd, %ga;", D(2.0), 0, 0, D(1.4142135623730951)},
		{"abs.f32 %fd, %fa;", F(-2.0f), 0, 0, F(2.0f)},
		{"neg.f64 %gd, %ga;", D(2.0), 0, 0, D(-2.0)},
		{"min.f32 %fd, %fa, %fb;", F(-2.0f), F(3.0f), 0, F(-2.0f)},
		{"max.f32 %fd, %fa, %fb;", 0x7fc00000, F(3.0f), 0, F(3.0f)},
		{"copysign.f32 %fd, %fa, %fb;", F(-1.0f), F(3.0f), 0, F(-3.0f)},
		{"ex2.approx.f32 %fd, %fa;", F(10.0f), 0, 0, F(1024.0f)},
		{"setp.equ.f32 %p, %fa, %fb; selp.u32 %d, 1, 0, %p;", 0x7fc00000, F(1.0f), 0, 1},
		{"setp.eq.f32 %p, %fa, %fb; selp.u32 %d, 1, 0, %p;", 0x7fc00000, F(1.0f), 0, 0},
		{"mov.f32 %fd, 0f3F800000;", 0, 0, 0, F(1.0f)},
		{"cvt.rn.f16.f32 %hd, %fa; cvt.f32.f16 %fd, %hd;", F(1.0009766f), 0, 0,
		 F(1.0009766f)},
		{"cvt.rn.f16.f32 %hd, %fa; cvt.f32.f16 %fd, %hd;", F(1e6f), 0, 0, F(INFINITY)},
	};
	const size_t count =
		sizeof(of_integers) / sizeof(*of_integers) + sizeof(of_floats) / sizeof(*of_floats);
	struct operation *copy = cr_malloc(sizeof(of_integers) + sizeof(of_floats));

	memcpy(copy, of_integers, sizeof(of_integers));
	memcpy((char *)copy + sizeof(of_integers), of_floats, sizeof(of_floats));
	return cr_make_param_array(struct operation, copy, count);
}

ParameterizedTest(struct operation *operation, cuda_double_ptx, one_instruction)
{
	struct driver driver;
	char text[2048];
	const uint64_t in[] = {0, operation->a, operation->b, operation->c};
	uint64_t out = 0;

	driver_open(&driver);
	make_text(operation, text, sizeof(text));
	CUfunction one = driver_function(&driver, driver_load(&driver, text), "one");
	CUdeviceptr memory = driver_memory(&driver, sizeof(in));
	OK(driver.cu.cuMemcpyHtoDAsync(memory, in, sizeof(in), driver.stream));
	void *parameters[] = {&memory};
	OK(driver_run(&driver, one, 1, 0, parameters));
	driver_read(&driver, memory, &out, sizeof(out));
	cr_assert_eq(out, operation->expected, "%s gives 0x%llx, not 0x%llx", operation->text,
		     (unsigned long long)out, (unsigned long long)operation->expected);
	cr_assert_eq(driver_count(&driver, "misuse"), 0);
}

/* All threads write a word of shared memory and read their neighbour's word behind a barrier. The
 * first half ends early. */
static const char barrier_text[] = HEAD
	".extern .shared .align 16 .b8 dynamic[];\n"
	".visible .entry turn(.param .u64 out)\n{\n"
	".reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .pred %p<3>;\n"
	".shared .align 4 .b8 plain[4];\n"
	"mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;\n"
	"mov.u32 %r3, dynamic; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; st.shared.u32 [%r5], %r1;\n"
	"st.shared.u32 [plain], %r2;\n"
	"setp.lt.u32 %p1, %r1, 16; @%p1 bra $done;\n"
	"bar.sync 0;\n"
	"add.u32 %r6, %r1, 1; rem.u32 %r6, %r6, %r2; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;\n"
	"ld.shared.u32 %r7, [%r6];\n"
	"ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r7;\n"
	"$done:\nret;\n}\n";

Test(cuda_double_ptx, threads_meet_at_barriers)
{
	struct driver driver;
	uint32_t words[64];

	driver_open(&driver);
	CUfunction turn = driver_function(&driver, driver_load(&driver, barrier_text), "turn");
	CUdeviceptr out = driver_memory(&driver, sizeof(words));
	void *parameters[] = {&out};
	OK(driver_run(&driver, turn, 64, 64 * 4, parameters));
	driver_read(&driver, out, words, sizeof(words));
	for (uint32_t i = 16; i < 64; i++)
		cr_assert_eq(words[i], (i + 1) % 64);
	cr_assert_eq(words[3], 0xf5f5f5f5,
		     "those that ended wrote nothing, and new memory is poisoned");
	/* There is no shared memory beyond the size that the launch requested. */
	cr_assert_eq(driver_run(&driver, turn, 64, 32 * 4, parameters), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static const char warp_text[] = HEAD
	".visible .entry warp(.param .u64 out)\n{\n"
	".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<3>;\n"
	"mov.u32 %r1, %tid.x; mov.u32 %r7, %r1;\n"
	"shfl.sync.down.b32 %r2|%p1, %r1, 3, 0x1f, 0xffffffff; @!%p1 mov.u32 %r2, 1000;\n"
	"shfl.sync.bfly.b32 %r3, %r1, 1, 0x1f, 0xffffffff;\n"
	"and.b32 %r4, %r1, 1; setp.ne.u32 %p2, %r4, 0; vote.sync.ballot.b32 %r4, %p2, 0xffffffff;\n"
	"shfl.sync.idx.b32 %r5, %r1, 7, 0x1f, 0xffffffff;\n"
	"redux.sync.add.u32 %r6, %r1, 0xffffffff;\n"
	"ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 20; add.u64 %rd1, %rd1, %rd2;\n"
	"st.u32 [%rd1], %r2; st.u32 [%rd1+4], %r3; st.u32 [%rd1+8], %r4; st.u32 [%rd1+12], %r5; st.u32 [%rd1+16], %r6;\n"
	"ret;\n}\n";

Test(cuda_double_ptx, E17_a_warp_works_together)
{
	struct driver driver;
	uint32_t words[32][5];

	driver_open(&driver);
	CUfunction warp = driver_function(&driver, driver_load(&driver, warp_text), "warp");
	CUdeviceptr out = driver_memory(&driver, sizeof(words));
	void *parameters[] = {&out};
	OK(driver_run(&driver, warp, 32, 0, parameters));
	driver_read(&driver, out, words, sizeof(words));
	for (uint32_t i = 0; i < 32; i++) {
		cr_assert_eq(words[i][0], i < 29 ? i + 3 : 1000);
		cr_assert_eq(words[i][1], i ^ 1);
		cr_assert_eq(words[i][2], 0xaaaaaaaa);
		cr_assert_eq(words[i][3], 7);
		cr_assert_eq(words[i][4], 496);
	}
}

/* A function that calls itself, with its own frame and local memory. */
static const char call_text[] = HEAD
	".func (.param .b32 result) fib(.param .b32 n)\n{\n"
	".reg .b32 %r<8>; .reg .pred %p1; .reg .b64 %rd<4>; .local .align 8 .b8 depot[16];\n"
	"mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1;\n"
	"ld.param.u32 %r1, [n]; st.u32 [%rd2], %r1; setp.lt.u32 %p1, %r1, 2; mov.u32 %r5, %r1; @%p1 bra $out;\n"
	"sub.u32 %r2, %r1, 1;\n"
	"{ .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;\n"
	"call.uni (retval0), fib, (param0); ld.param.b32 %r3, [retval0+0]; }\n"
	"ld.u32 %r1, [%rd2]; sub.u32 %r2, %r1, 2;\n"
	"{ .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;\n"
	"call.uni (retval0), fib, (param0); ld.param.b32 %r4, [retval0+0]; }\n"
	"add.u32 %r5, %r3, %r4;\n$out: st.param.b32 [result+0], %r5; ret;\n}\n"
	".global .align 4 .u32 table[3] = {10, 20, 30};\n"
	".visible .entry run(.param .u64 out, .param .u32 n)\n{\n"
	".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
	"ld.param.u32 %r1, [n];\n"
	"{ .param .b32 param0; st.param.b32 [param0+0], %r1; .param .b32 retval0;\n"
	"call.uni (retval0), fib, (param0); ld.param.b32 %r2, [retval0+0]; }\n"
	"ld.global.u32 %r3, [table+4]; add.u32 %r2, %r2, %r3;\n"
	"ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r2; ret;\n}\n";

Test(cuda_double_ptx, F12_functions_call_functions_until_the_stack_ends)
{
	struct driver driver;
	uint32_t word = 0, n = 12;

	driver_open(&driver);
	CUfunction run = driver_function(&driver, driver_load(&driver, call_text), "run");
	CUdeviceptr out = driver_memory(&driver, 4);
	void *parameters[] = {&out, &n};
	OK(driver_run(&driver, run, 3, 0, parameters));
	driver_read(&driver, out, &word, 4);
	cr_assert_eq(word, 144 + 20);
	n = 10000;
	cr_assert_eq(driver_run(&driver, run, 1, 0, parameters), CUDA_ERROR_LAUNCH_FAILED);
}

/* Many blocks add to one word. Then each waits until all have added, which no block could do
 * alone. */
static const char grid_text[] = HEAD
	".visible .entry grid(.param .u64 out)\n{\n"
	".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p1;\n"
	"ld.param.u64 %rd1, [out]; atom.global.add.u32 %r1, [%rd1], 1;\n"
	"mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ntid.x; mul.lo.u32 %r2, %r2, %r3;\n"
	"$again: ld.volatile.global.u32 %r4, [%rd1]; setp.lt.u32 %p1, %r4, %r2; @%p1 bra $again;\n"
	"red.global.max.u32 [%rd1+4], %r4; ret;\n}\n";

Test(cuda_double_ptx, blocks_wait_for_each_other)
{
	struct driver driver;
	uint32_t words[2] = {0};

	driver_open(&driver);
	CUfunction grid = driver_function(&driver, driver_load(&driver, grid_text), "grid");
	CUdeviceptr out = driver_memory(&driver, sizeof(words));
	OK(driver.cu.cuMemsetD32Async(out, 0, 2, driver.stream));
	void *parameters[] = {&out};
	OK(driver.cu.cuLaunchKernel(grid, 7, 1, 1, 5, 1, 1, 0, driver.stream, parameters, NULL));
	OK(driver.cu.cuStreamSynchronize(driver.stream));
	driver_read(&driver, out, words, sizeof(words));
	cr_assert_eq(words[0], 35);
	cr_assert_eq(words[1], 35);
}

static CUresult ending(const char *body)
{
	struct driver driver;
	char text[512];
	void *none[] = {NULL};

	driver_open(&driver);
	(void)snprintf(text, sizeof(text),
		       HEAD
		       ".visible .entry end()\n{\n.reg .b64 %%rd1;\n.reg .b32 %%r1;\n%s\nret;\n}\n",
		       body);
	return driver_run(&driver, driver_function(&driver, driver_load(&driver, text), "end"), 1,
			  0, none);
}

Test(cuda_double_ptx, F12_a_trap)
{
	cr_assert_eq(ending("trap;"), CUDA_ERROR_LAUNCH_FAILED);
}

Test(cuda_double_ptx, a_misaligned_address)
{
	cr_assert_eq(ending("mov.u64 %rd1, 0x1001; ld.global.u32 %r1, [%rd1];"),
		     CUDA_ERROR_MISALIGNED_ADDRESS);
}

Test(cuda_double_ptx, an_address_that_nobody_gave)
{
	cr_assert_eq(ending("mov.u64 %rd1, 0x1000; st.global.u32 [%rd1], 1;"),
		     CUDA_ERROR_ILLEGAL_ADDRESS);
}

Test(cuda_double_ptx, an_instruction_that_the_double_lacks_is_loud)
{
	cr_assert_eq(ending("wgmma.fence.sync.aligned;"), CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

static CUresult expect_ptx_refused(const char *text, char *log, size_t bytes)
{
	struct driver driver;
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)bytes};
	CUmodule module = NULL;

	driver_open(&driver);
	CUresult result = driver.cu.cuModuleLoadDataEx(&module, text, 2, options, values);
	cr_assert_null(module);
	return result;
}

Test(cuda_double_ptx, broken_text_gives_a_log_with_its_line)
{
	char log[512] = "";

	cr_assert_eq(expect_ptx_refused(HEAD
					".visible .entry k()\n{\n\tthis is no instruction;\n}\n",
					log, sizeof(log)),
		     CUDA_ERROR_INVALID_PTX);
	cr_assert_not_null(strstr(log, "line 6"), "%s", log);
	cr_assert_eq(expect_ptx_refused(HEAD ".visible .entry k()\n{\n\tret;\n", log, sizeof(log)),
		     CUDA_ERROR_INVALID_PTX);
	cr_assert_eq(expect_ptx_refused("hello", log, sizeof(log)), CUDA_ERROR_INVALID_PTX);
	cr_assert_eq(expect_ptx_refused("", log, sizeof(log)), CUDA_ERROR_INVALID_PTX);
}

Test(cuda_double_ptx, text_for_another_device_is_refused)
{
	char log[512] = "";

	cr_assert_eq(expect_ptx_refused(".version 8.0\n.target sm_100\n.address_size 64\n", log,
					sizeof(log)),
		     CUDA_ERROR_NO_BINARY_FOR_GPU);
	cr_assert_eq(expect_ptx_refused(".version 9.9\n.target sm_80\n.address_size 64\n", log,
					sizeof(log)),
		     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}
