/* A decoded group, and the records that are applied to it. */
#include "base/shape.h"

#include "protocol_limits.h"
#include "resubmit.h"

#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(engine_shape, .timeout = 10);

enum { MOST = 1100 };

/* A launch: a value of 4 bytes, an address, an accessor, a value of 3 bytes, local memory; two
 * events, one buffer. */
struct sample {
	Sycl__V1__CommandGroup group;
	Sycl__V1__Requirement requirements[MOST], *requirement_list[MOST];
	Sycl__V1__EventRef events[MOST], *event_list[MOST];
	Sycl__V1__Launch launch;
	Sycl__V1__Argument arguments[MOST], *argument_list[MOST];
	uint64_t global[4], local[4], offset[4];
	uint32_t cluster[4];
	uint8_t values[8 + SHAPE_VALUE_BYTES_MAX];
};

static Sycl__V1__Argument *add_argument(struct sample *s, Sycl__V1__Argument__ValueCase kind)
{
	Sycl__V1__Argument *argument = &s->arguments[s->launch.n_arguments++];
	argument->value_case = kind;
	return argument;
}

static void make_sample(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	sycl__v1__command_group__init(&s->group);
	sycl__v1__launch__init(&s->launch);
	for (int i = 0; i < MOST; i++) {
		sycl__v1__requirement__init(&s->requirements[i]);
		sycl__v1__event_ref__init(&s->events[i]);
		sycl__v1__argument__init(&s->arguments[i]);
		s->requirement_list[i] = &s->requirements[i];
		s->event_list[i] = &s->events[i];
		s->argument_list[i] = &s->arguments[i];
	}
	s->group.queue = 77;
	s->group.shape = 3;
	s->group.shape_generation = 9;
	s->group.n_requirements = 1;
	s->group.requirements = s->requirement_list;
	s->requirements[0].buffer = 55;
	s->requirements[0].size_bytes = 64;
	s->group.n_depends_on = 2;
	s->group.depends_on = s->event_list;
	s->group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	s->group.launch = &s->launch;
	s->launch.kernel = 66;
	s->launch.n_global = 2;
	s->launch.global = s->global;
	s->global[0] = 8;
	s->global[1] = 16;
	s->launch.local = s->local;
	s->launch.offset = s->offset;
	s->launch.cluster = s->cluster;
	s->launch.arguments = s->argument_list;
	add_argument(s, SYCL__V1__ARGUMENT__VALUE_BYTES)->bytes =
		(ProtobufCBinaryData){4, s->values};
	add_argument(s, SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS)->usm_address = 1;
	add_argument(s, SYCL__V1__ARGUMENT__VALUE_ACCESSOR)->offset_bytes = 32;
	add_argument(s, SYCL__V1__ARGUMENT__VALUE_BYTES)->bytes =
		(ProtobufCBinaryData){3, s->values + 4};
	add_argument(s, SYCL__V1__ARGUMENT__VALUE_LOCAL_BYTES)->local_bytes = 128;
}

struct __attribute__((packed)) record {
	struct resubmit_record head;
	struct resubmit_event events[2];
	uint64_t address;
	uint8_t values[7];
};

static struct record record_of(void)
{
	struct record record = {
		.head = {3, 9, 41, RESUBMIT_WANTS_SLOT, 5, 6, sizeof(record) - sizeof(record.head)},
		.events = {{100, 1}, {200, 2}},
		.address = 0x1122334455667788,
		.values = {1, 2, 3, 4, 5, 6, 7},
	};
	return record;
}

Test(engine_shape, a_record_changes_what_is_new_and_nothing_else)
{
	static struct sample s;
	make_sample(&s);
	struct shape *shape = NULL;
	cr_assert(eq(int, shape_create(&s.group, &shape), 0));
	make_sample(&s); /* the message is freed after its record */
	memset(s.values, 0xee, sizeof(s.values));
	s.global[0] = 0;
	struct record record = record_of();
	const Sycl__V1__CommandGroup *group = NULL;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	cr_assert(eq(u64, group->queue, 77));
	cr_assert(eq(u64, group->group, 41));
	cr_assert(eq(int, group->wants_slot, 1));
	cr_assert(eq(u32, group->slot, 5));
	cr_assert(eq(u32, group->slot_value, 6));
	cr_assert(eq(u32, group->shape, 0), "it would define itself again");
	cr_assert(eq(sz, group->n_requirements, 1));
	cr_assert(eq(u64, group->requirements[0]->buffer, 55));
	cr_assert(eq(u64, group->requirements[0]->size_bytes, 64));
	cr_assert(eq(sz, group->n_depends_on, 2));
	cr_assert(eq(u64, group->depends_on[0]->queue, 100));
	cr_assert(eq(u64, group->depends_on[1]->group, 2));
	const Sycl__V1__Launch *launch = group->launch;
	cr_assert(eq(u64, launch->kernel, 66));
	cr_assert(eq(sz, launch->n_global, 2));
	cr_assert(eq(u64, launch->global[0], 8));
	cr_assert(eq(u64, launch->global[1], 16));
	cr_assert(eq(sz, launch->n_arguments, 5));
	cr_assert(eq(sz, launch->arguments[0]->bytes.len, 4));
	cr_assert(eq(int, memcmp(launch->arguments[0]->bytes.data, "\1\2\3\4", 4), 0));
	cr_assert(eq(u64, launch->arguments[1]->usm_address, 0x1122334455667788));
	cr_assert(eq(u64, launch->arguments[2]->offset_bytes, 32));
	cr_assert(eq(sz, launch->arguments[3]->bytes.len, 3));
	cr_assert(eq(int, memcmp(launch->arguments[3]->bytes.data, "\5\6\7", 3), 0));
	cr_assert(eq(u64, launch->arguments[4]->local_bytes, 128));

	record.head.flags = record.head.slot = record.head.slot_value = 0;
	record.values[0] = 8;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	cr_assert(eq(int, group->wants_slot, 0));
	cr_assert(eq(int, group->has_event, 0));
	cr_assert(eq(int, group->launch->arguments[0]->bytes.data[0], 8));
	record.head.flags = RESUBMIT_HAS_EVENT;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	cr_assert(eq(int, group->wants_slot, 0));
	cr_assert(eq(int, group->has_event, 1));
	cr_assert(eq(ptr, shape_free(shape), NULL));
}

/* The result has the bytes that the message would have. */
Test(engine_shape, the_group_is_the_message_that_was_not_sent)
{
	static struct sample s;
	make_sample(&s);
	struct shape *shape = NULL;
	cr_assert(eq(int, shape_create(&s.group, &shape), 0));
	struct record record = record_of();
	const Sycl__V1__CommandGroup *group = NULL;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	s.group.shape = s.group.shape_generation = 0;
	s.group.group = 41;
	s.group.wants_slot = true;
	s.group.slot = 5;
	s.group.slot_value = 6;
	for (int i = 0; i < 2; i++) {
		s.events[i].queue = record.events[i].queue;
		s.events[i].group = record.events[i].group;
	}
	s.arguments[1].usm_address = record.address;
	memcpy(s.values, record.values, sizeof(record.values));
	uint8_t sent[1024], made[1024];
	size_t sent_bytes = sycl__v1__command_group__pack(&s.group, sent);
	size_t made_bytes = sycl__v1__command_group__pack(group, made);
	cr_assert(eq(sz, made_bytes, sent_bytes));
	cr_assert(eq(int, memcmp(made, sent, sent_bytes), 0));
	(void)shape_free(shape);
}

Test(engine_shape, a_record_of_another_length_generation_or_flag_is_refused)
{
	static struct sample s;
	make_sample(&s);
	struct shape *shape = NULL;
	cr_assert(eq(int, shape_create(&s.group, &shape), 0));
	cr_assert(eq(u32, shape_generation(shape), 9));
	const struct record good = record_of();
	uint8_t bytes[sizeof(good) + 8] = {0};
	const Sycl__V1__CommandGroup *group = NULL;
	for (size_t count = 0; count <= sizeof(bytes); count++) {
		memcpy(bytes, &good, sizeof(good));
		cr_assert(eq(int, shape_apply(shape, bytes, count, &group),
			     count == sizeof(good) ? 0 : -EPROTO),
			  "%zu", count);
		/* This also holds if the head gives this as its length. */
		uint32_t rest = (uint32_t)(count - sizeof(good.head));
		memcpy(bytes + offsetof(struct resubmit_record, rest_bytes), &rest, sizeof(rest));
		cr_assert(eq(int, shape_apply(shape, bytes, count, &group),
			     count == sizeof(good) ? 0 : -EPROTO),
			  "%zu", count);
	}
	struct record wrong = good;
	wrong.head.rest_bytes--;
	cr_assert(eq(int, shape_apply(shape, &wrong, sizeof(wrong), &group), -EPROTO));
	wrong = good;
	wrong.head.generation = 8;
	cr_assert(eq(int, shape_apply(shape, &wrong, sizeof(wrong), &group), -EPROTO));
	for (uint32_t bit = 2; bit < 32; bit++) {
		wrong = good;
		wrong.head.flags |= 1u << bit;
		cr_assert(eq(int, shape_apply(shape, &wrong, sizeof(wrong), &group), -EPROTO));
	}
	wrong = good;
	wrong.head.flags = 0;
	cr_assert(eq(int, shape_apply(shape, &wrong, sizeof(wrong), &group), -EPROTO),
		  "a slot that nobody wants");
	(void)shape_free(shape);
}

static int try(const struct sample *s)
{
	struct shape *shape = NULL;
	int r = shape_create(&s->group, &shape);
	cr_assert(eq(int, shape != NULL, r == 0));
	(void)shape_free(shape);
	return r;
}

Test(engine_shape, what_is_more_than_a_shape_may_have_is_refused)
{
	static struct sample s;
	make_sample(&s);
	s.group.n_requirements = SHAPE_REQUIREMENTS_MAX;
	s.group.n_depends_on = SHAPE_EVENTS_MAX;
	s.launch.n_global = s.launch.n_local = s.launch.n_offset = s.launch.n_cluster = 3;
	s.launch.n_arguments =
		SHAPE_ARGUMENTS_MAX; /* the others are not set, which is an error of the group */
	s.arguments[0].bytes.len = SHAPE_VALUE_BYTES_MAX - 3;
	cr_assert(eq(int, try(&s), 0));
	size_t *counts[] = {&s.group.n_requirements, &s.group.n_depends_on,
			    &s.launch.n_arguments,   &s.launch.n_global,
			    &s.launch.n_local,       &s.launch.n_offset,
			    &s.launch.n_cluster,     &s.arguments[0].bytes.len};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		(*counts[i])++;
		cr_assert(eq(int, try(&s), -EPROTO), "%zu", i);
		(*counts[i])--;
	}
	cr_assert(eq(int, try(&s), 0));
	s.arguments[7].value_case = SYCL__V1__ARGUMENT__VALUE_IMAGE;
	cr_assert(eq(int, try(&s), -EPROTO));
	s.arguments[7].value_case = SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER;
	cr_assert(eq(int, try(&s), -EPROTO));
	s.arguments[7].value_case = SYCL__V1__ARGUMENT__VALUE__NOT_SET;
	s.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION__NOT_SET;
	cr_assert(eq(int, try(&s), -EPROTO));
}

Test(engine_shape, a_group_without_anything_that_changes_has_an_empty_rest)
{
	static struct sample s;
	make_sample(&s);
	s.group.n_depends_on = 0;
	s.launch.n_arguments = 0;
	struct shape *shape = NULL;
	cr_assert(eq(int, shape_create(&s.group, &shape), 0));
	struct resubmit_record record = {.shape = 3, .generation = 9, .group = 12};
	const Sycl__V1__CommandGroup *group = NULL;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	cr_assert(eq(u64, group->group, 12));
	(void)shape_free(shape);
}

Test(engine_shape, TG2_a_record_repeats_its_shape_or_does_not)
{
	static struct sample s;
	make_sample(&s);
	s.group.n_depends_on = 0;
	struct shape *shape = NULL;
	cr_assert(eq(int, shape_create(&s.group, &shape), 0));
	cr_assert(shape_makes_bursts(shape));
	struct __attribute__((packed)) {
		struct resubmit_record head;
		uint64_t address;
		uint8_t values[7];
	} record = {.head = {3, 9, 41, 0, 0, 0, 15},
		    .address = 0x1122334455667788,
		    .values = {1, 2, 3, 4, 5, 6, 7}},
	  next;
	const Sycl__V1__CommandGroup *group = NULL;
	const uint8_t *values = NULL;
	cr_assert(eq(int, shape_apply(shape, &record, sizeof(record), &group), 0));
	next = record;
	next.head.group = 42;
	next.values[6] = 99;
	cr_assert(shape_repeats(shape, &next, sizeof(next), 42, &values));
	cr_assert(values == next.values);
	cr_assert(eq(u32, shape_value_bytes(shape), 7));
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 43, &values)), "another number");
	cr_assert(not(shape_repeats(shape, &next, sizeof(next) - 1, 42, &values)), "too short");
	cr_assert(not(shape_repeats(shape, &next, 3, 42, &values)), "not even a head");
	next.head.rest_bytes = 14;
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 42, &values)),
		  "another length in its head");
	next.head.rest_bytes = 15;
	next.head.generation = 10;
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 42, &values)),
		  "another generation");
	next.head.generation = 9;
	next.head.flags = RESUBMIT_HAS_EVENT;
	cr_assert(shape_repeats(shape, &next, sizeof(next), 42, &values),
		  "the program has its event");
	next.head.flags = RESUBMIT_WANTS_SLOT;
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 42, &values)), "it wants a slot");
	next.head.flags = 0;
	next.head.slot = 1;
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 42, &values)),
		  "a slot that it does not want");
	next.head.slot = 0;
	next.address++;
	cr_assert(not(shape_repeats(shape, &next, sizeof(next), 42, &values)), "another address");
	cr_assert(eq(int, group->launch->arguments[0]->bytes.data[0], 1),
		  "looking changes nothing");
	(void)shape_free(shape);
}

Test(engine_shape, TG2_some_shapes_make_no_bursts)
{
	static struct sample s;
	for (int i = 0; i < 7; i++) {
		make_sample(&s);
		s.group.n_depends_on = i == 0 ? 1 : 0;
		if (i == 1)
			s.global[1] = 0;
		if (i == 2)
			s.launch.cooperative = true;
		if (i == 3)
			s.launch.n_cluster = 1;
		if (i == 4)
			s.arguments[0].bytes.len = SHAPE_BURST_VALUE_BYTES + 1;
		if (i == 5) {
			s.group.n_requirements = 2;
			s.requirements[1].buffer = s.requirements[0].buffer;
		}
		if (i == 6)
			s.group.after_all = true;
		struct shape *shape = NULL;
		cr_assert(eq(int, shape_create(&s.group, &shape), 0));
		cr_expect(not(shape_makes_bursts(shape)), "%d", i);
		(void)shape_free(shape);
	}
}

/* A copy between a buffer and USM: the message, and a record for another address. */
struct sample_copy {
	struct sample base;
	Sycl__V1__Copy copy;
	Sycl__V1__MemoryEnd source, destination;
	Sycl__V1__Box box;
	Sycl__V1__ArenaRange arena;
};

static void make_copy(struct sample_copy *s)
{
	make_sample(&s->base);
	sycl__v1__copy__init(&s->copy);
	sycl__v1__memory_end__init(&s->source);
	sycl__v1__memory_end__init(&s->destination);
	sycl__v1__box__init(&s->box);
	sycl__v1__arena_range__init(&s->arena);
	s->source.place_case = SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS;
	s->source.usm_address = 1;
	s->destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	s->destination.offset_bytes = 16;
	s->box.rows = 7;
	s->copy.source = &s->source;
	s->copy.destination = &s->destination;
	s->copy.box = &s->box;
	s->base.group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	s->base.group.copy = &s->copy;
}

Test(engine_shape, D20_B15_a_record_of_a_copy_changes_the_address_of_its_usm)
{
	static struct sample_copy s;
	const Sycl__V1__CommandGroup *group = NULL;
	const uint8_t *values;
	struct shape *shape = NULL;
	struct record record = record_of();
	const size_t bytes = offsetof(struct record, values);
	record.head.rest_bytes = (uint32_t)(bytes - sizeof(record.head));
	make_copy(&s);
	cr_assert(eq(int, shape_create(&s.base.group, &shape), 0));
	cr_assert(not(shape_makes_bursts(shape)));
	memset(&s.source, 0xee, sizeof(s.source)); /* the message is freed */
	s.box.rows = 1;
	cr_assert(eq(int, shape_apply(shape, &record, bytes, &group), 0));
	cr_assert(eq(int, (int)group->action_case, SYCL__V1__COMMAND_GROUP__ACTION_COPY));
	cr_assert(eq(u64, group->copy->source->usm_address, 0x1122334455667788));
	cr_assert(eq(u64, group->copy->destination->offset_bytes, 16));
	cr_assert(eq(u64, group->copy->box->rows, 7));
	cr_assert(eq(u64, group->depends_on[1]->queue, 200));
	cr_assert(shape_repeats(shape, &record, bytes, 41, &values) == false, "it wants a slot");
	cr_assert(eq(int, shape_apply(shape, &record, bytes + 1, &group), -EPROTO));
	record.head.rest_bytes -= 8;
	cr_assert(eq(int, shape_apply(shape, &record, bytes - 8, &group), -EPROTO));
	(void)shape_free(shape);
}

Test(engine_shape, D20_copies_of_arenas_and_without_an_end_are_no_shapes)
{
	static struct sample_copy s;
	struct shape *shape = NULL;
	make_copy(&s);
	s.destination.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	s.destination.arena = &s.arena;
	cr_assert(eq(int, shape_create(&s.base.group, &shape), -EPROTO));
	make_copy(&s);
	s.copy.source = NULL;
	cr_assert(eq(int, shape_create(&s.base.group, &shape), -EPROTO));
	make_copy(&s);
	s.base.group.copy = NULL;
	cr_assert(eq(int, shape_create(&s.base.group, &shape), -EPROTO));
	make_copy(&s);
	s.base.group.n_requirements = SHAPE_REQUIREMENTS_MAX + 1;
	cr_assert(eq(int, shape_create(&s.base.group, &shape), -EPROTO));
	/* Two addresses are a shape; the group will be refused. */
	make_copy(&s);
	s.destination = s.source;
	cr_assert(eq(int, shape_create(&s.base.group, &shape), 0));
	(void)shape_free(shape);
}
