/* How the CUDA backend sets the driver up: stack, flags of contexts, priorities of streams, and
 * what is kept of compiled code. */
#include "cuda/double.h"
#include "cuda/device/device.h"
#include "cuda/memory/state.h"
#include "status.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cuda_setup, .timeout = 60);

#define DEFAULT_STACK "limit 0" /* CU_LIMIT_STACK_SIZE of the first device */

/* As fixture_open_backend, with one more option and a cache folder, each NULL: none. */
static void open_with_cache(struct fixture *fixture, const char *option,
			    const char *cache_directory)
{
	const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, option, NULL};
	const struct backend_settings settings = {.cache_directory = cache_directory,
						  .options = options};
	fixture_open_backend_with(fixture, &settings);
}

Test(cuda_setup, stack_bytes_is_the_stack_of_the_work_items_of_a_device)
{
	struct fixture fixture;

	double_command("devices 2");
	open_with_cache(&fixture, "stack_bytes=65536", NULL);
	fixture_open(&fixture, 1);
	cr_assert_eq(double_count("limit 0 1"), 65536);
	/* Each time waits for the whole device. */
	cr_assert_eq(double_count("call cuCtxSetLimit"), 1);
	fixture_close(&fixture);
	double_check(true);
}

Test(cuda_setup, without_stack_bytes_the_driver_keeps_its_own_limits)
{
	static const char *const options[] = {NULL, "stack_bytes=0"};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct fixture fixture;
		open_with_cache(&fixture, options[i], NULL);
		fixture_open(&fixture, 0);
		cr_assert_eq(double_count(DEFAULT_STACK), 1024);
		cr_assert_eq(double_count("call cuCtxSetLimit"), 0);
		fixture_close(&fixture);
	}
	double_check(true);
}

Test(cuda_setup, a_stack_that_the_driver_refuses_is_told_and_leaves_nothing)
{
	struct backend_device *device = NULL;
	struct backend_fault fault = {0};
	struct fixture fixture;

	open_with_cache(&fixture, "stack_bytes=65536", NULL);
	double_command("fail cuCtxSetLimit 1 2");
	cr_assert_lt(fixture.ops->device_open(fixture.backend, 0, NULL, NULL, &device, &fault), 0);
	cr_assert_null(device);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	cr_assert_not_null(strstr(fault.text, "65536"), "%s", fault.text);
	fixture_close(&fixture);
	double_check(true);
}

/* Otherwise a thread that waits for the device would use a whole processor. */
Test(cuda_setup, a_context_is_made_for_threads_that_sleep)
{
	struct fixture fixture;

	double_command("devices 2");
	open_with_cache(&fixture, NULL, NULL);
	fixture_open(&fixture, 1);
	cr_assert_eq(double_count("made_flags 1"), CU_CTX_SCHED_BLOCKING_SYNC);
	fixture_close(&fixture);
	double_check(true);
}

Test(cuda_setup, the_flags_of_a_context_that_is_there_are_its_owner_s)
{
	struct fixture fixture;
	CUcontext context = NULL;
	unsigned flags = 0;
	int is_active = 0;

	open_with_cache(&fixture, NULL, NULL);
	const struct cuda_library cu = fixture.backend->library;
	cr_assert_eq(cu.cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN), CUDA_SUCCESS);
	cr_assert_eq(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
	fixture_open(&fixture, 0);
	cr_assert_eq(cu.cuDevicePrimaryCtxGetState(0, &flags, &is_active), CUDA_SUCCESS);
	cr_assert_eq(flags, CU_CTX_SCHED_SPIN);
	fixture_close(&fixture);
	cr_assert_eq(cu.cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
	double_check(true);
}

static int priority_of(const struct fixture *fixture, CUstream stream)
{
	PFN_cuStreamGetPriority_v5050 get_priority = NULL;
	void *symbol = dlsym(fixture->backend->library.handle, "cuStreamGetPriority");
	int priority = 1;

	cr_assert_not_null(symbol);
	memcpy(&get_priority, &symbol, sizeof(get_priority));
	cr_assert_eq(get_priority(stream, &priority), CUDA_SUCCESS);
	return priority;
}

/* The backend's own work, on separate streams, shares no queue to the device with the lanes. */
Test(cuda_setup, no_lane_has_the_priority_of_the_backend_s_own_streams)
{
	static const enum backend_lane_kind kinds[] = {BACKEND_LANE_COMPUTE, BACKEND_LANE_COPY_IN,
						       BACKEND_LANE_COPY_OUT};
	struct backend_fault fault = {0};
	struct fixture fixture;
	int least = 1, greatest = 1;

	open_with_cache(&fixture, NULL, NULL);
	fixture_open(&fixture, 0);
	const struct cuda_memory_state *memory = fixture.device->memory;
	cr_assert_eq(fixture.backend->library.cuCtxGetStreamPriorityRange(&least, &greatest),
		     CUDA_SUCCESS);
	cr_assert_lt(greatest, least);
	cr_assert_eq(priority_of(&fixture, memory->stream), greatest);
	cr_assert_eq(priority_of(&fixture, memory->zero_stream), greatest);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (unsigned again = 0; again < 2; again++) { /* made, then taken from the pool */
			struct backend_lane *lane = NULL;
			cr_assert_eq(
				fixture.ops->lane_create(fixture.device, kinds[i], &lane, &fault),
				0, "%s", fault.text);
			cr_assert_eq(priority_of(&fixture, lane->stream), least - 1);
			fixture.ops->lane_free(lane);
		}
	/* Best effort comes after all other lanes. */
	for (unsigned again = 0; again < 2; again++) {
		struct backend_lane *lane = NULL;
		cr_assert_eq(fixture.ops->lane_create(fixture.device, BACKEND_LANE_BESIDE, &lane,
						      &fault),
			     0, "%s", fault.text);
		cr_assert_eq(priority_of(&fixture, lane->stream), least);
		fixture.ops->lane_free(lane);
	}
	/* The latency class precedes all other lanes. */
	for (unsigned again = 0; again < 2; again++) {
		struct backend_lane *lane = NULL;
		cr_assert_eq(fixture.ops->lane_create(fixture.device, BACKEND_LANE_LATENCY, &lane,
						      &fault),
			     0, "%s", fault.text);
		cr_assert_lt(priority_of(&fixture, lane->stream), least - 1);
		cr_assert_gt(priority_of(&fixture, lane->stream), greatest);
		fixture.ops->lane_free(lane);
	}
	fixture_close(&fixture);
	double_check(true);
}

/* The PTX that one engine's driver has compiled, and the PTX that it has found in its cache. */
struct kept {
	uint64_t compiled, found, ahead; /* ahead: compiled before there was a user */
};

/*
 * `later`: as an engine that existed before its user. Its name leads to the engine's own folder,
 * and to the user's once there is a user.
 */
static void be_engine(const char *cache, const char *later, struct kept *kept_out)
{
	static const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, NULL};
	struct backend_fault fault = {0};
	struct fixture fixture;
	uint64_t ahead_compiled = 0;

	double_command("set jit_cache 1");
	if (later) {
		const struct backend_settings ahead = {
			.cache_directory = later, .options = options, .for_another_user = true};
		char early[] = "/tmp/cuda_setup_early_XXXXXX", command[128];
		cr_assert_not_null(mkdtemp(early));
		cr_assert_eq(symlink(early, later), 0);
		cr_assert_eq(conformance_target.ops->preload(&ahead, 1, &fault), 0, "%s",
			     fault.text);
		cr_assert_eq(unlink(later), 0);
		(void)snprintf(command, sizeof(command), "rm -rf %s", early);
		cr_assert_eq(system(command), 0);
		cr_assert_eq(symlink(cache, later), 0);
		ahead_compiled = double_count("jit_compiled");
	}
	open_with_cache(&fixture, NULL, cache);
	fixture_open(&fixture, 0);
	fixture.ops->kernel_free(fixture_kernel(&fixture, "fill_u32"));
	*kept_out = (struct kept){double_count("jit_compiled") - ahead_compiled,
				  double_count("jit_found"), ahead_compiled};
	fixture_close(&fixture);
	double_check(!later);
}

/* Runs in a separate process, as every engine does. */
static struct kept engine(const char *cache, const char *later)
{
	struct kept *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;

	cr_assert_neq(shared, MAP_FAILED);
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		be_engine(cache, later, shared);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the engine ended with %d",
		  status);
	struct kept kept = *shared;
	(void)munmap(shared, sizeof(*shared));
	return kept;
}

Test(cuda_setup, what_the_driver_has_compiled_is_found_by_the_next_engine)
{
	char base[] = "/tmp/cuda_setup_XXXXXX", cache[64], other[64], later[64], command[128];

	cr_assert_not_null(mkdtemp(base));
	(void)snprintf(cache, sizeof(cache), "%s/user", base);
	(void)snprintf(other, sizeof(other), "%s/other", base);
	(void)snprintf(later, sizeof(later), "%s/later", base);
	struct kept first = engine(cache, NULL), next = engine(cache, NULL);
	cr_assert_gt(first.compiled, 0);
	cr_assert_eq(next.compiled, 0);
	cr_assert_eq(next.found, first.compiled + first.found);
	/* This engine began before it had a user, and keeps nothing elsewhere. */
	struct kept adopted = engine(cache, later);
	cr_assert_gt(adopted.ahead, 0);
	cr_assert_eq(adopted.compiled, 0);
	cr_assert_eq(adopted.found, next.found - adopted.ahead,
		     "what was made ahead was not asked for again");
	/* Another user's engine does not find it, and a folder that others can write is not
	 * trusted. */
	cr_assert_eq(engine(other, NULL).compiled, first.compiled);
	cr_assert_eq(chmod(cache, 0777), 0);
	struct kept exposed = engine(cache, NULL);
	cr_assert_eq(exposed.compiled, first.compiled + first.found);
	cr_assert_eq(exposed.found, 0);
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}
