/* Boxes and parts in the bare protocol: the engine makes its own checks, whatever a library has
 * checked. */
#include "protocol/groups_fixture.h"

#include <string.h>

struct box_build {
	struct build build;
	Sycl__V1__Box box;
	Sycl__V1__ArenaRange arena;
};

/* A box of 4 x 3 x 2 bytes from BUFFER to OTHER. */
static void begin_box_copy(struct box_build *b)
{
	build_begin(&b->build);
	build_require(&b->build, BUFFER, ACCESS_MODE_READ);
	build_require(&b->build, OTHER, ACCESS_MODE_WRITE);
	b->build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	b->build.group.copy = &b->build.copy;
	b->build.source.place_case = b->build.destination.place_case =
		SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	b->build.destination.requirement = 1;
	sycl__v1__box__init(&b->box);
	b->box.width_bytes = 4;
	b->box.rows = 3;
	b->box.slices = 2;
	b->box.source_row_pitch = b->box.destination_row_pitch = 16;
	b->box.source_slice_pitch = b->box.destination_slice_pitch = 64;
	b->build.copy.box = &b->box;
}

Test(groups, D20_boxes_are_checked)
{
	groups_start();
	struct box_build b;
	begin_box_copy(&b);
	b.build.copy.size_bytes = 24;
	expect_refused(&b.build, STATUS_INVALID, "not both");
	const struct {
		uint64_t *field;
		uint64_t value;
		const char *text;
	} cases[] = {
		{&b.box.source_row_pitch, 3, "overlap"},
		{&b.box.destination_row_pitch, 0, "overlap"},
		{&b.box.source_slice_pitch, 40, "overlap"},
		{&b.box.destination_slice_pitch, 65, "overlap"},
		{&b.box.rows, UINT64_MAX, "overlap"},
		{&b.box.slices, UINT64_MAX, "overlap"},
		{&b.box.width_bytes, UINT64_MAX, "overlap"},
		{&b.box.source_slice_pitch, UINT64_MAX & ~(uint64_t)15, "overlap"},
		{&b.box.slices, 65, "not inside"},
		{&b.box.source_slice_pitch, 1ull << 40, "not inside"},
		{&b.build.source.offset_bytes, 4096 - 99, "not inside"},
		{&b.build.destination.offset_bytes, UINT64_MAX, "not inside"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_box_copy(&b);
		*cases[i].field = cases[i].value;
		expect_refused(&b.build, STATUS_INVALID, cases[i].text);
	}
	/* Boxes may be beside each other in every row; one byte further to the left they
	 * overlap. */
	for (uint64_t distance = 4; distance >= 3; distance--) {
		begin_box_copy(&b);
		b.build.group.n_requirements = 0;
		build_require(&b.build, BUFFER, ACCESS_MODE_READ_WRITE);
		b.build.destination.requirement = 0;
		b.build.destination.offset_bytes = distance;
		if (distance == 3)
			expect_refused(&b.build, STATUS_INVALID, "overlap");
		else
			(void)build_submit(&b.build, false);
	}
	cr_assert(eq(u32, groups_wait(false), 1), "the ones before have failed");
	expect_poisoned(OTHER, 40);
	groups_stop();
}

/* The same buffer twice in a group, by separate ranges. */
Test(groups, D20_C8_parts_of_one_buffer_are_no_way_around_the_check)
{
	groups_start();
	struct box_build b;
	begin_box_copy(&b);
	b.build.group.n_requirements = 0;
	build_require(&b.build, BUFFER, ACCESS_MODE_READ);
	build_require(&b.build, BUFFER, ACCESS_MODE_WRITE);
	for (int i = 0; i < 2; i++) {
		b.build.requirements[i].order_offset_bytes = b.build.requirements[i].offset_bytes =
			(uint64_t)i * 64;
		b.build.requirements[i].order_size_bytes = b.build.requirements[i].size_bytes = 128;
	}
	b.build.copy.box = NULL;
	b.build.copy.size_bytes = 64;
	b.build.source.offset_bytes = 64;
	b.build.destination.offset_bytes = 70;
	expect_refused(&b.build, STATUS_INVALID, "overlap");
	b.build.source.offset_bytes = 65; /* beyond its part */
	expect_refused(&b.build, STATUS_INVALID, "not inside");
	b.build.requirements[0].order_size_bytes = 4097;
	expect_refused(&b.build, STATUS_ACCESSOR, "not inside a buffer of 4096");
	b.build.requirements[0].order_size_bytes = UINT64_MAX;
	expect_refused(&b.build, STATUS_ACCESSOR, "not inside a buffer of 4096");
	b.build.requirements[0].order_size_bytes = 64;
	expect_refused(&b.build, STATUS_ACCESSOR, "not inside the sub-buffer");
	expect_poisoned(BUFFER, 40);
	groups_stop();
}

Test(groups, D20_E3_a_box_goes_through_an_arena)
{
	groups_start();
	uint8_t *arena = client->arenas[0]->address;
	struct box_build b;
	for (int i = 0; i < 256; i++)
		arena[16384 + i] = (uint8_t)(i + 1);
	begin_box_copy(&b);
	sycl__v1__arena_range__init(&b.arena);
	b.arena.offset_bytes = 16384;
	b.arena.size_bytes = 64 + 2 * 16 + 4;
	b.build.source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	b.build.source.arena = &b.arena;
	b.box.destination_slice_pitch = 128;
	b.build.destination.offset_bytes = 1;
	uint8_t expected[4096] = {0};
	for (int z = 0; z < 2; z++)
		for (int y = 0; y < 3; y++)
			memcpy(expected + 1 + z * 128 + y * 16, arena + 16384 + z * 64 + y * 16, 4);
	(void)build_submit(&b.build, false);
	groups_access(40, OTHER, ACCESS_MODE_READ, 40);
	cr_assert(eq(u32, raw_wait_slot(client, 40, 1), 0));
	cr_assert_arr_eq((uint8_t *)groups_words(OTHER), expected, sizeof(expected));
	b.arena.size_bytes--; /* too short for the box */
	expect_refused(&b.build, STATUS_INVALID, "cannot hold");
	groups_stop();
}

static void groups_boxes_access_part(uint32_t index, uint64_t offset, uint64_t size,
				     uint64_t order_offset, uint64_t order_size)
{
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = raw_id(OBJECT_HOST_ACCESSOR, index);
	access.buffer = raw_id(OBJECT_BUFFER, BUFFER);
	access.mode = ACCESS_MODE_READ;
	access.slot = index;
	access.slot_value = 1;
	access.offset_bytes = offset;
	access.size_bytes = size;
	access.order_offset_bytes = order_offset;
	access.order_size_bytes = order_size;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	(void)raw_send(client, &command);
}

Test(groups, D1_C8_ranges_of_host_accessors_are_checked)
{
	groups_start();
	static const struct {
		uint64_t offset, size, order_offset, order_size;
		bool good;
	} cases[] = {
		{0, 4096, 0, 0, true},          {4096, 0, 0, 0, true},
		{0, 4097, 0, 0, false},         {UINT64_MAX, 2, 0, 0, false},
		{128, 64, 128, 64, true},       {128, 64, 128, 63, false},
		{127, 64, 128, 64, false},      {0, 0, 0, 8192, false},
		{64, 4, UINT64_MAX, 64, false}, {64, 4, 64, UINT64_MAX, false},
	};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		groups_boxes_access_part(50 + i, cases[i].offset, cases[i].size,
					 cases[i].order_offset, cases[i].order_size);
		cr_assert(eq(u32, raw_wait_slot(client, 50 + i, 1), cases[i].good ? 0 : 1),
			  "case %u", i);
	}
	groups_stop();
}
