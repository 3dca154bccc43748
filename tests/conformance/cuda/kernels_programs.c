/* Programs: which are accepted, which are refused and why, and which are loaded only once. */
#include "cuda/kernels_run.h"
#include "status.h"

TestSuite(cuda_programs, .timeout = 120);

static const char good_ptx[] = PTX_HEAD ".visible .entry one(.param .u64 out)\n{\n"
					"\t.reg .b32 %r<2>;\n\t.reg .b64 %p<2>;\n"
					"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1;\n"
					"\tmov.u32 %r1, 1; st.global.u32 [%p1], %r1;\n\tret;\n}\n";

Test(cuda_programs, ptx_may_end_with_a_zero)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	char *names = NULL;
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	void *binary =
		run_build(&fixture, BACKEND_SOURCE_PTX, good_ptx, sizeof(good_ptx), "", &bytes);
	cr_assert_eq(fixture.ops->program_load(fixture.device, binary, bytes, &program, &fault), 0,
		     "%s", fault.text);
	cr_assert_eq(fixture.ops->program_kernels(program, &names, &fault), 0);
	cr_assert_str_eq(names, "one");
	cr_assert_eq(names[4], '\0');
	free(names);
	fixture.ops->program_free(program);
	free(binary);
	fixture_close(&fixture);
}

/* The driver's compiler reports the place, and its messages reach the client. */
Test(cuda_programs, M6_ptx_that_does_not_assemble_fails_with_the_line)
{
	static const char source[] = PTX_HEAD
		".visible .entry one(.param .u64 out)\n{\n\tno.such.instruction %r1;\n\tret;\n}\n";
	struct fixture fixture = {.wake_fd = -1};
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	void *binary = run_build(&fixture, BACKEND_SOURCE_PTX, source, strlen(source), "", &bytes);
	struct backend_fault fault = run_load_fails(&fixture, binary, bytes);
	cr_assert_eq(fault.status, STATUS_BUILD, "%s", fault.text);
	cr_assert_not_null(strstr(fault.text, "6"), "the line of the mistake is not in: %s",
			   fault.text);
	cr_assert_neq(fault.native_code, 0);
	cr_assert_not(fault.device_lost);
	free(binary);
	fixture_close(&fixture);
}

Test(cuda_programs, sources_of_other_languages_are_refused)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	free(run_build_fails(&fixture, BACKEND_SOURCE_BUILTIN, "x", 1, "",
			     STATUS_FEATURE_NOT_SUPPORTED));
	free(run_build_fails(&fixture, BACKEND_SOURCE_PTX, "", 0, "", STATUS_BUILD));
	fixture_close(&fixture);
}

Test(cuda_programs, what_is_neither_cubin_nor_fatbin_is_refused)
{
	static const unsigned char wrapper[64] = {0xb1, 0x43, 0x62, 0x46};
	static const unsigned char cut_off[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 255, 255};
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUBIN, good_ptx, strlen(good_ptx), "",
			     STATUS_BUILD));
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUBIN, wrapper, sizeof(wrapper), "",
			     STATUS_BUILD));
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUBIN, cut_off, sizeof(cut_off), "",
			     STATUS_BUILD));
	fixture_close(&fixture);
}

/* Binaries as a damaged cache on disk may return them, and every part of one. */
Test(cuda_programs, damaged_binaries_are_refused)
{
	struct fixture fixture = {.wake_fd = -1};
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	unsigned char *binary =
		run_build(&fixture, BACKEND_SOURCE_PTX, good_ptx, strlen(good_ptx), "", &bytes);
	for (size_t i = 0; i < bytes; i += 7) {
		unsigned char *part = malloc(i ? i : 1);
		memcpy(part, binary, i);
		cr_assert_eq(run_load_fails(&fixture, part, i).status, STATUS_BUILD);
		free(part);
	}
	binary[0] ^= 1;
	cr_assert_eq(run_load_fails(&fixture, binary, bytes).status, STATUS_BUILD);
	free(binary);
	fixture_close(&fixture);
}

Test(cuda_programs, kernels_that_launch_kernels_are_refused)
{
	static const char source[] = PTX_HEAD
		".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
		".visible .entry one()\n{\n\tret;\n}\n";
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	free(run_build_fails(&fixture, BACKEND_SOURCE_PTX, source, strlen(source), "",
			     STATUS_FEATURE_NOT_SUPPORTED));
	fixture_close(&fixture);
}

/* Each program in PTX has its own variables: the other program does not read what one wrote into
 * its variable. */
Test(cuda_programs, native_programs_have_variables_of_their_own)
{
	static const char source[] =
		PTX_HEAD ".global .align 4 .u32 counter = 5;\n"
			 ".visible .entry count(.param .u64 out)\n{\n"
			 "\t.reg .b32 %r<4>;\n\t.reg .b64 %p<4>;\n"
			 "\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1;\n"
			 "\tmov.u64 %p2, counter; ld.global.u32 %r1, [%p2]; add.u32 %r1, %r1, 1;\n"
			 "\tst.global.u32 [%p2], %r1; st.global.u32 [%p1], %r1;\n\tret;\n}\n";
	static const uint32_t expected[] = {6, 7, 6};
	const uint64_t global = 1;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, source, "", "count");
	struct backend_program *other = fixture_build(&run.fixture, BACKEND_SOURCE_PTX, source, "");
	struct backend_fault fault = {0};
	struct backend_kernel *kernels[3] = {run.kernel, run.kernel, NULL};
	cr_assert_eq(run.fixture.ops->kernel_create(other, "count", &kernels[2], &fault), 0, "%s",
		     fault.text);
	struct backend_memory *memory = run_memory(&run, NULL, 4);
	const struct backend_argument argument = global_argument(memory);
	for (int i = 0; i < 3; i++) {
		uint32_t got = 0;
		const struct backend_command command =
			launch_command(kernels[i], 1, &global, &argument, 1);
		run_command(&run, &command);
		fixture_read(&run.fixture, memory, 0, &got, 4);
		cr_assert_eq(got, expected[i], "launch %d: %u", i, got);
	}
	run.fixture.ops->memory_free(memory);
	run.fixture.ops->kernel_free(kernels[2]);
	run.fixture.ops->program_free(other);
	run_close(&run);
}

Test(cuda_programs, an_unknown_kernel_is_named)
{
	struct backend_fault fault = {0};
	struct backend_kernel *kernel = NULL;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PTX, good_ptx, "", "one");
	cr_assert_eq(run.fixture.ops->kernel_create(run.program, "two", &kernel, &fault), -2);
	cr_assert_eq(fault.status, STATUS_KERNEL);
	cr_assert_not_null(strstr(fault.text, "two"));
	run_close(&run);
}
