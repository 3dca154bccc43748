#include "opencl_parts.h"

#include "opencl_local_size.h"

#include <string.h>

/*
 * So many work-groups must be saved by each further part. On PoCL a group takes 7 ns at least; a part takes some 10 us,
 * and once some 100 ms, because the kernel is compiled for another size.
 */
#define GROUPS_PER_PART 65536.0

#define ROOM_MAX 256u

struct plan {
	uint32_t dimensions, count;
	const size_t *global, *offset;
	struct opencl_part part; /* in the making */
	struct opencl_part *parts;
	double groups; /* of all parts */
};

bool opencl_parts_possible(const char *source, size_t source_bytes, const char *options)
{
	/*
	 * Words about the group, and OpenCL's own, which know parts alone; and what may bring such words from elsewhere.
	 * A word of the group that is put together in some other way does not compile then.
	 */
	static const char *const words[] = {
		"sycl_local", "sycl_group", "sycl_sub_group", "SYCL_LOCAL",   "SYCL_GROUP", "get_global", "get_local",
		"get_group",  "get_num_",   "get_work_dim",   "get_enqueued", "get_sub_",   "include",    "##",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(source, source_bytes, words[i], strlen(words[i])) || (options && strstr(options, words[i])))
			return false;
	return true;
}

static size_t power_of_two(size_t range, size_t room)
{
	size_t size = 1;

	while (size * 2 <= room && size * 2 <= range)
		size *= 2;
	return size;
}

static double groups_of(const struct opencl_part *part, uint32_t dimensions)
{
	double groups = 1;

	for (uint32_t d = 0; d < dimensions; d++)
		groups *= (double)(part->global[d] / part->local[d]);
	return groups;
}

/* From dimension `d` on, in groups of at most `room` items. */
static void divide(struct plan *plan, uint32_t d, size_t room)
{
	struct opencl_part *part = &plan->part;

	if (d == plan->dimensions) {
		plan->groups += groups_of(part, plan->dimensions);
		plan->parts[plan->count++] = *part;
		return;
	}
	const size_t range = plan->global[d];
	size_t whole = 1, size = power_of_two(range, room);
	opencl_local_size(1, &range, room, &whole);
	/* A size that divides the range leaves nothing over, so it may be somewhat smaller. */
	if (whole * 2 > size || plan->offset[d] != 0 || range >> OPENCL_PART_LEFT != 0)
		size = whole;
	const size_t left = range % size, mark = (size_t)1 << OPENCL_PART_MARK;
	part->global[d] = range - left;
	part->local[d] = size;
	part->offset[d] = left ? mark | left << OPENCL_PART_LEFT : plan->offset[d];
	divide(plan, d + 1, room / size);
	if (left == 0)
		return;
	part->global[d] = left;
	part->local[d] = 1;
	part->offset[d] = mark | (range - left);
	divide(plan, d + 1, room);
}

uint32_t opencl_parts(uint32_t dimensions, const size_t *global, const size_t *offset, uint64_t max_work_group_size,
		      bool possible, struct opencl_part *parts_out)
{
	struct opencl_part parts[OPENCL_PARTS_MAX];
	struct opencl_part one = {.global = {0}};
	struct plan plan = {.dimensions = dimensions, .global = global, .offset = offset, .parts = parts};
	uint64_t room = max_work_group_size == 0 ? 1 : max_work_group_size;

	for (uint32_t d = 0; d < dimensions; d++) {
		one.global[d] = global[d];
		one.offset[d] = offset[d];
	}
	opencl_local_size(dimensions, global, max_work_group_size, one.local);
	parts_out[0] = one;
	if (!possible)
		return 1;
	divide(&plan, 0, room < ROOM_MAX ? room : ROOM_MAX);
	if (groups_of(&one, dimensions) - plan.groups <= GROUPS_PER_PART * (plan.count - 1))
		return 1;
	memcpy(parts_out, parts, plan.count * sizeof(*parts));
	return plan.count;
}
