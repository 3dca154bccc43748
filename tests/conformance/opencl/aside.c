/* Work beside a device's lanes, where its memory is not the host's: under the layer of
 * tests/support/opencl_discrete. */
#include "targets/target.h"

#include "status.h"

#include <criterion/criterion.h>
#include <sched.h>

TestSuite(opencl_aside, .timeout = 240);

enum { PAGE = 4096 };

/* Some seconds of one processor. */
static const char source[] = "__kernel void slow(__global uint *word, uint rounds) {\n"
			     "	uint x = word[0];\n"
			     "	for (uint i = 0; i < rounds; i++)\n"
			     "		for (uint j = 0; j < 1000; j++)\n"
			     "			x = x * 1664525u + (x >> 3) + i;\n"
			     "	word[0] = x;\n"
			     "}\n";

struct busy {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
	struct backend_memory *word;
	uint64_t sequence;
};

static uint64_t send_busy_kernel(struct busy *busy, uint32_t rounds)
{
	const uint64_t one = 1;
	const struct backend_argument arguments[] = {global_argument(busy->word),
						     value_argument(&rounds, sizeof(rounds))};
	const struct backend_command command = launch_command(busy->kernel, 1, &one, arguments, 2);

	return fixture_submit(&busy->fixture, 0, &command);
}

/* Starts a kernel that uses existing USM. */
static void begin_busy(struct busy *busy, void **usm_out)
{
	struct fixture *fixture = &busy->fixture;
	struct backend_fault fault = {0};
	const uint32_t zero = 0;

	fixture_open(fixture, 0);
	if (fixture->facts->host_unified_memory ||
	    !(fixture->facts->features & BACKEND_FEATURE_USM))
		cr_skip_test("the device's memory is the host's, or there is no USM");
	busy->program = fixture_build(fixture, BACKEND_SOURCE_OPENCL_C, source, "");
	cr_assert_eq(fixture->ops->kernel_create(busy->program, "slow", &busy->kernel, &fault), 0,
		     "%s", fault.text);
	busy->word = fixture_memory(fixture, PAGE, NULL);
	fixture_write(fixture, busy->word, 0, &zero, sizeof(zero));
	fixture_wait(fixture, 0, send_busy_kernel(busy, 1)); /* it is compiled */
	cr_assert_eq(fixture->ops->usm_alloc(fixture->device, BACKEND_USM_DEVICE, PAGE, 0, usm_out,
					     &fault),
		     0, "%s", fault.text);
	busy->sequence = send_busy_kernel(busy, 600000);
	fixture->ops->flush(fixture->device);
}

static void still_runs(struct busy *busy)
{
	struct backend_completion completion;

	cr_assert_eq(busy->fixture.ops->progress(busy->fixture.device, &completion, 1), 0,
		     "the kernel was waited for");
}

static void end_busy(struct busy *busy)
{
	struct fixture *fixture = &busy->fixture;

	fixture->ops->memory_free(busy->word);
	fixture->ops->kernel_free(busy->kernel);
	fixture->ops->program_free(busy->program);
	fixture_close(fixture);
}

Test(opencl_aside, F8_memory_is_made_beside_a_kernel_that_freed_usm_waits_for)
{
	struct busy busy = {.fixture = {.wake_fd = -1}};
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	void *usm = NULL;

	begin_busy(&busy, &usm);
	busy.fixture.ops->usm_free(busy.fixture.device, BACKEND_USM_DEVICE, usm);
	cr_assert_eq(busy.fixture.ops->memory_create(busy.fixture.device, PAGE, NULL,
						     BACKEND_EXPORT_NONE, &memory, &fault),
		     0, "%s", fault.text);
	still_runs(&busy);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	busy.fixture.ops->memory_free(memory);
	end_busy(&busy);
}

Test(opencl_aside, F8_what_was_freed_and_waits_is_bounded)
{
	struct busy busy = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	void *usm = NULL;
	uint32_t had = 0;

	begin_busy(&busy, &usm);
	const struct backend_ops *ops = busy.fixture.ops;
	struct backend_device *device = busy.fixture.device;
	const uint64_t piece = busy.fixture.facts->global_mem_bytes / 64;
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	for (; had < 32 && ops->usm_alloc(device, BACKEND_USM_DEVICE, piece, 0, &usm, &fault) == 0;
	     had++)
		ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	still_runs(&busy);
	cr_assert_leq(had, 5, "%u times a 64th of the device's memory", had);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	/* The driver reports the kernel before it reports what waited for it. The time limit is the
	 * suite's. */
	while (ops->usm_alloc(device, BACKEND_USM_DEVICE, piece, 0, &usm, &fault) < 0)
		(void)sched_yield();
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	end_busy(&busy);
}
