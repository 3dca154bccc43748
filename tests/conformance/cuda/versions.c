/* Drivers that lack functions: optional features are off, and a missing required one is named. */
#include "cuda/double.h"

#include "cuda/driver/functions.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT 100u

TestSuite(cuda_versions, .timeout = 60);

struct function {
	char name[64];
	bool needed;
};

static const struct function functions[] = {
#define NEEDED_ROW(name, version)   {#name, true},
#define OPTIONAL_ROW(name, version) {#name, false},
	CUDA_FUNCTIONS(NEEDED_ROW, OPTIONAL_ROW)
#undef NEEDED_ROW
#undef OPTIONAL_ROW
};
#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

ParameterizedTestParameters(cuda_versions, a_function_that_is_missing)
{
	return cr_make_param_array(struct function, (struct function *)functions, FUNCTIONS);
}

static void launch_and_check(struct fixture *fixture)
{
	const uint64_t global = COUNT;
	const uint32_t value = 5;
	uint32_t words[COUNT] = {0};

	fixture_open(fixture, 0);
	struct backend_memory *memory = fixture_memory(fixture, sizeof(words), NULL);
	struct backend_kernel *fill = fixture_kernel(fixture, "fill_u32");
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, 4)};
	const struct backend_command launch = launch_command(fill, 1, &global, arguments, 2);
	for (unsigned i = 0; i < 5; i++)
		(void)fixture_submit(fixture, i % 2, &launch);
	fixture_wait(fixture, 0, fixture_submit(fixture, 0, &launch));
	fixture_wait(fixture, 1, fixture_submit(fixture, 1, &launch));
	fixture_read(fixture, memory, 0, words, sizeof(words));
	cr_assert_eq(words[COUNT - 1], 5);
	fixture->ops->kernel_free(fill);
	fixture->ops->memory_free(memory);
	fixture_close(fixture);
}

ParameterizedTest(const struct function *function, cuda_versions, a_function_that_is_missing)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	struct backend *backend = NULL;

	double_command("missing %s", function->name);
	if (!function->needed) {
		launch_and_check(&fixture);
		double_check(true);
		return;
	}
	conformance_target.prepare();
	const struct backend_settings settings = {.options = conformance_target.options};
	cr_assert_eq(conformance_target.ops->open(&settings, &backend, &fault), -ENODEV, "%s",
		     function->name);
	cr_assert_null(backend);
	cr_assert_eq(fault.status, STATUS_PLATFORM, "%d", fault.status);
	cr_assert_not_null(strstr(fault.text, function->name), "%s", fault.text);
}

Test(cuda_versions, an_old_driver_is_named_with_its_version)
{
	struct backend_fault fault = {0};
	struct backend *backend = NULL;

	double_command("driver_version 11080");
	conformance_target.prepare();
	const struct backend_settings settings = {.options = conformance_target.options};
	cr_assert_eq(conformance_target.ops->open(&settings, &backend, &fault), -ENODEV);
	cr_assert_not_null(strstr(fault.text, "11.8"), "%s", fault.text);
}

Test(cuda_versions, the_oldest_driver_that_is_good_enough_works)
{
	struct fixture fixture = {.wake_fd = -1};

	double_command("driver_version %d", CUDA_OLDEST_DRIVER);
	launch_and_check(&fixture);
	double_check(true);
}

Test(cuda_versions, a_device_without_pools_clusters_and_more_works)
{
	struct fixture fixture = {.wake_fd = -1};

	double_command("compute 6 1");
	for (unsigned attribute = 83; attribute <= 135; attribute++)
		double_command("attribute %u 0", attribute);
	launch_and_check(&fixture);
	double_check(true);
}
