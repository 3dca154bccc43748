/* Separate compilation: objects of portable sources, and programs that are linked from them. */
#include "cuda/kernels_run.h"

#include "status.h"

TestSuite(portable_link, .timeout = 180);

struct object {
	void *bytes;
	size_t count;
};

static struct object compile(struct fixture *fixture, const char *source, const char *options)
{
	struct backend_fault fault = {0};
	struct object object = {0};
	char *log = NULL;

	int error = fixture->ops->compile(fixture->backend, fixture->index, BACKEND_SOURCE_PORTABLE,
					  source, strlen(source), options, &object.bytes,
					  &object.count, &log, &fault);
	cr_assert_eq(error, 0, "%s\n%s", fault.text, log ? log : "");
	free(log);
	return object;
}

/* Returns 0 and a binary, or the error. */
static int try_link(struct fixture *fixture, uint32_t count, const struct object *objects,
		    struct object *binary_out, struct backend_fault *fault)
{
	const void *bytes[4];
	size_t counts[4];
	char *log = NULL;

	*binary_out = (struct object){0};
	for (uint32_t i = 0; i < count; i++) {
		bytes[i] = objects[i].bytes;
		counts[i] = objects[i].count;
	}
	int error = fixture->ops->link(fixture->backend, fixture->index, count, bytes, counts, "",
				       &binary_out->bytes, &binary_out->count, &log, fault);
	free(log);
	return error;
}

/* A function of another source, in plain C. It queries its place, too. */
static const char helpers[] =
	"SYCL_DEVICE_DATA int table[] = {5, 6, 7};\n"
	"int scaled(int x) { return x * FACTOR + table[sycl_global_id(0) % 3]; }\n";
static const char kernels[] = "int scaled(int x);\n"
			      "SYCL_KERNEL void first(SYCL_GLOBAL(int) o) {\n"
			      "  int i = (int)sycl_global_linear_id(); o[i] = scaled(i); }\n"
			      "SYCL_KERNEL void second(SYCL_GLOBAL(int) o, int a) {\n"
			      "  o[sycl_global_linear_id()] = scaled(a) + 1; }\n";

static void check_kernels(struct run *run, uint32_t dimensions)
{
	enum { COUNT = 12 };
	const uint64_t global[] = {dimensions == 1 ? COUNT : 4, 3};
	int32_t got[COUNT];
	const int a = 9;
	struct backend_memory *memory = run_memory(run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&a, 4)};
	struct backend_kernel *kernels_[] = {run_kernel(run, "first"), run_kernel(run, "second")};

	for (uint32_t k = 0; k < 2; k++) {
		const struct backend_command command =
			launch_command(kernels_[k], dimensions, global, arguments, k + 1);
		run_command(run, &command);
		fixture_read(&run->fixture, memory, 0, got, sizeof(got));
		for (int i = 0; i < COUNT; i++) {
			int row = dimensions == 1 ? i : i / 3;
			int expected = (k == 0 ? i * 10 : 91) + 5 + row % 3;
			cr_assert_eq(got[i], expected, "kernel %u, item %d: %d, not %d", k, i,
				     got[i], expected);
		}
		run->fixture.ops->kernel_free(kernels_[k]);
	}
	run->fixture.ops->memory_free(memory);
}

Test(portable_link, a_function_of_another_object)
{
	struct run run = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	struct object binary;

	fixture_open(&run.fixture, 0);
	cr_assert(run.fixture.facts->features & BACKEND_FEATURE_LINK);
	struct object objects[] = {compile(&run.fixture, kernels, ""),
				   compile(&run.fixture, helpers, "-DFACTOR=10")};
	cr_assert_eq(try_link(&run.fixture, 2, objects, &binary, &fault), 0, "%s", fault.text);
	cr_assert_eq(run.fixture.ops->program_load(run.fixture.device, binary.bytes, binary.count,
						   &run.program, &fault),
		     0, "%s", fault.text);
	check_kernels(&run, 1);
	check_kernels(&run, 2);
	free(binary.bytes);
	free(objects[0].bytes);
	free(objects[1].bytes);
	run_close(&run);
}

/* If the loader links, it reports the error only then. */
static int32_t status_of_link(struct fixture *fixture, uint32_t count, const struct object *objects)
{
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	struct object binary;

	int error = try_link(fixture, count, objects, &binary, &fault);
	if (error == 0)
		error = fixture->ops->program_load(fixture->device, binary.bytes, binary.count,
						   &program, &fault);
	cr_assert_lt(error, 0);
	cr_assert_neq(fault.text[0], '\0');
	free(binary.bytes);
	return fault.status;
}

Test(portable_link, M6_what_does_not_fit_together_is_refused)
{
	struct run run = {.fixture = {.wake_fd = -1}};

	fixture_open(&run.fixture, 0);
	struct object kernel = compile(&run.fixture, kernels, "");
	struct object twice[] = {compile(&run.fixture, helpers, "-DFACTOR=1"), kernel,
				 compile(&run.fixture, helpers, "-DFACTOR=2")};
	const struct object garbage[] = {kernel, {(void *)(uintptr_t)kernels, sizeof(kernels)}};
	const struct object cut[] = {{kernel.bytes, 9}, twice[0]};

	cr_assert_eq(status_of_link(&run.fixture, 1, &kernel), STATUS_BUILD,
		     "a function is missing");
	cr_assert_eq(status_of_link(&run.fixture, 3, twice), STATUS_BUILD,
		     "a function is there twice");
	cr_assert_eq(status_of_link(&run.fixture, 2, garbage), STATUS_INVALID);
	cr_assert_eq(status_of_link(&run.fixture, 2, cut), STATUS_INVALID);
	free(kernel.bytes);
	free(twice[0].bytes);
	free(twice[2].bytes);
	fixture_close(&run.fixture);
}

/* A source that does not compile fails at once; a built binary is no object. */
Test(portable_link, M6_objects_are_checked_when_they_are_made)
{
	static const char wrong[] =
		"SYCL_KERNEL void bad(SYCL_GLOBAL(int) o) { o[0] = nothing; }\n";
	struct run run = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	struct object object = {0};
	char *log = NULL;

	fixture_open(&run.fixture, 0);
	cr_assert_lt(run.fixture.ops->compile(run.fixture.backend, run.fixture.index,
					      BACKEND_SOURCE_PORTABLE, wrong, strlen(wrong), "",
					      &object.bytes, &object.count, &log, &fault),
		     0);
	cr_assert_eq(fault.status, STATUS_BUILD);
	cr_assert(log && strstr(log, "nothing"), "%s", log ? log : "no log");
	cr_assert_null(object.bytes);
	free(log);
	static const char whole[] = "SYCL_KERNEL void one(SYCL_GLOBAL(int) o) { o[0] = 1; }\n";
	struct object binary = {0};
	binary.bytes = run_build(&run.fixture, BACKEND_SOURCE_PORTABLE, whole, strlen(whole), "",
				 &binary.count);
	cr_assert_eq(status_of_link(&run.fixture, 1, &binary), STATUS_INVALID);
	free(binary.bytes);
	fixture_close(&run.fixture);
}
