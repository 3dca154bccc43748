#include "cuda/kernels_run.h"

bool run_is_real(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	return which && strcmp(which, "real") == 0;
}

void run_open_device(struct run *run)
{
	*run = (struct run){.fixture = {.wake_fd = -1}};
	fixture_open(&run->fixture, 0);
}

void run_program(struct run *run, enum backend_source_kind kind, const char *source,
		 const char *options, const char *name)
{
	run->fixture.ops->kernel_free(run->kernel);
	run->fixture.ops->program_free(run->program);
	run->kernel = NULL;
	run->program = fixture_build(&run->fixture, kind, source, options);
	run->kernel = run_kernel(run, name);
}

void run_open(struct run *run, enum backend_source_kind kind, const char *source,
	      const char *options, const char *name)
{
	run_open_device(run);
	run_program(run, kind, source, options, name);
}

struct backend_kernel *run_kernel(struct run *run, const char *name)
{
	struct backend_fault fault = {0};
	struct backend_kernel *kernel = NULL;

	cr_assert_eq(run->fixture.ops->kernel_create(run->program, name, &kernel, &fault), 0,
		     "%s: %s", name, fault.text);
	return kernel;
}

void run_close(struct run *run)
{
	run->fixture.ops->kernel_free(run->kernel);
	run->fixture.ops->program_free(run->program);
	fixture_close(&run->fixture);
}

void run_command(struct run *run, const struct backend_command *command)
{
	fixture_wait(&run->fixture, 0, fixture_submit(&run->fixture, 0, command));
}

struct backend_memory *run_memory(struct run *run, const void *bytes, size_t size_bytes)
{
	struct backend_memory *memory = fixture_memory(&run->fixture, size_bytes, NULL);
	void *zeros = bytes ? NULL : calloc(1, size_bytes);

	fixture_write(&run->fixture, memory, 0, bytes ? bytes : zeros, size_bytes);
	free(zeros);
	return memory;
}

void *run_build(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		size_t source_bytes, const char *options, size_t *bytes_out)
{
	struct backend_fault fault = {0};
	void *binary = NULL;
	char *log = NULL;

	int error = fixture->ops->build(fixture->backend, fixture->index, kind, source,
					source_bytes, options, &binary, bytes_out, &log, &fault);
	cr_assert_eq(error, 0, "%s\n%s", fault.text, log ? log : "");
	free(log);
	return binary;
}

char *run_build_fails(struct fixture *fixture, enum backend_source_kind kind, const void *source,
		      size_t source_bytes, const char *options, int32_t status)
{
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	int error = fixture->ops->build(fixture->backend, fixture->index, kind, source,
					source_bytes, options, &binary, &bytes, &log, &fault);
	cr_assert_lt(error, 0);
	cr_assert_eq(fault.status, status, "%d: %s", fault.status, fault.text);
	cr_assert_neq(fault.text[0], '\0');
	cr_assert_null(binary);
	return log;
}

struct backend_fault run_load_fails(struct fixture *fixture, const void *binary,
				    size_t binary_bytes)
{
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;

	cr_assert_lt(
		fixture->ops->program_load(fixture->device, binary, binary_bytes, &program, &fault),
		0);
	cr_assert_null(program);
	cr_assert_neq(fault.text[0], '\0');
	return fault;
}
