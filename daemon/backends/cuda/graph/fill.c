/*
 * Fills as nodes. The driver's memset nodes take no memory of a pool, so it is a kernel. It writes
 * 16 bytes at once where they lie inside, and single ones at the two ends.
 */
#include "cuda/graph/graph.h"

#include <string.h>

#define UNIT_BYTES  16u /* that a work-item writes at once */
#define GROUP_ITEMS 256u
#define GROUPS_MAX  16384u /* each work-item goes on from there */

/* Words after which a pattern of so many bytes begins again: the least multiple of both. */
static uint32_t words_of_period(size_t bytes)
{
	return (uint32_t)(bytes % 4 == 0 ? bytes / 4 : bytes % 2 == 0 ? bytes / 2 : bytes);
}

void cuda_fill_plan(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_plan *plan_out)
{
	struct cuda_fill_kernel *fill = &plan_out->fill;
	const uint64_t lead = address % UNIT_BYTES;

	fill->aligned = address - lead;
	fill->first = address;
	fill->last = address + size_bytes;
	fill->units = (lead + size_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
	fill->period = words_of_period(pattern_bytes);
	memset(fill->pattern, 0, sizeof(fill->pattern));
	/* The pattern begins at the first byte, and the first unit perhaps before it. */
	for (size_t i = 0; i < fill->period * (size_t)4; i++)
		((unsigned char *)fill->pattern)[i] =
			((const unsigned char *)
				 pattern)[(i + pattern_bytes * UNIT_BYTES - lead) % pattern_bytes];
	void *parameters[] = {&fill->aligned, &fill->first,  &fill->last,
			      &fill->units,   &fill->period, fill->pattern};
	memcpy(fill->parameters, parameters, sizeof(parameters));
	uint64_t groups = (fill->units + GROUP_ITEMS - 1) / GROUP_ITEMS;
	plan_out->form = CUDA_FORM_KERNEL;
	plan_out->launch = (struct cuda_launch){
		.function = device->lanes->fill,
		.grid = {(unsigned)(groups < GROUPS_MAX ? groups : GROUPS_MAX), 1, 1},
		.block = {GROUP_ITEMS, 1, 1},
		.parameters = fill->parameters,
		.parameter_count = 6,
	};
}
