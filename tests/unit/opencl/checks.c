/* The device memory of launches in checking mode, against a driver of a few functions. */
#include "opencl/lane/check.h"

#include "portable_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

TestSuite(opencl_checks, .timeout = 30);

enum { LAUNCHES = 1000, BYTES_MAX = 32 << 20, BLOCK = PORTABLE_CHECK_WORDS * sizeof(uint64_t) };

static struct block {
	size_t bytes;
	uint64_t slots; /* as the kernel reads them */
} blocks[2 * LAUNCHES];
static unsigned block_count;
static size_t bytes_with_tables;

static size_t block_table(const struct block *block)
{
	return block->bytes > BLOCK ? block->bytes : 0;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes,
					void *host, cl_int *code)
{
	struct block *block = &blocks[block_count++];
	(void)context;
	(void)flags;
	block->bytes = bytes;
	memcpy(&block->slots, (uint64_t *)host + PORTABLE_CHECK_SLOTS, sizeof(block->slots));
	bytes_with_tables += block_table(block);
	*code = CL_SUCCESS;
	return (cl_mem)block;
}

static cl_int CL_API_CALL opencl_checks_release_buffer(cl_mem buffer)
{
	bytes_with_tables -= block_table((struct block *)buffer);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t bytes,
				       const void *value)
{
	(void)kernel;
	(void)index;
	(void)bytes;
	(void)value;
	return CL_SUCCESS;
}

static const struct opencl_library library = {.CreateBuffer = create_buffer,
					      .ReleaseMemObject = opencl_checks_release_buffer,
					      .SetKernelArg = set_argument};

/* A launch of so many work-items, which stays in flight. */
static struct opencl_check *begin_launch(struct backend_lane *lane, uint64_t items)
{
	static struct backend_kernel kernel;
	struct backend_command command = {.kind = BACKEND_COMMAND_LAUNCH};
	struct backend_fault fault = {0};
	struct opencl_waits list = {.count = 0};
	struct opencl_check *check = NULL;
	command.launch.kernel = &kernel;
	command.launch.dimensions = 1;
	command.launch.global[0] = items;
	cr_assert(eq(int, opencl_check_begin(lane, NULL, &command, &list, &check, &fault), 0));
	return check;
}

/* Thousands of launches may wait for their device, and no limit of users counts the tables. */
Test(opencl_checks, the_tables_of_launches_in_flight_have_a_bound_for_each_device)
{
	static struct opencl_check *checks[LAUNCHES];
	static struct backend_device device = {.cl = &library};
	static struct backend_lane lane = {.device = &device};
	unsigned without = 0;
	for (unsigned i = 0; i < LAUNCHES; i++) {
		checks[i] = begin_launch(&lane, PORTABLE_CHECK_SLOTS_MAX);
		cr_assert(le(sz, bytes_with_tables, (size_t)BYTES_MAX));
		/* The kernel writes no slots behind its block. */
		cr_assert(eq(sz, blocks[i].bytes,
			     BLOCK + blocks[i].slots * PORTABLE_CHECK_SLOT_BYTES));
		without += blocks[i].slots == 0;
	}
	cr_expect(gt(uint, without, 0u));
	cr_expect(gt(sz, bytes_with_tables, (size_t)BYTES_MAX / 2), "launches may have tables");
	for (unsigned i = 0; i < LAUNCHES; i++)
		cr_assert(eq(ptr, opencl_check_free(&device, checks[i]), NULL));
	cr_expect(zero(sz, bytes_with_tables));
	struct opencl_check *again = begin_launch(&lane, PORTABLE_CHECK_SLOTS_MAX);
	cr_expect(gt(u64, blocks[LAUNCHES].slots, 0), "what has ended counts no more");
	(void)opencl_check_free(&device, again);
}
