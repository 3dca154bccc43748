/*
 * Times of single launches by CUPTI. On the double of the driver they come from the double of
 * CUPTI; on a GPU from the machine's, if it has one.
 */
#include "cuda/copies_support.h"
#include "cuda/double.h"
#include "fake_cupti.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_profile, .timeout = 120);

enum { LAUNCHES = 40, WORDS = 64 };
#define CLOCKS_APART_NS 1000000u /* as much as a trace allows */

struct profile_scene {
	struct fixture fixture;
	struct backend_kernel *kernel;
	struct backend_memory *memory;
	struct backend_argument argument;
	struct backend_command command;
	uint64_t global;
};

static bool is_on_gpu(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");
	return which && strcmp(which, "real") == 0;
}

static void profile_open(struct profile_scene *scene)
{
	const char *const more[] = {is_on_gpu() ? "cupti=yes" : "cupti=" FAKE_CUPTI_LIBRARY, NULL};
	*scene = (struct profile_scene){.global = WORDS};
	target_cuda_open_with(&scene->fixture, more);
	scene->kernel = fixture_kernel(&scene->fixture, "increment_u32");
	scene->memory = fixture_memory(&scene->fixture, WORDS * sizeof(uint32_t), NULL);
	scene->argument = global_argument(scene->memory);
	scene->command = launch_command(scene->kernel, 1, &scene->global, &scene->argument, 1);
	scene->command.timed = true;
}

static void profile_close(struct profile_scene *scene)
{
	scene->fixture.ops->kernel_free(scene->kernel);
	scene->fixture.ops->memory_free(scene->memory);
	fixture_close(&scene->fixture);
	if (!is_on_gpu())
		double_check(true);
}

static const struct fake_cupti_control *fake_tool(void)
{
	void *library = dlopen(FAKE_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	fake_cupti_control_function *control = NULL;
	cr_assert(library, "%s", dlerror());
	*(void **)&control = dlsym(library, FAKE_CUPTI_SYMBOL);
	return control();
}

/* Skips the test on a machine without CUPTI. */
static void profile_begin(struct profile_scene *scene)
{
	struct backend_fault fault = {0};
	int error = scene->fixture.ops->profile_begin(scene->fixture.device, &fault);
	if (error == -EOPNOTSUPP && is_on_gpu())
		cr_skip_test("%s", fault.text);
	cr_assert_eq(error, 0, "%s", fault.text);
}

static struct backend_completion launch_once(struct profile_scene *scene)
{
	return fixture_finish(&scene->fixture, 0,
			      fixture_submit(&scene->fixture, 0, &scene->command));
}

/* Each kernel lies within its command, and took less than that. */
static void expect_times(struct profile_scene *scene)
{
	static struct backend_completion ends[LAUNCHES];
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		ends[i] = launch_once(scene);
		cr_assert_neq(ends[i].profile, 0);
		cr_assert(i == 0 || ends[i].profile != ends[i - 1].profile);
	}
	scene->fixture.ops->profile_flush(true);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		uint64_t start_ns = 0, end_ns = 0;
		cr_assert(scene->fixture.ops->profile_times(ends[i].profile, &start_ns, &end_ns),
			  "of launch %u", i);
		cr_expect_gt(end_ns, start_ns);
		if (!is_on_gpu()) /* the double's times are a processor's */
			continue;
		cr_expect_geq(start_ns + CLOCKS_APART_NS, ends[i].start_ns);
		cr_expect_leq(end_ns, ends[i].end_ns + CLOCKS_APART_NS);
	}
}

Test(cuda_profile, each_timed_launch_has_times_of_its_own_kernel)
{
	struct profile_scene scene;
	profile_open(&scene);
	cr_expect_eq(launch_once(&scene).profile, 0, "not before it began");
	profile_begin(&scene);
	expect_times(&scene);
	/* A launch that is not timed is sent in a chain, as ever. */
	scene.command.timed = false;
	cr_expect_eq(launch_once(&scene).profile, 0);
	scene.command.timed = true;
	scene.fixture.ops->profile_end();
	cr_expect_eq(launch_once(&scene).profile, 0, "not after its end");
	profile_close(&scene);
}

Test(cuda_profile, a_second_time_is_as_good_as_the_first)
{
	struct profile_scene scene;
	uint64_t start_ns, end_ns;
	profile_open(&scene);
	profile_begin(&scene);
	const uint64_t token = launch_once(&scene).profile;
	scene.fixture.ops->profile_end();
	cr_expect_not(scene.fixture.ops->profile_times(token, &start_ns, &end_ns));
	profile_begin(&scene);
	expect_times(&scene);
	cr_expect_not(scene.fixture.ops->profile_times(token, &start_ns, &end_ns),
		      "of another time");
	scene.fixture.ops->profile_end();
	if (!is_on_gpu()) {
		cr_expect_eq(fake_tool()->clocks(), 1, "a clock is registered once in a process");
		cr_expect_eq(fake_tool()->subscribers(), 0);
		cr_expect_eq(fake_tool()->kinds(), 0);
	}
	profile_close(&scene);
}

Test(cuda_profile, beside_another_tool_it_refuses)
{
	struct profile_scene scene;
	struct backend_fault fault = {0};
	if (is_on_gpu())
		cr_skip_test("only the double has another tool");
	profile_open(&scene);
	fake_tool()->set_taken(1);
	cr_assert_eq(scene.fixture.ops->profile_begin(scene.fixture.device, &fault), -EOPNOTSUPP);
	cr_expect_str_eq(fault.text, "CUPTI serves another tool in this process");
	cr_expect_eq(launch_once(&scene).profile, 0);
	fake_tool()->set_taken(0);
	profile_begin(&scene);
	expect_times(&scene);
	scene.fixture.ops->profile_end();
	profile_close(&scene);
}

Test(cuda_profile, records_may_come_late_or_never)
{
	struct profile_scene scene;
	uint64_t start_ns = 0, end_ns = 0, fake_start_ns, fake_end_ns;
	if (is_on_gpu())
		cr_skip_test("only the double is slow on request");
	profile_open(&scene);
	profile_begin(&scene);
	fake_tool()->set_slow(1);
	const uint64_t first = launch_once(&scene).profile;
	scene.fixture.ops->profile_flush(false);
	cr_expect_not(scene.fixture.ops->profile_times(first, &start_ns, &end_ns));
	scene.fixture.ops->profile_flush(true);
	cr_assert(scene.fixture.ops->profile_times(first, &start_ns, &end_ns));
	const uint64_t last = launch_once(&scene).profile;
	scene.fixture.ops->profile_flush(true);
	cr_assert(scene.fixture.ops->profile_times(last, &start_ns, &end_ns));
	fake_tool()->last(&fake_start_ns, &fake_end_ns);
	cr_expect_eq(start_ns, fake_start_ns);
	cr_expect_eq(end_ns, fake_end_ns);
	cr_expect_not(scene.fixture.ops->profile_times(last + 1, &start_ns, &end_ns));
	cr_expect_not(scene.fixture.ops->profile_times(0, &start_ns, &end_ns));
	scene.fixture.ops->profile_end();
	profile_close(&scene);
}
