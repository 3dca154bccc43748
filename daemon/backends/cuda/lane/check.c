#include "cuda/lane/check.h"

#include "access_mode.h"
#include "cuda/memory/state.h"
#include "portable_check.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of all tables of a device, because they are in nobody's limits. Lanes beyond it
 * have no table, and no race is looked for. */
#define TABLES_BYTES_MAX ((uint64_t)32 << 20)
#define TABLE_BYTES      ((uint64_t)PORTABLE_CHECK_SLOTS_MAX * PORTABLE_CHECK_SLOT_BYTES)
/* The engine looks for room once for a burst, and then sends its launches one by one. */
#define BURST_MOST 16u
/* A lane's memory: room for wrong accesses to ranges without elements (portable_cuda_check.cu has
 * its size, too), the block, the table. */
#define SPARE_BYTES 4096u
#define BLOCK_BYTES (PORTABLE_CHECK_WORDS * sizeof(uint64_t))
#define READ_BYTES  (PORTABLE_CHECK_FIRST * sizeof(uint64_t))

struct cuda_check {
	struct cuda_check *next; /* of those that no launch uses */
	uint64_t *words;         /* pinned: PORTABLE_CHECK_WORDS (cuda_checked_words) */
	uint32_t dimensions;
	_Atomic uint32_t *direct; /* the direct completion; NULL: none */
	uint32_t direct_value;
};

/* cuda_lanes.checks */
struct cuda_checks {
	struct cuda_check all[CUDA_CHECKED_MAX], *unused;
	uint32_t unused_count;
	uint64_t table_bytes; /* of all lanes */
	uint32_t launches;    /* of which races were looked for */
};

/* Called at the first launch that is checked. NULL: no memory. */
static struct cuda_checks *checks_open(struct backend_device *device)
{
	struct cuda_checks *checks = calloc(1, sizeof(*checks));

	for (uint32_t i = 0; checks && i < CUDA_CHECKED_MAX; i++) {
		checks->all[i].words =
			cuda_checked_words(device) + (size_t)i * PORTABLE_CHECK_WORDS;
		checks->all[i].next = checks->unused;
		checks->unused = &checks->all[i];
		checks->unused_count++;
	}
	device->lanes->checks = checks;
	return checks;
}

void cuda_checks_close(struct backend_device *device)
{
	free(device->lanes->checks);
	device->lanes->checks = NULL;
}

bool cuda_check_is_full(const struct backend_device *device)
{
	return device->lanes->checks && device->lanes->checks->unused_count < BURST_MOST;
}

/* NULL: none is left, or there is no memory. */
static struct cuda_check *check_take(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_checks *checks = device->lanes->checks;

	if (!checks)
		checks = checks_open(device);
	struct cuda_check *check = checks ? checks->unused : NULL;
	if (!checks)
		(void)cuda_no_memory(fault_out, "a check");
	else if (!check)
		(void)cuda_fault_words(fault_out, -ENOMEM, STATUS_QUOTA,
				       "no more than %u launches are checked at one time",
				       CUDA_CHECKED_MAX);
	if (!check)
		return NULL;
	checks->unused = check->next;
	checks->unused_count--;
	memset(check->words, 0, BLOCK_BYTES);
	check->direct = NULL;
	return check;
}

void cuda_check_give(struct backend_device *device, struct cuda_check *check)
{
	if (!check)
		return;
	check->next = device->lanes->checks->unused;
	device->lanes->checks->unused = check;
	device->lanes->checks->unused_count++;
}

/* ---------------------------------- the lane's memory ----------------------------------- */

static int check_need_memory(struct cuda_lane_state *state, struct backend_fault *fault_out)
{
	struct backend_device *device = state->lane->device;
	struct cuda_checks *checks = device->lanes->checks;
	const uint64_t small = SPARE_BYTES + BLOCK_BYTES;
	int error = -ENOMEM;

	if (state->check_memory)
		return 0;
	if (checks->table_bytes + TABLE_BYTES <= TABLES_BYTES_MAX)
		error = cuda_memory_create(device, small + TABLE_BYTES, NULL, BACKEND_EXPORT_NONE,
					   &state->check_memory, fault_out);
	if (error == 0) {
		checks->table_bytes += TABLE_BYTES;
		return 0;
	}
	return error == -ENOMEM ? cuda_memory_create(device, small, NULL, BACKEND_EXPORT_NONE,
						     &state->check_memory, fault_out)
				: error;
}

static bool check_has_table(const struct cuda_lane_state *state)
{
	return state->check_memory->size_bytes > SPARE_BYTES + BLOCK_BYTES;
}

void cuda_check_lane_free(struct cuda_lane_state *state)
{
	if (!state->check_memory)
		return;
	if (check_has_table(state))
		state->lane->device->lanes->checks->table_bytes -= TABLE_BYTES;
	cuda_memory_free(state->check_memory);
	state->check_memory = NULL;
}

static CUdeviceptr check_block_address(const struct cuda_lane_state *state)
{
	return state->check_memory->address + SPARE_BYTES;
}

/* ------------------------------------- before it ---------------------------------------- */

/* Fills the whole words of the range. They have no contents: the accessor says so. */
static int check_fill_range(struct cuda_send_context *context,
			    const struct backend_argument *argument, uint64_t bytes,
			    struct backend_fault *fault_out)
{
	const struct backend_lane *lane = context->state->lane;

	context->pending.operations++;
	return cuda_check(context->device,
			  context->device->backend->library.cuMemsetD32Async(
				  argument->global.memory->address + argument->global.offset_bytes,
				  PORTABLE_CHECK_PATTERN, bytes / sizeof(uint32_t), lane->stream),
			  fault_out, "cannot fill a buffer");
}

/* Writes what one argument permits; what is not known permits everything. */
static int cuda_check_allow_argument(struct cuda_send_context *context,
				     const struct backend_argument *argument, uint64_t *words,
				     struct backend_fault *fault_out)
{
	const uint64_t reach = argument->global.reach;
	const struct backend_memory *memory = argument->global.memory;
	const uint64_t bytes = memory ? reach >> 3 : 0;

	words[0] = UINT64_MAX;
	words[1] = PORTABLE_CHECK_MAY_WRITE;
	if (argument->global.usm && !memory) {
		const uint64_t rest = cuda_usm_rest(context->device, argument->global.usm);
		words[0] = rest ? rest : UINT64_MAX;
	}
	if (reach == 0)
		return 0;
	words[0] = bytes;
	words[1] = access_mode_writes((uint32_t)reach) ? PORTABLE_CHECK_MAY_WRITE : 0;
	if (access_mode_needs_contents((uint32_t)reach) || bytes < sizeof(uint32_t) ||
	    argument->global.offset_bytes % sizeof(uint32_t) != 0)
		return 0;
	words[1] |= PORTABLE_CHECK_FILLED;
	return check_fill_range(context, argument, bytes, fault_out);
}

/* A wrong access that was found goes to the first element, also if there is none. */
static void check_spare_empty(const struct cuda_send_context *context,
			      const struct cuda_launch *launch, uint32_t index, uint64_t bytes)
{
	if (bytes == 0)
		memcpy(launch->parameters[index], &context->state->check_memory->address,
		       sizeof(CUdeviceptr));
}

static int cuda_check_allow_all(struct cuda_send_context *context, const struct cuda_launch *launch,
				uint64_t *words, struct backend_fault *fault_out)
{
	const struct backend_argument *arguments = context->command->launch.arguments;
	uint32_t count = context->command->launch.argument_count;
	int error = 0;

	if (count > PORTABLE_CHECK_ARGUMENTS)
		count = PORTABLE_CHECK_ARGUMENTS;
	for (uint32_t i = 0; error == 0 && i < count; i++) {
		uint64_t *two = &words[PORTABLE_CHECK_FIRST + 2 * i];
		if (arguments[i].kind == BACKEND_ARGUMENT_LOCAL) {
			*two = arguments[i].local_bytes;
		} else if (arguments[i].kind == BACKEND_ARGUMENT_GLOBAL) {
			error = cuda_check_allow_argument(context, &arguments[i], two, fault_out);
			check_spare_empty(context, launch, i, *two);
		}
	}
	return error;
}

/* Writes the table's words. The work-items of a launch that run at one time may be more than the
 * table has room for. */
static void check_set_table(const struct cuda_send_context *context, uint64_t *words)
{
	const struct backend_device *device = context->device;
	const uint64_t *global = context->command->launch.global;
	const uint32_t dimensions = context->command->launch.dimensions;
	const uint64_t most = (uint64_t)device->facts->multiprocessors *
			      (uint64_t)device->facts->max_threads_per_multiprocessor;
	uint64_t items = 1;

	words[PORTABLE_CHECK_SLOTS] = portable_check_slot_count(global, dimensions);
	for (uint32_t i = 0; i < dimensions && items < most; i++)
		items *= global[i];
	words[PORTABLE_CHECK_KEEPS] =
		portable_check_keeps(items < most ? items : most, words[PORTABLE_CHECK_SLOTS],
				     device->lanes->checks->launches++);
}

/* The words, and a table of zeros. */
static int check_send_block(struct cuda_send_context *context, uint64_t *words,
			    struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &context->device->backend->library;
	const struct cuda_lane_state *state = context->state;
	const CUdeviceptr block = check_block_address(state);

	if (check_has_table(state))
		check_set_table(context, words);
	context->pending.operations += 3; /* with cuda_check_read */
	CUresult result = cu->cuMemcpyHtoDAsync(block, words, BLOCK_BYTES, state->lane->stream);
	if (result == CUDA_SUCCESS && check_has_table(state))
		result = cu->cuMemsetD32Async(block + BLOCK_BYTES, 0,
					      words[PORTABLE_CHECK_SLOTS] *
						      (PORTABLE_CHECK_SLOT_BYTES / 4),
					      state->lane->stream);
	return cuda_check(context->device, result, fault_out, "cannot check a launch");
}

int cuda_check_begin(struct cuda_send_context *context, const struct cuda_launch *launch,
		     struct backend_fault *fault_out)
{
	struct cuda_check *check = check_take(context->device, fault_out);

	if (!check)
		return -ENOMEM;
	context->pending.check = check;
	check->dimensions = context->command->launch.dimensions;
	check->direct = context->direct_host;
	check->direct_value = context->direct_value;
	context->direct = 0; /* the host writes it, once it knows what was found */
	int error = check_need_memory(context->state, fault_out);
	if (error == 0)
		error = cuda_check_allow_all(context, launch, check->words, fault_out);
	if (error == 0)
		error = check_send_block(context, check->words, fault_out);
	if (error < 0)
		return error;
	const CUdeviceptr block = check_block_address(context->state);
	memcpy(launch->check, &block, sizeof(block));
	return 0;
}

/* ------------------------------------- behind it ---------------------------------------- */

void cuda_check_read(struct cuda_send_context *context)
{
	CUresult result = context->device->backend->library.cuMemcpyDtoHAsync(
		context->pending.check->words, check_block_address(context->state), READ_BYTES,
		context->state->lane->stream);

	if (result != CUDA_SUCCESS)
		cuda_pending_fail(context->state, &context->pending, result,
				  "cannot read what a check has found");
}

void cuda_check_end(const struct cuda_pending *pending, struct backend_fault *fault_out)
{
	const struct cuda_check *check = pending->check;
	uint64_t words[PORTABLE_CHECK_FIRST];

	memcpy(words, check->words, sizeof(words));
	cuda_kernel_check_fault(pending->kernel, words, check->dimensions, fault_out);
	if (words[PORTABLE_CHECK_STATE] == 0 && check->direct)
		atomic_store_explicit(check->direct, check->direct_value, memory_order_release);
}
