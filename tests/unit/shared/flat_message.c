/* The frequent messages without protobuf-c: packing gives the same bytes, and unpacking the same
 * numbers. */
#include "flat_message.h"

#include "command.pb-c.h"
#include "packet.h"
#include "protocol_limits.h"

#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct decode_arena arena;

static void open_arena(void)
{
	cr_assert(eq(int, decode_arena_init(&arena, DECODE_BYTES_MAX), 0));
}

static void close_arena(void)
{
	decode_arena_fini(&arena);
}

TestSuite(flat_messages, .timeout = 60, .init = open_arena, .fini = close_arena);

static uint64_t random_state = 88172645463325252ull;

static uint64_t flat_message_random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Of every length, and often 0. */
static uint64_t random_value(uint32_t bits)
{
	const uint64_t number = flat_message_random_number();
	return number % 4 == 0 ? 0 : flat_message_random_number() >> (64 - bits + number % bits);
}

static void random_access(Sycl__V1__HostAccess *access)
{
	access->accessor = random_value(64);
	access->buffer = random_value(64);
	access->mode = (uint32_t)random_value(32);
	access->slot = (uint32_t)random_value(32);
	access->slot_value = (uint32_t)random_value(32);
	access->offset_bytes = random_value(64);
	access->size_bytes = random_value(64);
	access->order_offset_bytes = random_value(64);
	access->order_size_bytes = random_value(64);
}

static void put_values(const Sycl__V1__HostAccess *access, uint64_t values[FLAT_MESSAGE_FIELDS])
{
	const uint64_t all[] = {access->accessor,
				access->buffer,
				access->mode,
				access->slot,
				access->slot_value,
				access->offset_bytes,
				access->size_bytes,
				access->order_offset_bytes,
				access->order_size_bytes};
	memcpy(values, all, sizeof(all));
}

static size_t pack_command(Sycl__V1__HostAccess *access, uint8_t *bytes)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = access;
	return sycl__v1__command__pack(&command, bytes);
}

/* If the quick way accepts a message, protobuf-c must accept it with the same numbers. Returns
 * whether it does. */
static bool is_taken_alike(const uint8_t *bytes, size_t count)
{
	struct flat_message flat;
	uint64_t values[FLAT_MESSAGE_FIELDS];
	if (!flat_message_unpack(bytes, count, &flat) ||
	    flat.body != SYCL__V1__COMMAND__BODY_HOST_ACCESS)
		return false;
	for (int i = 2; i < 5; i++)
		if (flat.values[i] > UINT32_MAX)
			return false;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int,
		     message_unpack(&sycl__v1__command__descriptor, &arena, bytes, count, &message),
		     0));
	const Sycl__V1__Command *command = (const Sycl__V1__Command *)message;
	cr_assert(eq(int, (int)command->body_case, SYCL__V1__COMMAND__BODY_HOST_ACCESS));
	cr_assert(eq(sz, command->base.n_unknown_fields, 0));
	cr_assert(eq(sz, command->host_access->base.n_unknown_fields, 0));
	put_values(command->host_access, values);
	cr_assert(eq(int, memcmp(values, flat.values, sizeof(values)), 0));
	return true;
}

Test(flat_messages, packs_the_bytes_of_protobuf)
{
	for (int i = 0; i < 100000; i++) {
		Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
		random_access(&access);
		uint8_t bytes[2 * FLAT_MESSAGE_BYTES], flat_bytes[FLAT_MESSAGE_BYTES];
		struct flat_message flat = {.body = SYCL__V1__COMMAND__BODY_HOST_ACCESS,
					    .fields = FLAT_MESSAGE_FIELDS};
		put_values(&access, flat.values);
		const size_t count = pack_command(&access, bytes);
		cr_assert(eq(sz, flat_message_pack(&flat, flat_bytes), count));
		cr_assert(eq(int, memcmp(bytes, flat_bytes, count), 0));
		cr_assert(is_taken_alike(bytes, count));
	}
}

/* Changes up to two bytes, and now and then cuts the message. Returns its size then. */
static size_t damaged(uint8_t *bytes, size_t count)
{
	for (uint64_t damage = flat_message_random_number() % 3; damage > 0; damage--)
		bytes[flat_message_random_number() % count] = (uint8_t)flat_message_random_number();
	return flat_message_random_number() % 4 == 0 ? flat_message_random_number() % (count + 1)
						     : count;
}

Test(flat_messages, damaged_bytes_are_refused_or_mean_the_same)
{
	int taken = 0;
	for (int i = 0; i < 300000; i++) {
		Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
		random_access(&access);
		uint8_t bytes[2 * FLAT_MESSAGE_BYTES];
		size_t count = pack_command(&access, bytes);
		count = damaged(bytes, count);
		taken += is_taken_alike(bytes, count);
	}
	cr_assert(gt(int, taken, 1000));
}

static size_t pack_random_launch(uint8_t *bytes)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphLaunch launch = SYCL__V1__GRAPH_LAUNCH__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &group;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &launch;
	group.queue = random_value(64);
	group.group = random_value(64);
	group.wants_slot = random_value(1) != 0;
	group.slot = (uint32_t)random_value(32);
	group.slot_value = (uint32_t)random_value(32);
	group.after_all = random_value(1) != 0;
	group.has_event = random_value(1) != 0;
	launch.graph = random_value(64) | 1;
	return sycl__v1__command__pack(&command, bytes);
}

static bool is_launch_taken_alike(const uint8_t *bytes, size_t count)
{
	struct flat_graph_launch flat;
	if (!flat_graph_launch_unpack(bytes, count, &flat))
		return false;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int,
		     message_unpack(&sycl__v1__command__descriptor, &arena, bytes, count, &message),
		     0));
	const Sycl__V1__Command *command = (const Sycl__V1__Command *)message;
	cr_assert(eq(int, (int)command->body_case, SYCL__V1__COMMAND__BODY_COMMAND_GROUP));
	const Sycl__V1__CommandGroup *group = command->command_group;
	cr_assert(eq(int, (int)group->action_case, SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH));
	cr_assert(eq(sz, command->base.n_unknown_fields, 0));
	cr_assert(eq(sz, group->base.n_unknown_fields, 0));
	cr_assert(eq(sz, group->graph_launch->base.n_unknown_fields, 0));
	cr_assert(eq(sz, group->graph_launch->n_host_tasks, 0));
	cr_assert(eq(sz, group->n_requirements + group->n_depends_on, 0));
	cr_assert(eq(u32, group->shape | group->shape_generation, 0));
	cr_assert(eq(u64, group->queue, flat.queue));
	cr_assert(eq(u64, group->group, flat.group));
	cr_assert(eq(u64, group->graph_launch->graph, flat.graph));
	cr_assert(eq(u32, group->slot, flat.slot));
	cr_assert(eq(u32, group->slot_value, flat.slot_value));
	cr_assert(eq(int, group->wants_slot, flat.wants_slot));
	cr_assert(eq(int, group->after_all, flat.after_all));
	cr_assert(eq(int, group->has_event, flat.has_event));
	return true;
}

Test(flat_messages, launches_of_graphs_are_unpacked_as_by_protobuf)
{
	for (int i = 0; i < 100000; i++) {
		uint8_t bytes[256];
		const size_t count = pack_random_launch(bytes);
		cr_assert(is_launch_taken_alike(bytes, count));
	}
}

Test(flat_messages, damaged_launches_of_graphs_are_refused_or_mean_the_same)
{
	int taken = 0;
	for (int i = 0; i < 300000; i++) {
		uint8_t bytes[256];
		size_t count = pack_random_launch(bytes);
		count = damaged(bytes, count);
		taken += is_launch_taken_alike(bytes, count);
	}
	cr_assert(gt(int, taken, 1000));
}

Test(flat_messages, launches_of_graphs_with_more_are_left_to_protobuf)
{
	static const struct {
		const char *bytes;
		size_t count;
	} unusual[] = {
		{"\x52\x07\x08\x01\xf2\x01\x02\x08", 8},                  /* ends too early */
		{"\x52\x08\x08\x01\xf2\x01\x02\x08\x05\x00", 10},         /* more than the group */
		{"\x52\x05\x08\x01\xf2\x01\x00", 7},                      /* no graph */
		{"\x52\x09\x08\x01\xf2\x01\x04\x08\x05\x12\x00", 11},     /* a host task */
		{"\x52\x09\x08\x01\x3a\x00\xf2\x01\x02\x08\x05", 11},     /* an event */
		{"\x52\x0a\x08\x01\xa0\x01\x01\xf2\x01\x02\x08\x05", 12}, /* a shape */
		{"\x52\x09\x10\x01\x08\x01\xf2\x01\x02\x08\x05", 11},     /* not in their order */
		{"\x52\x0c\x20\x80\x80\x80\x80\x10\xf2\x01\x02\x08\x05", 13}, /* length is wrong */
		{"\x52\x0b\x20\x80\x80\x80\x80\x10\xf2\x01\x02\x08\x05", 13}, /* slot of 33 bits */
		{"\x5a\x07\x08\x01\xf2\x01\x02\x08\x05", 9},                  /* another command */
	};
	for (size_t i = 0; i < sizeof(unusual) / sizeof(*unusual); i++) {
		struct flat_graph_launch flat;
		cr_assert(not(flat_graph_launch_unpack(unusual[i].bytes, unusual[i].count, &flat)),
			  "bytes %zu", i);
	}
}

Test(flat_messages, unusual_bytes_are_left_to_protobuf)
{
	static const struct {
		const char *bytes;
		size_t count;
	} unusual[] = {
		{"", 0},
		{"\x5a", 1},
		{"\x5a\x02\x08\x05\x00", 5},     /* more than the field */
		{"\x5a\x03\x08\x05", 4},         /* less */
		{"\x5a\x04\x10\x05\x08\x05", 6}, /* not in their order */
		{"\x5a\x04\x08\x05\x08\x06", 6}, /* twice */
		{"\x5a\x02\x50\x05", 4},         /* field 10 */
		{"\x5a\x02\x00\x05", 4},         /* field 0 */
		{"\x5a\x02\x0a\x00", 4},         /* bytes */
		{"\x58\x05", 2},                 /* a number outside */
		{"\x02\x02\x08\x05", 4},         /* field 0 outside */
		{"\x5a\x02\x08\x80", 4},         /* a number without an end */
		{"\x5a\x0b\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 13}, /* of 65 bits */
		{"\x5a\x0c\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 14},
	};
	for (size_t i = 0; i < sizeof(unusual) / sizeof(*unusual); i++) {
		struct flat_message flat;
		cr_assert(not(flat_message_unpack(unusual[i].bytes, unusual[i].count, &flat)),
			  "bytes %zu", i);
	}
}

Test(flat_messages, the_largest_fits)
{
	struct flat_message flat = {.body = 15, .fields = FLAT_MESSAGE_FIELDS}, back;
	uint8_t bytes[FLAT_MESSAGE_BYTES];
	for (int i = 0; i < FLAT_MESSAGE_FIELDS; i++)
		flat.values[i] = UINT64_MAX;
	cr_assert(eq(sz, flat_message_pack(&flat, bytes), FLAT_MESSAGE_BYTES));
	cr_assert(flat_message_unpack(bytes, FLAT_MESSAGE_BYTES, &back));
	cr_assert(eq(int, memcmp(&flat, &back, sizeof(flat)), 0));
}
