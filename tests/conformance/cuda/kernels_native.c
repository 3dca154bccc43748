/* Kernels in PTX: their ids and arguments, and calls that must not reach the driver. */
#include "cuda/kernels_run.h"
#include "status.h"

#include <stdio.h>

TestSuite(cuda_kernels, .timeout = 120);

/* out[linear id] = x, y, z of the thread in its block, and of the block: 16 bits each of x, 8 of y
 * and z. */
static const char ids_source[] = PTX_HEAD
	".visible .entry ids(.param .u64 out)\n{\n"
	"\t.reg .b32 %r<20>;\n\t.reg .b64 %p<3>;\n"
	"\tmov.u32 %r1, %ctaid.z; mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
	"\tmov.u32 %r5, %nctaid.y; mov.u32 %r6, %ntid.y; mul.lo.u32 %r5, %r5, %r6;\n"
	"\tmov.u32 %r7, %ctaid.y; mov.u32 %r8, %tid.y; mad.lo.u32 %r9, %r7, %r6, %r8;\n"
	"\tmad.lo.u32 %r4, %r4, %r5, %r9;\n"
	"\tmov.u32 %r5, %nctaid.x; mov.u32 %r6, %ntid.x; mul.lo.u32 %r5, %r5, %r6;\n"
	"\tmov.u32 %r10, %ctaid.x; mov.u32 %r11, %tid.x; mad.lo.u32 %r9, %r10, %r6, %r11;\n"
	"\tmad.lo.u32 %r4, %r4, %r5, %r9;\n"
	"\tshl.b32 %r3, %r3, 24; shl.b32 %r8, %r8, 16; or.b32 %r3, %r3, %r8; or.b32 %r3, %r3, %r11;\n"
	"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1;\n"
	"\tmul.wide.u32 %p2, %r4, 4; add.u64 %p1, %p1, %p2;\n"
	"\tst.global.u32 [%p1], %r3;\n\tret;\n}\n";

/* Neighbours in SYCL's last dimension are neighbouring threads: dimension 2 is x, 0 is z. */
Test(cuda_kernels, E1_dimensions_are_reversed)
{
	const uint64_t global[] = {4, 6, 64}, local[] = {2, 3, 32};
	uint32_t got[4 * 6 * 64];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, ids_source, "", "ids");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 3, global, &argument, 1);
	memcpy(command.launch.local, local, sizeof(local));
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < 4 * 6 * 64; i++) {
		uint32_t s0 = i / (6 * 64), s1 = i / 64 % 6, s2 = i % 64;
		cr_assert_eq(got[i], (s0 % 2) << 24 | (s1 % 3) << 16 | s2 % 32, "item %u: %x", i,
			     got[i]);
	}
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* A basic range runs in groups that divide it, so that exactly its work-items run. */
Test(cuda_kernels, E10_a_basic_range_of_a_native_kernel_has_no_other_items)
{
	static const uint64_t sizes[][3] = {
		{1, 1, 1}, {1, 1, 1009}, {1, 7, 129}, {3, 35, 64}, {1, 1, 5000}};
	enum { GUARD = 4096 };
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, ids_source, "", "ids");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		size_t items = sizes[s][0] * sizes[s][1] * sizes[s][2], words = items + GUARD;
		uint32_t *got = malloc(4 * words);
		memset(got, 0xff, 4 * words);
		struct backend_memory *memory = run_memory(&run, got, 4 * words);
		const struct backend_argument argument = global_argument(memory);
		const struct backend_command command =
			launch_command(run.kernel, 3, sizes[s], &argument, 1);
		run_command(&run, &command);
		fixture_read(&run.fixture, memory, 0, got, 4 * words);
		for (size_t i = 0; i < words; i++)
			cr_assert(i < items ? got[i] != UINT32_MAX : got[i] == UINT32_MAX,
				  "range %zu: word %zu", s, i);
		run.fixture.ops->memory_free(memory);
		free(got);
	}
	run_close(&run);
}

/*
 * Plain pointers, all through generic addresses (E15). Every thread writes its number into two
 * pieces of local memory, and reads its neighbours' from there. `fixed` bytes of static shared
 * memory are filled before, and must be unchanged after. So the pieces overlap neither that memory
 * nor each other.
 */
static char *local_source(unsigned fixed)
{
	char *text = NULL;
	int length = asprintf(
		&text,
		PTX_HEAD
		".shared .align 4 .b8 fixed[%u];\n"
		".visible .entry exchange(.param .u64 .ptr .align 4 out, .param .u64 a, .param "
		".u64 .ptr .align 4 b)\n{\n"
		"\t.reg .b32 %%r<16>;\n\t.reg .b64 %%p<16>;\n\t.reg .pred %%q;\n"
		"\tmov.u32 %%r1, %%tid.x; mul.wide.u32 %%p1, %%r1, 4; xor.b64 %%p2, %%p1, 4;\n"
		"\tld.param.u64 %%p3, [a]; ld.param.u64 %%p4, [b]; ld.param.u64 %%p5, [out];\n"
		"\tmov.u32 %%r2, 0;\n"
		"\tsetp.ne.u32 %%q, %%r1, 0;\n"
		"\t@%%q bra filled;\n"
		"fill:\n"
		"\tsetp.ge.u32 %%q, %%r2, %u;\n"
		"\t@%%q bra filled;\n"
		"\tmov.u64 %%p6, fixed; cvt.u64.u32 %%p7, %%r2; add.u64 %%p6, %%p6, %%p7;\n"
		"\tst.shared.u32 [%%p6], %%r2;\n"
		"\tadd.u32 %%r2, %%r2, 4;\n"
		"\tbra fill;\n"
		"filled:\n"
		"\tbar.sync 0;\n"
		"\tadd.u32 %%r3, %%r1, 1000; add.u32 %%r4, %%r1, 2000;\n"
		"\tadd.u64 %%p6, %%p3, %%p1; st.u32 [%%p6], %%r3;\n"
		"\tadd.u64 %%p6, %%p4, %%p1; st.u32 [%%p6], %%r4;\n"
		"\tbar.sync 0;\n"
		"\tadd.u64 %%p6, %%p3, %%p2; ld.u32 %%r5, [%%p6];\n"
		"\tadd.u64 %%p6, %%p4, %%p2; ld.u32 %%r6, [%%p6];\n"
		"\tadd.u32 %%r5, %%r5, %%r6;\n"
		"\tmov.u32 %%r2, 0;\n"
		"check:\n"
		"\tsetp.ge.u32 %%q, %%r2, %u;\n"
		"\t@%%q bra checked;\n"
		"\tmov.u64 %%p6, fixed; cvt.u64.u32 %%p7, %%r2; add.u64 %%p6, %%p6, %%p7;\n"
		"\tld.shared.u32 %%r7, [%%p6];\n"
		"\tsetp.eq.u32 %%q, %%r7, %%r2;\n"
		"\t@!%%q mov.u32 %%r5, 7;\n"
		"\tadd.u32 %%r2, %%r2, 4;\n"
		"\tbra check;\n"
		"checked:\n"
		"\tadd.u64 %%p6, %%p5, %%p1; st.u32 [%%p6], %%r5;\n"
		"\tret;\n}\n",
		fixed ? fixed : 4, fixed / 4 * 4, fixed / 4 * 4);
	cr_assert_gt(length, 0);
	return text;
}

static void exchange(unsigned fixed, uint64_t a_bytes, uint64_t b_bytes)
{
	enum { THREADS = 64 };
	char *source = local_source(fixed);
	uint32_t got[THREADS];
	const uint64_t global = THREADS;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "exchange");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = a_bytes},
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = b_bytes},
	};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	command.launch.local[0] = THREADS;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < THREADS; i++)
		cr_assert_eq(got[i], 3000 + 2 * (i ^ 1), "%u bytes of its own, item %u: %u", fixed,
			     i, got[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
	free(source);
}

Test(cuda_kernels, E15_local_memory_comes_as_a_plain_pointer)
{
	static const unsigned fixed[] = {0, 4, 100, 128, 1000, 4096, 40000};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		exchange(fixed[i], 256, 300);
}

/* More than the 48 KiB that a kernel has by default. */
Test(cuda_kernels, E15_local_memory_may_be_all_that_the_device_has)
{
	exchange(0, 100 << 10, 256);
	exchange(1000, 256, 120 << 10);
}

/*
 * A parameter with .ptr .shared gets an address of shared memory, one with .ptr .global no local
 * memory. The words of the first one never reach the driver, which would not load them.
 */
Test(cuda_kernels, E15_pointers_with_a_space_are_told_apart)
{
	static const char source[] = PTX_HEAD
		".shared .align 4 .b8 fixed[100];\n"
		".visible .entry spaces(.param .u64 .ptr .global .align 4 out, .param "
		".u64 .ptr .shared .align 4 a, .param .u32 .ptr\n\t.shared .align 4 b)\n{\n"
		"\t.reg .b32 %r<4>;\n\t.reg .b64 %p<6>;\n"
		"\tmov.u32 %r1, %tid.x; mul.wide.u32 %p1, %r1, 4; xor.b64 %p2, %p1, 4;\n"
		"\tld.param.u64 %p3, [out]; ld.param.u64 %p4, [a];\n"
		"\tadd.u64 %p5, %p4, %p1; st.shared.u32 [%p5], %r1;\n"
		"\tbar.sync 0;\n"
		"\tadd.u64 %p5, %p4, %p2; ld.shared.u32 %r2, [%p5];\n"
		/* The second one, as an address of 32 bits, and a variable of the kernel. */
		"\tld.param.u32 %r3, [b]; cvt.u64.u32 %p4, %r3; add.u64 %p5, %p4, %p1;\n"
		"\tst.shared.u32 [%p5], %r2; mov.u64 %p4, fixed; st.shared.u32 [%p4], %r1;\n"
		"\tbar.sync 0;\n"
		"\tld.shared.u32 %r2, [%p5];\n"
		"\tadd.u64 %p5, %p3, %p1; st.global.u32 [%p5], %r2;\n"
		"\tret;\n}\n";
	enum { THREADS = 32 };
	struct backend_kernel_facts facts;
	uint32_t got[THREADS];
	const uint64_t global = THREADS;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "spaces");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert(facts.native);
	cr_assert_eq(facts.argument_count, 3);
	cr_assert_eq(facts.arguments[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert_eq(facts.arguments[1].kind, BACKEND_ARGUMENT_LOCAL);
	cr_assert_eq(facts.arguments[2].kind, BACKEND_ARGUMENT_LOCAL);
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4 * THREADS},
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4 * THREADS}};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	command.launch.local[0] = THREADS;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < THREADS; i++)
		cr_assert_eq(got[i], i ^ 1);
	arguments[0] = arguments[1];
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	arguments[0] = arguments[1] = global_argument(memory);
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* Returns a kernel with a value of `bytes`, which it copies word by word, and a pointer before
 * it. */
static char *value_source(unsigned bytes)
{
	char *text = NULL;
	int length = asprintf(
		&text,
		PTX_HEAD ".visible .entry copy(.param .u64 out, .param .align 1 .b8 value[%u])\n{\n"
			 "\t.reg .b32 %%r<4>;\n\t.reg .b64 %%p<4>;\n"
			 "\tld.param.u64 %%p1, [out]; cvta.to.global.u64 %%p1, %%p1;\n"
			 "\tld.param.u8 %%r1, [value]; st.global.u8 [%%p1], %%r1;\n"
			 "\tld.param.u8 %%r1, [value+%u]; st.global.u8 [%%p1+1], %%r1;\n"
			 "\tld.param.u8 %%r1, [value+%u]; st.global.u8 [%%p1+2], %%r1;\n"
			 "\tret;\n}\n",
		bytes, bytes / 2, bytes - 1);
	cr_assert_gt(length, 0);
	return text;
}

static void pass_value(unsigned bytes)
{
	char *source = value_source(bytes);
	unsigned char *value = malloc(bytes), got[4];
	const uint64_t global = 1;
	struct run run;

	for (unsigned i = 0; i < bytes; i++)
		value[i] = (unsigned char)(i * 7 + 13);
	run_open(&run, BACKEND_SOURCE_PTX, source, "", "copy");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	struct backend_argument arguments[] = {global_argument(memory),
					       value_argument(value, bytes)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_assert_eq(got[0], value[0]);
	cr_assert_eq(got[1], value[bytes / 2]);
	cr_assert_eq(got[2], value[bytes - 1], "%u bytes", bytes);
	/* One argument more or less never reaches the driver, which would read it. */
	arguments[1].value.size_bytes = bytes + 1;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	arguments[1].value.size_bytes = bytes - 1;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
	free(value);
	free(source);
}

Test(cuda_kernels, E14_values_up_to_the_devices_limit)
{
	static const unsigned sizes[] = {1, 2, 3, 4, 8, 15, 16, 4096 - 8, 4096, 32764 - 8};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		pass_value(sizes[i]);
}

Test(cuda_kernels, E14_more_than_the_devices_limit_is_refused)
{
	char *source = value_source(32764 - 8 + 1);
	struct fixture fixture = {.wake_fd = -1};
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	void *binary = run_build(&fixture, BACKEND_SOURCE_PTX, source, strlen(source), "", &bytes);
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	struct backend_kernel *kernel = NULL;
	/* The driver's compiler may refuse it; otherwise its description of the parameters shows
	 * it. */
	int error = fixture.ops->program_load(fixture.device, binary, bytes, &program, &fault);
	if (error == 0)
		error = fixture.ops->kernel_create(program, "copy", &kernel, &fault);
	cr_assert_lt(error, 0);
	cr_assert(fault.status == STATUS_BUILD || fault.status == STATUS_KERNEL_NOT_SUPPORTED, "%d",
		  fault.status);
	fixture.ops->program_free(program);
	free(binary);
	free(source);
	fixture_close(&fixture);
}

Test(cuda_kernels, E14_too_few_and_too_many_arguments_are_refused)
{
	const uint64_t global = 1;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, ids_source, "", "ids");
	struct backend_memory *memory = run_memory(&run, NULL, 64);
	const struct backend_argument arguments[] = {global_argument(memory),
						     global_argument(memory)};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	command.launch.argument_count = 0;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_KERNEL_ARGUMENT);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* E17: a sub-group is a warp of 32, and the facts report that. */
Test(cuda_kernels, E17_a_sub_group_has_32_work_items)
{
	static const char source[] = PTX_HEAD
		".visible .entry warps(.param .u64 out)\n{\n"
		"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<4>;\n"
		"\tmov.u32 %r1, %tid.x; mov.u32 %r2, WARP_SZ; mov.u32 %r3, %laneid; shl.b32 %r3, %r3, 8;\n"
		"\tor.b32 %r2, %r2, %r3;\n"
		"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1; mul.wide.u32 %p2, %r1, 4; add.u64 "
		"%p1, %p1, %p2;\n"
		"\tst.global.u32 [%p1], %r2;\n\tret;\n}\n";
	enum { THREADS = 96 };
	struct backend_kernel_facts facts;
	uint32_t got[THREADS];
	const uint64_t global = THREADS;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "warps");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.sub_group_size, 32);
	cr_assert_eq(facts.preferred_multiple, 32);
	cr_assert_eq(run.fixture.facts->sub_group_size_count, 1);
	cr_assert_eq(run.fixture.facts->sub_group_sizes[0], 32);
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	command.launch.local[0] = THREADS;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < THREADS; i++)
		cr_assert_eq(got[i], 32 | (i % 32) << 8);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/*
 * F11: two kernels wait for each other. If one's code was loaded at its first launch, and loading
 * waited for the other one, neither would ever end.
 */
Test(cuda_kernels, F11_two_kernels_that_await_each_other_at_first_launch)
{
	static const char source[] = PTX_HEAD
		".visible .entry first(.param .u64 words)\n{\n"
		"\t.reg .b32 %r<4>;\n\t.reg .b64 %p<2>;\n\t.reg .pred %q;\n"
		"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1;\n"
		"\tatom.global.add.u32 %r1, [%p1], 1;\n"
		"wait:\n\tld.volatile.global.u32 %r2, [%p1+4]; setp.eq.u32 %q, %r2, 0; @%q bra wait;\n\tret;\n}\n"
		".visible .entry second(.param .u64 words)\n{\n"
		"\t.reg .b32 %r<4>;\n\t.reg .b64 %p<2>;\n\t.reg .pred %q;\n"
		"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1;\n"
		"\tatom.global.add.u32 %r1, [%p1+4], 1;\n"
		"wait:\n\tld.volatile.global.u32 %r2, [%p1]; setp.eq.u32 %q, %r2, 0; @%q bra wait;\n\tret;\n}\n";
	const uint64_t global = 1;
	uint32_t words[2];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "first");
	struct backend_kernel *second = run_kernel(&run, "second");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(words));
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command a = launch_command(run.kernel, 1, &global, &argument, 1),
				     b = launch_command(second, 1, &global, &argument, 1);
	uint64_t on_first = fixture_submit(&run.fixture, 0, &a);
	run.fixture.ops->flush(run.fixture.device);
	uint64_t on_second = fixture_submit(&run.fixture, 1, &b);
	fixture_wait(&run.fixture, 1, on_second);
	fixture_wait(&run.fixture, 0, on_first);
	fixture_read(&run.fixture, memory, 0, words, sizeof(words));
	cr_assert_eq(words[0], 1);
	cr_assert_eq(words[1], 1);
	run.fixture.ops->memory_free(memory);
	run.fixture.ops->kernel_free(second);
	run_close(&run);
}

Test(cuda_kernels, E4_E8_E13_what_a_native_kernel_does_not_take_is_refused)
{
	const uint64_t global[] = {64, 1, 1}, planes[] = {70000, 1, 1};
	struct backend_kernel_facts facts;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, ids_source, "", "ids");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_gt(facts.max_work_group_size, 0);
	struct backend_memory *memory = run_memory(&run, NULL, 256);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 1, global, &argument, 1);
	command.launch.offset[0] = 1;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_FEATURE_NOT_SUPPORTED);
	command.launch.offset[0] = 0;
	command.launch.local[0] = 3;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	command.launch.global[0] = command.launch.local[0] = 2 * facts.max_work_group_size;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	/* The kernel computes its ids itself, so its grid cannot be folded. */
	command = launch_command(run.kernel, 3, planes, &argument, 1);
	command.launch.local[0] = command.launch.local[1] = command.launch.local[2] = 1;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(cuda_kernels, a_required_size_in_ptx_is_kept)
{
	static const char source[] =
		PTX_HEAD ".visible .entry shaped(.param .u64 out)\n.reqntid 16, 2, 1\n{\n"
			 "\t.reg .b32 %r<4>;\n\t.reg .b64 %p<2>;\n"
			 "\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1;\n"
			 "\tmov.u32 %r1, %ntid.x; st.global.u32 [%p1], %r1;\n"
			 "\tmov.u32 %r1, %ntid.y; st.global.u32 [%p1+4], %r1;\n\tret;\n}\n";
	const uint64_t global[] = {4, 32};
	uint32_t got[2];
	struct backend_kernel_facts facts;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "shaped");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.required_work_group_size[0], 1);
	cr_assert_eq(facts.required_work_group_size[1], 2);
	cr_assert_eq(facts.required_work_group_size[2], 16);
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 2, global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_assert_eq(got[0], 16);
	cr_assert_eq(got[1], 2);
	command.launch.local[0] = 1;
	command.launch.local[1] = 32;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}
