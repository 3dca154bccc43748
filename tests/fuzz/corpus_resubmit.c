/* Seeds of resubmit: shapes of several sizes with records that fit, and with records that do not.
 */
#include "corpus.h"

#include "command.pb-c.h"
#include "protocol_limits.h"
#include "resubmit.h"

#include <string.h>

struct seed_bytes {
	uint8_t bytes[8192];
	size_t count;
};

static void add_piece(struct seed_bytes *to, const void *bytes, size_t count)
{
	to->bytes[to->count++] = (uint8_t)count;
	to->bytes[to->count++] = (uint8_t)(count >> 8);
	memcpy(to->bytes + to->count, bytes, count);
	to->count += count;
}

/* A shape with that many requirements, events and arguments. Arguments are values of 1 byte and
 * more, addresses, accessors, and local memory. */
static size_t add_shape(struct seed_bytes *to, size_t requirements, size_t events, size_t arguments)
{
	static Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	static Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT;
	static uint8_t values[64];
	Sycl__V1__Requirement *requirement_list[64];
	Sycl__V1__EventRef *event_list[64];
	Sycl__V1__Argument argument[64], *argument_list[64];
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	size_t rest = events * sizeof(struct resubmit_event);
	requirement.buffer = 0x300000100000002;
	for (size_t i = 0; i < requirements; i++)
		requirement_list[i] = &requirement;
	for (size_t i = 0; i < events; i++)
		event_list[i] = &event;
	for (size_t i = 0; i < arguments; i++) {
		sycl__v1__argument__init(&argument[i]);
		argument_list[i] = &argument[i];
		switch (i % 4) {
		case 0:
			argument[i].value_case = SYCL__V1__ARGUMENT__VALUE_BYTES;
			argument[i].bytes = (ProtobufCBinaryData){1 + i, values};
			rest += 1 + i;
			break;
		case 1:
			argument[i].value_case = SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS;
			rest += sizeof(uint64_t);
			break;
		case 2:
			argument[i].value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
			break;
		default:
			argument[i].value_case = SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES;
			argument[i].local_bytes = 64;
			break;
		}
	}
	uint64_t global[3] = {64, 32, 16};
	launch.kernel = 0x500000100000002;
	launch.n_global = launch.n_local = 1 + arguments % 3;
	launch.global = launch.local = global;
	launch.n_arguments = arguments;
	launch.arguments = argument_list;
	group.queue = 0x200000100000002;
	group.group = 1;
	group.shape = 1;
	group.shape_generation = 7;
	group.n_requirements = requirements;
	group.requirements = requirement_list;
	group.n_depends_on = events;
	group.depends_on = event_list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	group.launch = &launch;
	uint8_t packed[4096];
	add_piece(to, packed, sycl__v1__command_group__pack(&group, packed));
	return rest;
}

static void add_record(struct seed_bytes *to, uint32_t generation, uint32_t flags, size_t rest,
		       size_t stated)
{
	uint8_t record[sizeof(struct resubmit_record) + 2048] = {0};
	const struct resubmit_record head = {.shape = 1,
					     .generation = generation,
					     .group = 2,
					     .flags = flags,
					     .slot = flags ? 3 : 0,
					     .rest_bytes = (uint32_t)stated};
	memcpy(record, &head, sizeof(head));
	for (size_t i = 0; i < rest; i++)
		record[sizeof(head) + i] = (uint8_t)i;
	add_piece(to, record, sizeof(head) + rest);
}

static void write_seed(const char *name, size_t requirements, size_t events, size_t arguments)
{
	struct seed_bytes made = {.count = 0};
	size_t rest = add_shape(&made, requirements, events, arguments);
	add_record(&made, 7, 0, rest, rest);
	add_record(&made, 7, RESUBMIT_WANTS_SLOT, rest, rest);
	add_record(&made, 8, 0, rest, rest);
	add_record(&made, 7, RESUBMIT_HAS_EVENT, rest, rest);
	add_record(&made, 7, 4, rest, rest);
	add_record(&made, 7, 0, rest + 1, rest);
	add_record(&made, 7, 0, rest + 1, rest + 1);
	add_record(&made, 7, 0, rest ? rest - 1 : 0, rest);
	add_piece(&made, "short", 5);
	seed("resubmit", name, made.bytes, made.count);
}

void make_resubmit_seeds(void)
{
	write_seed("bare", 0, 0, 0);
	write_seed("three_arguments", 2, 0, 3);
	write_seed("events", 1, 3, 2);
	write_seed("all_that_fits", SHAPE_REQUIREMENTS_MAX, SHAPE_EVENTS_MAX, SHAPE_ARGUMENTS_MAX);
	write_seed("one_requirement_too_many", SHAPE_REQUIREMENTS_MAX + 1, 0, 1);
	write_seed("one_event_too_many", 0, SHAPE_EVENTS_MAX + 1, 1);
	write_seed("one_argument_too_many", 0, 0, SHAPE_ARGUMENTS_MAX + 1);
}
