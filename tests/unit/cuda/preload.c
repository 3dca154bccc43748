/* Preparation before there is a user, on the double of the driver: contexts that are used when the
 * device is opened; and refusals. */
#include "cuda/device/device.h"
#include "fake_cuda.h"
#include "status.h"

#include <criterion/criterion.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_preload, .timeout = 20);

static const struct fake_cuda_control *fake;

static const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, NULL};
static const struct backend_settings for_another = {
	.cache_directory = "/nowhere/yet", .options = options, .for_another_user = true};
static const struct backend_settings for_own = {.options = options};

static void cuda_preload_load_double(const char *line)
{
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
	fake_cuda_control_function *control = NULL;
	cr_assert_not_null(library, "%s", dlerror());
	*(void **)&control = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	fake = control();
	if (line)
		cr_assert_eq(fake->command(line), 0, "%s", line);
}

static void ignore_wake(void *token)
{
	(void)token;
}

/* Opens it as an engine does later in the same process. */
static void open_device(uint32_t index)
{
	const struct backend_settings settings = {.options = options};
	struct backend_topology topology;
	struct backend_fault fault = {0};
	struct backend *backend;
	struct backend_device *device;
	backend_cuda_ops.prepare(&settings);
	cr_assert_eq(backend_cuda_ops.open(&settings, &backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(backend_cuda_ops.enumerate(backend, &topology, &fault), 0, "%s", fault.text);
	cr_assert_eq(
		backend_cuda_ops.device_open(backend, index, ignore_wake, NULL, &device, &fault), 0,
		"%s", fault.text);
	backend_cuda_ops.device_close(device);
	backend_cuda_ops.close(backend);
}

Test(cuda_preload, the_context_is_there_for_who_opens_the_device)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("devices 3");
	cr_assert_eq(backend_cuda_ops.preload(&for_another, 1u << 1, &fault), 0, "%s", fault.text);
	cr_assert_eq(fake->count("contexts"), 1);
	cr_assert_eq(fake->count("made_flags 1"), CU_CTX_SCHED_BLOCKING_SYNC);
	open_device(1);
	cr_assert_eq(fake->count("contexts_created"), 1);
	/* The context stays, for the next user. */
	cr_assert_eq(fake->count("contexts"), 1);
	cr_assert_eq(fake->count("misuse"), 0);
}

/* Objects that take time are made there, too. They are used when the device is opened, and released
 * with the device. */
Test(cuda_preload, what_a_device_needs_first_is_there_and_is_not_made_again)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("devices 2");
	open_device(0);
	uint64_t loads = fake->count("call cuModuleLoadDataEx"),
		 pins = fake->count("call cuMemHostAlloc");
	cr_assert(loads > 0 && pins > 0);
	cr_assert_eq(backend_cuda_ops.preload(&for_another, 1u << 1, &fault), 0, "%s", fault.text);
	cr_expect_eq(fake->count("call cuModuleLoadDataEx"), 2 * loads);
	cr_expect_eq(fake->count("call cuMemHostAlloc"), 2 * pins);
	open_device(1);
	cr_expect_eq(fake->count("call cuModuleLoadDataEx"), 2 * loads);
	cr_expect_eq(fake->count("call cuMemHostAlloc"), 2 * pins);
	cr_expect_eq(fake->count("modules"), 0);
	cr_expect_eq(fake->count("host_allocations"), 0);
	/* They are used once: the next one that opens the device makes its own. */
	open_device(1);
	cr_expect_eq(fake->count("call cuModuleLoadDataEx"), 3 * loads);
	cr_expect_eq(fake->count("call cuMemHostAlloc"), 3 * pins);
}

Test(cuda_preload, A17_only_the_devices_that_were_named_and_each_once)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("devices 4");
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 0, &fault), 0, "%s", fault.text);
	cr_assert_eq(fake->count("contexts"), 0);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1, &fault), 0, "%s", fault.text);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1, &fault), 0, "%s", fault.text);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1 | 1u << 3, &fault), 0, "%s", fault.text);
	cr_assert_eq(fake->count("contexts_created"), 2);
	/* The devices that engines claim need not exist. */
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1 | 1ull << 4 | 1ull << 63, &fault), 0,
		     "%s", fault.text);
	cr_assert_eq(fake->count("contexts_created"), 2);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1u << 4, &fault), -EOPNOTSUPP);
	cr_assert_not_null(strstr(fault.text, "GPU 4"), "%s", fault.text);
}

Test(cuda_preload, nothing_of_a_user_is_looked_up)
{
	struct backend_fault fault = {0};
	(void)setenv("CUDA_CACHE_DISABLE", "1", 1);
	(void)setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	cuda_preload_load_double(NULL);
	cr_assert_eq(backend_cuda_ops.preload(&for_another, 1, &fault), 0, "%s", fault.text);
	cr_assert_str_eq(fake->environment("CUDA_CACHE_PATH"), "/nowhere/yet/cuda");
	cr_assert_null(fake->environment("CUDA_CACHE_DISABLE"));
	cr_assert_null(fake->environment("CUDA_LAUNCH_BLOCKING"));
	cr_assert_str_eq(fake->environment("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
}

Test(cuda_preload, a_failed_device_is_noticed_at_the_next_query)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double(NULL);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1, &fault), 0, "%s", fault.text);
	cr_assert_eq(fake->command("lose 719"), 0);
	cr_assert_lt(backend_cuda_ops.preload(&for_own, 1, &fault), 0);
	cr_assert_not_null(strstr(fault.text, "GPU 0 does not respond"), "%s", fault.text);
}

Test(cuda_preload, without_memory_for_a_context_it_says_so)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("fail cuDevicePrimaryCtxRetain 1 2");
	cr_assert_lt(backend_cuda_ops.preload(&for_own, 1, &fault), 0);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	/* It can be queried again. */
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 1, &fault), 0, "%s", fault.text);
}

Test(cuda_preload, one_GPU_without_memory_does_not_keep_the_others_from_it)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("devices 3");
	cr_assert_eq(fake->command("fail cuDevicePrimaryCtxRetain 2 2"), 0);
	cr_assert_eq(backend_cuda_ops.preload(&for_own, 7, &fault), 0, "%s", fault.text);
	cr_assert_eq(fake->count("contexts"), 2);
}

/* MPS has a server for each user, and checks the user only once. */
Test(cuda_preload, under_MPS_nothing_is_prepared)
{
	struct backend_fault fault = {0};
	cuda_preload_load_double("attribute 133 1");
	cr_assert_eq(backend_cuda_ops.preload(&for_another, 1, &fault), -EOPNOTSUPP);
	cr_assert_eq(fake->count("contexts_created"), 0);
}

Test(cuda_preload, without_a_driver_it_says_so)
{
	static const char *const wrong[] = {"library=/nowhere/libcuda.so.1", NULL};
	const struct backend_settings settings = {.options = wrong};
	struct backend_fault fault = {0};
	cr_assert_eq(backend_cuda_ops.preload(&settings, 1, &fault), -ENODEV);
	cr_assert_not_null(strstr(fault.text, "no NVIDIA driver"), "%s", fault.text);
}
