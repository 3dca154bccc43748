/* Windows of memory that the second-level cache keeps (R6): which launches have them, which do not,
 * and how much is set aside. */
#include "cuda/double.h"
#include "cuda/kernels_run.h"

#include "cuda/device/device.h"
#include "cuda/lane/l2.h"

#include <dlfcn.h>
#include <errno.h>

TestSuite(cuda_l2, .timeout = 60);

enum { WORDS = 4096, BYTES = WORDS * 4 };

static const char add_ptx[] = PTX_HEAD
	".visible .entry add(.param .u64 words, .param .u32 value)\n{\n"
	"\t.reg .b64 %a<3>; .reg .b32 %r<6>;\n"
	"\tld.param.u64 %a1, [words]; ld.param.u32 %r1, [value];\n"
	"\tmov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
	"\tmul.wide.u32 %a2, %r5, 4; add.u64 %a1, %a1, %a2;\n"
	"\tld.global.u32 %r2, [%a1]; add.u32 %r2, %r2, %r1; st.global.u32 [%a1], %r2;\n\tret;\n}\n";

static struct fake_cuda_record records[DOUBLE_RECORDS];

struct scene {
	struct run run;
	struct backend_memory *memory;
	struct backend_argument arguments[2];
	uint32_t value, sum;
	uint64_t global;
};

static bool open_l2_scene(struct scene *scene)
{
	*scene = (struct scene){.value = 3, .global = WORDS};
	run_open(&scene->run, BACKEND_SOURCE_PTX, add_ptx, "", "add");
	if (scene->run.fixture.facts->l2_window_bytes == 0) {
		run_close(&scene->run);
		return false;
	}
	scene->memory = run_memory(&scene->run, NULL, BYTES);
	scene->arguments[0] = global_argument(scene->memory);
	scene->arguments[1] = value_argument(&scene->value, sizeof(scene->value));
	return true;
}

static void cuda_l2_scene_close(struct scene *scene)
{
	scene->run.fixture.ops->memory_free(scene->memory);
	run_close(&scene->run);
	if (!run_is_real())
		double_check(true);
}

static void launch_with_window(struct scene *scene,
			       const struct backend_launch_properties *properties)
{
	struct backend_command command =
		launch_command(scene->run.kernel, 1, &scene->global, scene->arguments, 2);

	command.launch.properties = properties;
	fixture_wait(&scene->run.fixture, 1, fixture_submit(&scene->run.fixture, 1, &command));
	scene->sum += scene->value;
}

static void expect_sums(struct scene *scene)
{
	static uint32_t words[WORDS];

	fixture_read(&scene->run.fixture, scene->memory, 0, words, sizeof(words));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert_eq(words[i], scene->sum, "word %u", i);
}

/* Returns the last launch that was sent with a window, and how many there were. */
static uint32_t windows(struct fake_cuda_record *last_out)
{
	const size_t count = run_is_real() ? 0 : double_records(records);
	uint32_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (records[i].kind == FAKE_CUDA_WINDOW) {
			*last_out = records[i];
			found++;
		}
	return found;
}

Test(cuda_l2, R6_a_launch_carries_its_window_and_no_other_does)
{
	struct scene scene;
	struct fake_cuda_record last = {.value = 0};

	if (!open_l2_scene(&scene))
		return;
	const uint64_t address = scene.memory->address + 64;
	const struct backend_launch_properties properties = {
		.window = {address, BYTES - 64, 0.5f, BACKEND_L2_PERSISTING, BACKEND_L2_STREAMING}};
	const struct backend_launch_properties other = {
		.window = {address, 128, 1.0f, BACKEND_L2_STREAMING, BACKEND_L2_NORMAL}};
	launch_with_window(&scene, NULL);
	launch_with_window(&scene, &properties);
	launch_with_window(&scene, NULL);
	cr_assert_eq(windows(&last), run_is_real() ? 0 : 1);
	if (!run_is_real()) {
		cr_expect_eq(last.address, address);
		cr_expect_eq(last.size_bytes, BYTES - 64);
		cr_expect_eq(last.value, 500);
		cr_expect_eq(last.location_type, CU_ACCESS_PROPERTY_PERSISTING);
		cr_expect_eq(last.location_id, CU_ACCESS_PROPERTY_STREAMING);
	}
	launch_with_window(&scene, &other);
	launch_with_window(&scene, NULL);
	cr_assert_eq(windows(&last), run_is_real() ? 0 : 2);
	if (!run_is_real()) {
		cr_expect_eq(last.value, 1000);
		cr_expect_eq(last.location_type, CU_ACCESS_PROPERTY_STREAMING);
		cr_expect_eq(last.location_id, CU_ACCESS_PROPERTY_NORMAL);
	}
	expect_sums(&scene);
	cuda_l2_scene_close(&scene);
}

/* All launches of a burst are alike and have no such property. */
Test(cuda_l2, R6_launches_with_a_window_are_no_burst)
{
	struct scene scene;
	struct backend_fault fault = {0};

	if (!open_l2_scene(&scene))
		return;
	const struct backend_launch_properties properties = {
		.window = {scene.memory->address, BYTES, 1.0f, BACKEND_L2_PERSISTING,
			   BACKEND_L2_NORMAL}};
	struct fixture *fixture = &scene.run.fixture;
	struct backend_command command =
		launch_command(scene.run.kernel, 1, &scene.global, scene.arguments, 2);
	command.launch.properties = &properties;
	launch_with_window(&scene, NULL);
	cr_assert_eq(fixture->ops->submit_burst(fixture->lanes[1].lane, &command, 2, 0, NULL, 0,
						1000, &fault),
		     -EAGAIN);
	cuda_l2_scene_close(&scene);
}

/* Returns the driver's value for the current context. */
static uint64_t set_aside(void)
{
	size_t bytes = 0;

	if (!run_is_real())
		return double_count("limit 6");
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	cr_assert_not_null(library, "%s", dlerror());
	CUresult (*get)(size_t * bytes, CUlimit limit) = NULL;
	void *symbol = dlsym(library, "cuCtxGetLimit");
	memcpy(&get, &symbol, sizeof(get));
	cr_assert_not_null(symbol);
	cr_assert_eq(get(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), CUDA_SUCCESS);
	(void)dlclose(library);
	return bytes;
}

static void want(struct fixture *fixture, uint64_t bytes)
{
	fixture->ops->l2_wanted(fixture->device, bytes);
	if (fixture->ops->quiet_wanted(fixture->device))
		fixture->ops->quiet(fixture->device);
	cr_assert(!cuda_l2_is_due(fixture->device));
}

/* In a quiet moment at most half of the cache is set aside, and all of it is given back at the
 * end. */
Test(cuda_l2, R6_a_bounded_part_of_the_cache_is_set_aside_while_windows_want_it)
{
	struct scene scene;

	if (!open_l2_scene(&scene))
		return;
	struct fixture *fixture = &scene.run.fixture;
	const uint64_t most = (uint64_t)fixture->device->facts->persisting_bytes / CUDA_L2_SHARE;
	cr_assert_gt(most, 1u << 20);
	fixture->ops->l2_wanted(fixture->device, 1u << 20);
	cr_assert(cuda_l2_is_due(fixture->device), "not before a quiet moment");
	want(fixture, 1u << 20);
	const uint64_t some = set_aside();
	cr_expect(some >= 1u << 20, "%llu", (unsigned long long)some); /* the driver rounds up */
	const struct backend_launch_properties properties = {
		.window = {scene.memory->address, BYTES, 1.0f, BACKEND_L2_PERSISTING,
			   BACKEND_L2_STREAMING}};
	for (uint32_t i = 0; i < 4; i++)
		launch_with_window(&scene, &properties);
	expect_sums(&scene);
	want(fixture, UINT64_MAX);
	const uint64_t all = set_aside();
	cr_expect(all >= most && all <= 2 * most, "%llu of %llu", (unsigned long long)all,
		  (unsigned long long)most);
	if (!run_is_real())
		cr_assert_eq(double_count("call cuCtxResetPersistingL2Cache"), 0);
	want(fixture, 0);
	cr_expect_eq(set_aside(), 0);
	if (!run_is_real())
		cr_assert_eq(double_count("call cuCtxResetPersistingL2Cache"), 1);
	expect_sums(&scene);
	cuda_l2_scene_close(&scene);
}
