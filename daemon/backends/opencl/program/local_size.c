#include "opencl/program/local_size.h"

/* Powers of two fit most ranges; the other sizes are for ranges that are multiples of ten. */
static const size_t sizes[] = {256, 250, 128, 125, 100, 64, 50, 32, 25,
			       20,  16,  10,  8,   5,   4,  3,  2,  1};

static size_t opencl_largest_divisor(size_t range, uint64_t most)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] <= most && range % sizes[i] == 0)
			return sizes[i];
	return 1;
}

void opencl_local_size(uint32_t dimensions, const size_t *global, uint64_t max_work_group_size,
		       size_t *local_out)
{
	uint64_t room = max_work_group_size ? max_work_group_size : 1;
	for (uint32_t i = 0; i < dimensions; i++) {
		/* A row that is long enough fills a work-group alone. A work-group with a short row
		 * also gets rows of the next dimension. */
		local_out[i] = opencl_largest_divisor(global[i], room < sizes[0] ? room : sizes[0]);
		room = room / local_out[i] < sizes[0] / local_out[i] ? room / local_out[i]
								     : sizes[0] / local_out[i];
		if (room == 0)
			room = 1;
	}
}
