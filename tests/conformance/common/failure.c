/* Requests that must be refused with a reason, and must have no other effect. */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(failure, .timeout = 120);

Test(failure, M6_a_source_that_does_not_compile_gives_a_log)
{
	struct fixture fixture = {.wake_fd = -1};
	static const char source[] = "\n\nthis is no kernel\n";
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t binary_bytes = 0;
	char *log = NULL;

	fixture_open(&fixture, 0);
	int error = fixture.ops->build(fixture.backend, 0, conformance_target.source_kind, source,
				       strlen(source), "", &binary, &binary_bytes, &log, &fault);
	cr_assert_eq(error, -22);
	cr_assert_null(binary);
	cr_assert_eq(fault.status, -7); /* build */
	cr_assert_not_null(log);
	cr_assert_not_null(strstr(log, "3"), "the line of the mistake is not in: %s", log);
	free(log);
	fixture_close(&fixture);
}

Test(failure, what_is_no_binary_is_refused)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	void *binary = NULL;
	size_t binary_bytes = 0;

	fixture_open(&fixture, 0);
	cr_assert_eq(fixture.ops->program_load(fixture.device, "garbage", 7, &program, &fault),
		     -22);
	cr_assert_eq(fixture.ops->program_load(fixture.device, "", 0, &program, &fault), -22);
	cr_assert_neq(fault.text[0], '\0');

	/* Every shorter piece of a valid binary is tried, too. */
	fixture_binary(&fixture, conformance_target.source_kind, conformance_target.source, "",
		       &binary, &binary_bytes);
	for (size_t bytes = 0; bytes < 64 && bytes < binary_bytes; bytes++) {
		int error =
			fixture.ops->program_load(fixture.device, binary, bytes, &program, &fault);
		if (error == 0) { /* text formats may be valid if they are cut at a line's end */
			cr_assert_eq(fixture.ops->kind, BACKEND_KIND_FAKE);
			fixture.ops->program_free(program);
			program = NULL;
		}
	}
	cr_assert_null(program);
	free(binary);
	fixture_close(&fixture);
}

Test(failure, an_unknown_kernel_is_not_found)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	struct backend_kernel *kernel = NULL;

	fixture_open(&fixture, 0);
	fixture.ops->kernel_free(fixture_kernel(&fixture, "fill_u32"));
	cr_assert_eq(fixture.ops->kernel_create(fixture.program, "there_is_none", &kernel, &fault),
		     -2);
	cr_assert_null(kernel);
	cr_assert_neq(fault.status, 0);
	fixture_close(&fixture);
}

Test(failure, E14_wrong_arguments_are_refused_before_they_harm)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = 1;
	const uint32_t value = 1;
	const uint64_t pointer = 0x4141414141414141;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, 64, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "fill_u32");
	const struct backend_argument good[] = {global_argument(memory), value_argument(&value, 4)};
	const struct backend_argument address[] = {value_argument(&pointer, 8),
						   value_argument(&value, 4)};
	const struct backend_argument swapped[] = {good[1], good[0]};
	const struct backend_argument too_large[] = {good[0], value_argument(&pointer, 8)};

	struct backend_command command = launch_command(kernel, 1, &global, good, 1);
	cr_assert_eq(fixture_submit_fails(&fixture, 0, &command).status,
		     -6); /* one argument is not set */
	command = launch_command(kernel, 1, &global, NULL, 0);
	cr_assert_eq(fixture_submit_fails(&fixture, 0, &command).status, -6);
	command = launch_command(kernel, 1, &global, address, 2);
	cr_assert_eq(fixture_submit_fails(&fixture, 0, &command).status, -6);
	command = launch_command(kernel, 1, &global, swapped, 2);
	cr_assert_eq(fixture_submit_fails(&fixture, 0, &command).status, -6);
	command = launch_command(kernel, 1, &global, too_large, 2);
	cr_assert_eq(fixture_submit_fails(&fixture, 0, &command).status, -6);

	/* Nothing of that was sent, and the lane still works. */
	command = launch_command(kernel, 1, &global, good, 2);
	fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	cr_assert_eq(fixture.lanes[0].seen_count, 1);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}
