/* Groups that are sent again by their shapes: their effects, the errors that are the usual ones,
 * and the records that close the session. */
#include "cleanup.h"
#include "protocol/groups_fixture.h"
#include "resubmit.h"

#include <string.h>

enum { SHAPE = 1, GENERATION = 7 };

/* Submits a group that defines a shape. */
static uint64_t groups_shapes_define(struct build *build, uint32_t shape, uint32_t generation)
{
	build->group.shape = shape;
	build->group.shape_generation = generation;
	return build_submit(build, false);
}

static uint64_t define_fill(uint32_t value)
{
	struct build build;
	build_fill(&build, BUFFER, value);
	return groups_shapes_define(&build, SHAPE, GENERATION);
}

struct again {
	struct resubmit_record head;
	uint8_t rest[256];
};

static struct again groups_shapes_make_record(uint32_t shape, uint32_t generation, const void *rest,
					      uint32_t rest_bytes)
{
	struct again record = {.head = {.shape = shape,
					.generation = generation,
					.group = groups_number(false),
					.rest_bytes = rest_bytes}};
	if (rest_bytes)
		memcpy(record.rest, rest, rest_bytes);
	return record;
}

static uint64_t send_again(const struct again *record)
{
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, record,
			     (uint32_t)sizeof(record->head) + record->head.rest_bytes);
	return record->head.group;
}

static uint64_t fill_again(uint32_t value)
{
	struct again record = groups_shapes_make_record(SHAPE, GENERATION, &value, sizeof(value));
	return send_again(&record);
}

Test(groups, B15_a_shape_runs_again_with_other_values)
{
	groups_start();
	(void)define_fill(5);
	expect_words(BUFFER, 5, 40);
	for (uint32_t i = 0; i < 20; i++)
		(void)fill_again(100 + i);
	expect_words(BUFFER, 119, 41);
	cr_assert(eq(u32, groups_wait(false), 0));
	Sycl__V1__Usage usage = groups_usage();
	cr_assert(eq(u64, usage.groups_submitted, 21));
	cr_assert(eq(u64, usage.groups_resubmitted, 20));
	cr_assert(eq(u64, usage.groups_completed, 21));
	groups_stop();
}

Test(groups, H1_a_resubmitted_group_writes_the_slot_that_its_record_names)
{
	groups_start();
	(void)define_fill(5);
	uint32_t value = 6;
	struct again record = groups_shapes_make_record(SHAPE, GENERATION, &value, sizeof(value));
	record.head.flags = RESUBMIT_WANTS_SLOT;
	record.head.slot = EVENT_SLOT;
	record.head.slot_value = 33;
	(void)send_again(&record);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 33), 0));
	expect_words(BUFFER, 6, 40);
	groups_stop();
}

/* The record has its own events. If one of them has failed, it fails; an event of another record
 * does not affect it. */
Test(groups, M6_the_events_of_a_resubmitted_group_are_its_own)
{
	groups_start();
	struct build build;
	build_begin(&build);
	build_launch(&build, NOOP, 1);
	uint64_t good = build_submit(&build, false);
	build_begin(&build);
	build_launch(&build, BROKEN, 1);
	uint64_t broken = build_submit(&build, false);
	expect_failed(groups_queue(false), broken, STATUS_KERNEL, "");
	build_fill(&build, BUFFER, 1);
	build_depend(&build, groups_queue(false), good);
	(void)groups_shapes_define(&build, SHAPE, GENERATION);
	struct {
		struct resubmit_event event;
		uint32_t value;
	} rest = {{groups_queue(false), broken}, 2};
	struct again record = groups_shapes_make_record(SHAPE, GENERATION, &rest, 20);
	(void)send_again(&record);
	expect_failed(groups_queue(false), record.head.group, STATUS_DEPENDENCY_FAILED, "");
	/* The buffer's contents were lost with it. A group that does not need them makes the buffer
	 * valid again. */
	build_fill(&build, BUFFER, 3);
	build.requirements[0].mode = ACCESS_WRITE_BIT;
	(void)build_submit(&build, false);
	rest.event.group = good;
	rest.value = 4;
	record = groups_shapes_make_record(SHAPE, GENERATION, &rest, 20);
	(void)send_again(&record);
	expect_words(BUFFER, 4, 40);
	groups_stop();
}

Test(groups, B12_a_resubmitted_group_is_ordered_like_any_other)
{
	groups_start();
	(void)define_fill(1);
	(void)groups_wait(false);
	struct build build;
	build_hold(&build, 3);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	(void)build_submit(&build, false);
	uint32_t value = 2;
	struct again record = groups_shapes_make_record(SHAPE, GENERATION, &value, sizeof(value));
	record.head.flags = RESUBMIT_WANTS_SLOT;
	record.head.slot = EVENT_SLOT;
	record.head.slot_value = 1;
	(void)send_again(&record);
	/* Meanwhile independent groups are submitted and end, on every lane. */
	for (uint32_t i = 0; i < 40; i++) {
		build_fill(&build, OTHER, i);
		build.group.wants_slot = true;
		build.group.slot = EVENT_SLOT + 1;
		build.group.slot_value = i + 1;
		(void)build_submit(&build, false);
		(void)raw_wait_slot(client, EVENT_SLOT + 1, i + 1);
	}
	cr_assert(eq(u32, atomic_load(&client->slots[EVENT_SLOT].sequence), 0),
		  "it runs behind what holds its buffer");
	fake_gate_open(3);
	cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT, 1), 0));
	expect_words(BUFFER, 2, 40);
	groups_stop();
}

Test(groups, a_shape_is_kept_also_when_its_first_group_is_refused)
{
	groups_start();
	struct build build;
	build_fill(&build, BUFFER, 1);
	build.launch.n_local = 1;
	build.global[0] = 10;
	build.local[0] = 3;
	uint64_t number = groups_shapes_define(&build, SHAPE, GENERATION);
	expect_failed(groups_queue(false), number, STATUS_ND_RANGE, "not divisible");
	for (int i = 0; i < 3; i++) {
		number = fill_again(9);
		expect_failed(groups_queue(false), number, STATUS_ND_RANGE, "not divisible");
	}
	expect_poisoned(BUFFER, 40);
	groups_stop();
}

/* A queue beyond the limit of objects does not exist. Groups that name it fail and do not count as
 * submitted. */
Test(groups, groups_of_no_queue_are_not_counted_as_resubmitted)
{
	groups_start();
	uint64_t nowhere = raw_id(OBJECT_QUEUE, UINT32_MAX);
	struct build build;
	build_fill(&build, BUFFER, 1);
	build.group.queue = nowhere;
	build.group.group = 1;
	build.group.shape = SHAPE;
	build.group.shape_generation = GENERATION;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &build.group;
	(void)raw_send(client, &command);
	expect_failed(nowhere, 1, STATUS_QUOTA, "object");
	for (int i = 0; i < 3; i++)
		expect_failed(nowhere, fill_again(9), STATUS_QUOTA, "object");
	Sycl__V1__Usage usage = groups_usage();
	cr_assert(eq(u64, usage.groups_submitted, 0));
	cr_assert(eq(u64, usage.groups_resubmitted, 0));
	groups_stop();
}

Test(groups, another_definition_takes_the_place_of_the_first)
{
	groups_start();
	(void)define_fill(1);
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build_accessor(&build, 0);
	build_launch(&build, INCREMENT, 1024);
	(void)groups_shapes_define(&build, SHAPE, GENERATION + 1);
	struct again record = groups_shapes_make_record(SHAPE, GENERATION + 1, NULL, 0);
	(void)send_again(&record);
	expect_words(BUFFER, 3, 40);
	(void)fill_again(1);
	groups_expect_closed("shape 1 of generation 7 is not defined");
}

/* A waiting group keeps the values of its record, even if record, shape and number change before
 * its turn comes. */
Test(groups, B15_a_resubmitted_group_that_waits_keeps_its_values)
{
	groups_start();
	(void)define_fill(1);
	struct build build;
	build_hold(&build, 5);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	(void)build_submit(&build, false);
	(void)fill_again(2);
	raw_round_trip(client); /* it has been read */
	memset(client->submit.data, 0xee, client->submit.bytes);
	build_fill(&build, OTHER, 7);
	(void)groups_shapes_define(&build, SHAPE, GENERATION + 1);
	uint32_t value = 8;
	struct again record =
		groups_shapes_make_record(SHAPE, GENERATION + 1, &value, sizeof(value));
	(void)send_again(&record);
	expect_words(OTHER, 8, 40);
	fake_gate_open(5);
	expect_words(BUFFER, 2, 41);
	groups_stop();
}

/* Some have been read and wait; some are still in the ring when their client ends. */
Test(groups, N4_a_client_that_goes_leaves_no_shape_and_no_record_behind)
{
	enum { READ = 100, UNREAD = 300 };
	groups_start();
	(void)define_fill(1);
	struct build build;
	build_hold(&build, 6);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	(void)build_submit(&build, false);
	for (uint32_t i = 0; i < READ; i++)
		(void)fill_again(i);
	raw_round_trip(client);
	client->silent = true;
	for (uint32_t i = 0; i < UNREAD; i++)
		(void)fill_again(i);
	close_fd(&client->socket);
	fake_gate_open(6);
	Sycl__V1__Usage usage = groups_gone();
	cr_assert(ge(u64, usage.groups_resubmitted, READ));
	cr_assert(eq(u64, usage.groups_submitted, usage.groups_resubmitted + 2));
	cr_assert(eq(u64, usage.groups_completed + usage.groups_failed, usage.groups_submitted));
	cr_assert(eq(u64, usage.buffer_bytes, 0));
}

Test(groups, shapes_have_numbers_up_to_their_limit)
{
	groups_start();
	for (uint32_t shape = 1; shape <= SHAPES_MAX; shape++) {
		struct build build;
		build_fill(&build, BUFFER, shape);
		(void)groups_shapes_define(&build, shape, shape * 3);
	}
	for (uint32_t shape = 1; shape <= SHAPES_MAX; shape++) {
		uint32_t value = 1000 + shape;
		struct again record =
			groups_shapes_make_record(shape, shape * 3, &value, sizeof(value));
		(void)send_again(&record);
	}
	expect_words(BUFFER, 1000 + SHAPES_MAX, 40);
	groups_stop();
}

/* A released object cannot be used, whether it was looked up for each group or for an earlier
 * one. */
Test(groups, a_shape_keeps_nothing_alive, .timeout = 60)
{
	static const struct {
		enum object_type type;
		uint32_t index;
		const char *words;
	} released[] = {{OBJECT_BUFFER, BUFFER, "names no buffer"},
			{OBJECT_KERNEL, FIRST_KERNEL + FILL, "names no kernel"},
			{OBJECT_QUEUE, QUEUE, "names no queue"}};
	for (size_t i = 0; i < 2 * sizeof(released) / sizeof(*released); i++) {
		const size_t again_before = i % 2 * 2;
		groups_start();
		(void)define_fill(1);
		for (size_t k = 0; k < again_before; k++)
			(void)fill_again(1);
		(void)groups_wait(false);
		uint64_t id = raw_id(released[i / 2].type, released[i / 2].index);
		(void)raw_release(client, id);
		const Sycl__V1__Reply *reply;
		do {
			reply = raw_reply_to(client, 0);
		} while (reply->body_case != SYCL__V1__REPLY__BODY_RELEASED);
		cr_assert(eq(u64, reply->released->object, id), "it is gone at once");
		(void)fill_again(2);
		groups_expect_closed(released[i / 2].words);
	}
}

/* Each of these differs from a valid record in one place. */
Test(groups, records_that_are_wrong_close_the_session, .timeout = 60)
{
	static const struct wrong_record wrong[] = {
		{.shape = -1, .words = "0 is not the number of a shape"},
		{.shape = 1, .words = "shape 2 of generation 7 is not defined"},
		{.shape = SHAPES_MAX, .words = "129 is not the number of a shape"},
		{.shape = -2, .words = "is not the number of a shape"},
		{.generation = 1, .words = "generation 8 is not defined"},
		{.generation = -7, .words = "generation 0 is not defined"},
		{.rest = 1, .words = "does not fit shape 1"},
		{.rest = -1, .words = "does not fit shape 1"},
		{.rest = 1, .payload = 1, .words = "does not fit shape 1"},
		{.rest = -1, .payload = -1, .words = "does not fit shape 1"},
		{.rest = -4, .payload = -4, .words = "does not fit shape 1"},
		{.payload = 4, .words = "does not fit shape 1"},
		{.payload = -4, .words = "does not fit shape 1"},
		{.payload = 60000, .words = "does not fit shape 1"},
		{.payload = -5, .words = "32 are the least"},
		{.payload = -36, .words = "32 are the least"},
		{.flags = 4, .words = "does not fit shape 1"},
		{.flags = 1u << 31, .words = "does not fit shape 1"},
		{.slot = 3, .words = "does not fit shape 1"},
		{.flags = RESUBMIT_WANTS_SLOT, .slot = COMPLETION_SLOTS, .words = "slot"},
		{.flags = RESUBMIT_WANTS_SLOT, .slot = UINT32_MAX, .words = "slot"},
		{.group = 1, .words = "came where"},
		{.group = -1, .words = "came where"},
	};
	static uint8_t payload[PACKET_BYTES_MAX];
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		groups_start();
		(void)define_fill(1);
		uint32_t value = 2;
		struct again record =
			groups_shapes_make_record(SHAPE, GENERATION, &value, sizeof(value));
		wrong_record_apply(&wrong[i], &record.head);
		memset(payload, 0, sizeof(payload));
		memcpy(payload, &record, sizeof(record.head) + sizeof(value));
		(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, payload,
				     (uint32_t)(36 + wrong[i].payload));
		groups_expect_closed(wrong[i].words);
	}
}

Test(groups, definitions_that_are_no_shape_close_the_session)
{
	for (int i = 0; i < 4; i++) {
		groups_start();
		struct build build;
		build_fill(&build, BUFFER, 1);
		uint32_t shape = SHAPE;
		const char *words = "more than a shape may have";
		if (i == 0) {
			build.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
			build.group.fill = &build.fill;
		} else if (i == 1) {
			build.arguments[1].value_case = SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER;
			build.arguments[1].is_sampler = true;
		} else if (i == 2) {
			static uint8_t bytes[SHAPE_VALUE_BYTES_MAX + 1];
			build.arguments[1].bytes = (ProtobufCBinaryData){sizeof(bytes), bytes};
		} else {
			shape = SHAPES_MAX + 1;
			words = "129 is not the number of a shape";
		}
		(void)groups_shapes_define(&build, shape, GENERATION);
		groups_expect_closed(words);
	}
}
