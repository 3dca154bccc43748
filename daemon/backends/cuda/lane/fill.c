#include "cuda/lane/fill.h"

#include "cuda/memory/state.h"
#include "protocol_limits.h"
#include "status.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define UNIT_BYTES  16u /* bytes that a work-item writes at once */
#define GROUP_ITEMS 256u
#define GROUPS_MAX  16384u /* for more units, each work-item writes several */
/* Estimated time of a fill: the launch, and bytes to the memory of a slow device. */
#define LAUNCH_NS    2000u
#define BYTES_PER_NS 256u

/* The period in words of a pattern of so many bytes: the least common multiple with a word. */
static uint32_t words_of_period(size_t bytes)
{
	return (uint32_t)(bytes % 4 == 0 ? bytes / 4 : bytes % 2 == 0 ? bytes / 2 : bytes);
}

void cuda_fill_make(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_fill_kernel *fill,
		    struct cuda_launch *launch_out)
{
	const uint64_t lead = address % UNIT_BYTES;

	fill->aligned = address - lead;
	fill->first = address;
	fill->last = address + size_bytes;
	fill->units = (lead + size_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
	fill->period = words_of_period(pattern_bytes);
	memset(fill->pattern, 0, sizeof(fill->pattern));
	/* The pattern begins at the first byte of the fill, and the first unit may begin before
	 * that byte. */
	for (size_t i = 0; i < fill->period * (size_t)4; i++)
		((unsigned char *)fill->pattern)[i] =
			((const unsigned char *)
				 pattern)[(i + pattern_bytes * UNIT_BYTES - lead) % pattern_bytes];
	void *parameters[] = {&fill->aligned, &fill->first,  &fill->last,
			      &fill->units,   &fill->period, fill->pattern};
	memcpy(fill->parameters, parameters, sizeof(parameters));
	uint64_t groups = (fill->units + GROUP_ITEMS - 1) / GROUP_ITEMS;
	*launch_out = (struct cuda_launch){
		.function = device->lanes->fill,
		.grid = {(unsigned)(groups < GROUPS_MAX ? groups : GROUPS_MAX), 1, 1},
		.block = {GROUP_ITEMS, 1, 1},
		.parameters = fill->parameters,
		.parameter_count = 6,
	};
}

/* The range that a FILL or USM_FILL fills. */
struct range {
	struct backend_memory *memory; /* NULL: USM */
	CUdeviceptr address;
	uint64_t size_bytes;
	const void *pattern;
	size_t pattern_bytes;
};

static bool find_buffer_range(const struct backend_command *command, struct range *range_out)
{
	struct backend_memory *memory = command->fill.memory;
	const uint64_t offset = command->fill.offset_bytes, bytes = command->fill.size_bytes;

	if (!memory || memory->array || offset > memory->size_bytes ||
	    bytes > memory->size_bytes - offset)
		return false;
	*range_out = (struct range){
		.memory = memory,
		.address = memory->address + offset,
		.size_bytes = bytes,
		.pattern = command->fill.pattern,
		.pattern_bytes = command->fill.pattern_bytes,
	};
	return true;
}

/* False: the range is empty, or only the other way of filling applies or refuses the range. */
static bool find_range(const struct backend_lane *lane, const struct backend_command *command,
		       struct range *range_out)
{
	if (!lane->device->lanes->fill || !lane->device->backend->settings.fill_kernel)
		return false;
	if (command->kind == BACKEND_COMMAND_FILL) {
		if (!find_buffer_range(command, range_out) ||
		    range_out->memory->device != lane->device)
			return false;
	} else {
		*range_out = (struct range){
			.address = (uintptr_t)command->usm.destination,
			.size_bytes = command->usm.size_bytes,
			.pattern = command->usm.pattern,
			.pattern_bytes = command->usm.pattern_bytes,
		};
		if (!cuda_usm_is_reached(lane->device, command->usm.destination,
					 command->usm.size_bytes))
			return false;
	}
	return range_out->size_bytes > 0 && range_out->pattern_bytes > 0 &&
	       range_out->pattern_bytes <= FILL_PATTERN_BYTES_MAX;
}

static int settle_range(struct backend_lane *lane, const struct range *range,
			struct backend_fault *fault_out)
{
	return range->memory ? cuda_memory_settle(lane, range->memory, fault_out) : 0;
}

int cuda_fill_enqueue(struct backend_lane *lane, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	struct range range = {.memory = NULL};
	struct cuda_fill_kernel fill;
	struct cuda_launch launch;

	if (!find_range(lane, command, &range) ||
	    cuda_fill_is_simple(range.address, range.size_bytes, range.pattern,
				range.pattern_bytes))
		return -EAGAIN;
	int error = settle_range(lane, &range, fault_out);
	if (error < 0)
		return error;
	cuda_fill_make(lane->device, range.address, range.size_bytes, range.pattern,
		       range.pattern_bytes, &fill, &launch);
	CUresult result = cuda_lane_launch(lane->state, &launch);
	return result == CUDA_SUCCESS ? 0
				      : cuda_fault(lane->device, &lane->device->backend->library,
						   result, fault_out, "cannot fill");
}

int cuda_fill_prepare(struct backend_lane *lane, const struct backend_command *command,
		      struct cuda_collected *collected, struct backend_fault *fault_out)
{
	struct range range = {.memory = NULL};
	struct cuda_fill_kernel *fill = (struct cuda_fill_kernel *)(void *)collected->storage;

	static_assert(sizeof(*fill) <= CUDA_CHAIN_STORAGE_BYTES, "it is a launch's storage");
	if (!find_range(lane, command, &range) ||
	    range.size_bytes > lane->device->backend->settings.copy_kernel_bytes)
		return -EAGAIN;
	int error = settle_range(lane, &range, fault_out);
	if (error < 0)
		return error;
	cuda_fill_make(lane->device, range.address, range.size_bytes, range.pattern,
		       range.pattern_bytes, fill, &collected->launch);
	memcpy(collected->parameters, fill->parameters, sizeof(fill->parameters));
	collected->launch.parameters = collected->parameters;
	/* The kernel reads no word behind the period. */
	collected->launch.parameter_bytes =
		(uint32_t)offsetof(struct cuda_fill_kernel, pattern) + fill->period * 4u;
	collected->launch.waits = lane->device->lanes->copy_waits;
	collected->kernel = NULL;
	collected->copy_ns = LAUNCH_NS + (uint32_t)(range.size_bytes / BYTES_PER_NS);
	return 0;
}
