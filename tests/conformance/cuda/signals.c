/*
 * A command of a chain that is awaited by itself is reported when it ends. A kernel behind it was
 * short in thousands of launches; now it runs until the host has received that report. So a report
 * only at the chain's end would never come (B18, H9). On the driver's double and on a GPU.
 */
#include "cuda/double.h"
#include "cuda/kernels_run.h"

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"

TestSuite(cuda_signals, .timeout = 120);

/* Counts up to[0]. */
#define QUICK                                                                                      \
	".visible .entry quick(.param .u64 to)\n{\n"                                               \
	"\t.reg .b64 %a; .reg .b32 %r<3>;\n"                                                       \
	"\tld.param.u64 %a, [to]; ld.global.u32 %r1, [%a]; add.u32 %r2, %r1, 1;\n"                 \
	"\tst.global.u32 [%a], %r2;\n\tret;\n}\n"
/* Waits until open[0] is not 0. */
#define HOLD                                                                                       \
	".visible .entry hold(.param .u64 open)\n{\n"                                              \
	"\t.reg .b64 %a; .reg .b32 %r; .reg .pred %p;\n"                                           \
	"\tld.param.u64 %a, [open];\n"                                                             \
	"look:\n"                                                                                  \
	"\tld.volatile.global.u32 %r, [%a]; setp.eq.u32 %p, %r, 0; @%p bra look;\n\tret;\n}\n"

static const char source[] = PTX_HEAD QUICK HOLD;
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

enum { WARM = 1000, HELD = 20, WORD_BYTES = 4096 };

struct scene {
	struct run run; /* its kernel is `quick` */
	struct backend_kernel *hold;
	struct backend_memory *memory;
	void *open;
	struct backend_argument arguments[2];
	uint64_t global;
};

static void open_signals_scene(struct scene *scene)
{
	struct backend_fault fault = {0};

	*scene = (struct scene){.global = 1};
	run_open(&scene->run, BACKEND_SOURCE_PTX, source, "", "quick");
	scene->hold = run_kernel(&scene->run, "hold");
	scene->memory = run_memory(&scene->run, NULL, sizeof(uint32_t));
	cr_assert_eq(scene->run.fixture.ops->usm_alloc(scene->run.fixture.device, BACKEND_USM_HOST,
						       WORD_BYTES, 0, &scene->open, &fault),
		     0, "%s", fault.text);
	scene->arguments[0] = global_argument(scene->memory);
	scene->arguments[1] = (struct backend_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
							.global = {.usm = scene->open}};
}

static void close_signals_scene(struct scene *scene)
{
	const struct fixture *fixture = &scene->run.fixture;

	fixture->ops->usm_free(fixture->device, BACKEND_USM_HOST, scene->open);
	fixture->ops->kernel_free(scene->hold);
	fixture->ops->memory_free(scene->memory);
	run_close(&scene->run);
	if (!run_is_real())
		double_check(true);
}

static void set_open(struct scene *scene, uint32_t value)
{
	atomic_store((_Atomic uint32_t *)scene->open, value);
}

static uint64_t submit_signals_launch(struct scene *scene, bool holds)
{
	struct backend_kernel *kernel = holds ? scene->hold : scene->run.kernel;
	struct backend_command command =
		launch_command(kernel, 1, &scene->global, &scene->arguments[holds], 1);

	command.is_awaited = !holds;
	*cuda_kernel_pace(kernel) = short_and_known;
	return fixture_submit(&scene->run.fixture, 1, &command);
}

static bool is_complete(struct scene *scene, uint64_t sequence)
{
	const struct test_lane *lane = &scene->run.fixture.lanes[1];

	fixture_progress(&scene->run.fixture);
	for (size_t i = 0; i < lane->seen_count; i++)
		if (lane->seen[i].sequence == sequence)
			return true;
	return false;
}

Test(cuda_signals, B18_H9_a_kernel_is_reported_while_one_behind_it_runs_that_was_short)
{
	struct scene scene;
	uint32_t count = 0;

	open_signals_scene(&scene);
	struct fixture *fixture = &scene.run.fixture;
	const struct cuda_lanes *lanes = fixture->device->lanes;
	set_open(&scene, 1);
	for (uint32_t i = 0; i < WARM; i++) {
		(void)submit_signals_launch(&scene, false);
		fixture_wait(fixture, 1, submit_signals_launch(&scene, true));
		if (fixture->ops->quiet_wanted(fixture->device))
			fixture->ops->quiet(fixture->device);
	}
	for (uint32_t i = 0; i < HELD; i++) {
		const uint64_t chains = atomic_load(&lanes->chains_sent);
		set_open(&scene, 0);
		const uint64_t quick = submit_signals_launch(&scene, false),
			       hold = submit_signals_launch(&scene, true);
		fixture_wait(fixture, 1, quick);
		cr_assert_eq(atomic_load(&lanes->chains_sent), chains + 1, "both were in one");
		cr_assert_not(is_complete(&scene, hold));
		set_open(&scene, 1);
		fixture_wait(fixture, 1, hold);
	}
	fixture_read(fixture, scene.memory, 0, &count, sizeof(count));
	cr_assert_eq(count, WARM + HELD);
	close_signals_scene(&scene);
}
