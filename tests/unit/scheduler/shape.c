/* How the fair queue recognises similar launches: by their kernel and a class of ranges. */
#include "scheduler/admission/admission.h"
#include "scheduler/state/task.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

enum { GROUP = 64, SIDE = 256, MEMBERS = 16 };

static uint64_t shape_of(uint64_t items)
{
	const struct task_command command = {
		.backend = {.kind = BACKEND_COMMAND_LAUNCH,
			    .launch = {.dimensions = 1, .global = {items}, .local = {GROUP}}},
	};
	return sched_admission_shape(&command);
}

static int sched_shape_compare(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
	return (a > b) - (a < b);
}

static uint32_t count_different(uint64_t *shapes, uint32_t count)
{
	uint32_t different = 1;
	qsort(shapes, count, sizeof(*shapes), sched_shape_compare);
	for (uint32_t i = 1; i < count; i++)
		different += shapes[i] != shapes[i - 1];
	return different;
}

Test(admission_shape, TR8_ranges_that_shrink_at_each_launch_are_few_shapes)
{
	uint64_t shapes[SIDE - 1];
	for (uint64_t left = 1; left < SIDE; left++)
		shapes[left - 1] = shape_of(left * left);
	cr_expect(le(u32, count_different(shapes, SIDE - 1), 128));
}

Test(admission_shape, TR8_ranges_that_differ_much_are_different_shapes)
{
	for (uint64_t items = 1; items < UINT64_MAX / 2; items *= 2)
		cr_expect(ne(u64, shape_of(items), shape_of(2 * items)), "%lu items", items);
	cr_expect(ne(u64, shape_of(1000), shape_of(1250)));
	cr_expect(eq(u64, shape_of(1000), shape_of(1001)));
}

static uint64_t shape_of_stretch(uint64_t first_left, uint32_t count)
{
	struct task_burst_member members[MEMBERS] = {0};
	struct task_burst burst = {.members = members, .count = count};
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t left = first_left - i / 2;
		members[i].backend.launch.dimensions = 1;
		members[i].backend.launch.global[0] = i % 2 ? left * left : left;
		members[i].backend.launch.local[0] = GROUP;
	}
	const struct task_command command = {.backend = {.kind = BACKEND_COMMAND_LAUNCH},
					     .burst = &burst};
	return sched_admission_shape(&command);
}

Test(admission_shape, TR8_stretches_that_begin_anywhere_are_few_shapes)
{
	uint64_t shapes[SIDE - MEMBERS];
	for (uint32_t i = 0; i < SIDE - MEMBERS; i++)
		shapes[i] = shape_of_stretch(MEMBERS + i, MEMBERS);
	cr_expect(le(u32, count_different(shapes, SIDE - MEMBERS), 16));
	cr_expect(ne(u64, shape_of_stretch(100, 8), shape_of_stretch(100, 9)));
}
