/* Launches that a queue keeps. The record is the one that the full path writes, and any change
 * since then leads to the full path. */
#include "connection/connection.h"
#include "resubmit.h"
#include "submit/repeat.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 65536, GENERATION = 77, PLACE = 5, BUFFER_BYTES = 4096 };

/* A queue whose connection has no peer, and the objects of its launch. */
struct fixture {
	struct connection *c;
	struct ring_header *header;
	uint8_t *ring;
	_Atomic uint64_t head, tail;
	struct queue queue;
	struct queue_line line;
	struct device device;
	struct bundle_image image;
	struct kernel kernel;
	struct buffer buffers[2];
	struct handler handler;
	struct sycl_launch_argument arguments[4];
	struct sycl_launch launch;
	uint32_t value;
	uint16_t half;
};

static void end_nothing(struct object *object)
{
	(void)object;
}

static void make_objects(struct fixture *f)
{
	f->line = (struct queue_line){.remote = {.id = 11}, .in_order = true, .groups = 41};
	f->queue = (struct queue){
		.object = {.connection = f->c}, .line = &f->line, .device = &f->device};
	f->image.device = &f->device;
	f->kernel = (struct kernel){.remote = {.id = 12}, .image = &f->image};
	cr_assert(eq(int, handle_create(&f->kernel.object, HANDLE_KERNEL, end_nothing), 0));
	for (uint32_t i = 0; i < 2; i++) {
		f->buffers[i] =
			(struct buffer){.remote = {.id = 13 + i}, .size_bytes = BUFFER_BYTES};
		cr_assert(eq(int, handle_create(&f->buffers[i].object, HANDLE_BUFFER, end_nothing),
			     0));
	}
}

static void client_repeats_make_launch(struct fixture *f)
{
	f->value = 0x01020304;
	f->half = 0x0506;
	f->arguments[0] = sycl_launch_value(sizeof(f->half), &f->half);
	f->arguments[1] = sycl_launch_buffer(handle_of(&f->buffers[0].object), SYCL_ACCESS_READ);
	f->arguments[2] = sycl_launch_value(sizeof(f->value), &f->value);
	f->arguments[3] =
		sycl_launch_buffer(handle_of(&f->buffers[1].object), SYCL_ACCESS_READ_WRITE);
	f->launch = (struct sycl_launch)SYCL_LAUNCH_INIT;
	f->launch.kernel = handle_of(&f->kernel.object);
	f->launch.global = sycl_range1(64);
	f->launch.local = sycl_range1(8);
	f->launch.arguments = f->arguments;
	f->launch.argument_count = 4;
	handler_init(&f->handler, &f->queue);
	f->handler.launch = &f->launch;
	f->handler.kernel = f->handler.kernel_given = &f->kernel;
	f->handler.arguments.count = 4;
	f->handler.requirements.count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		*handler_requirement_at(&f->handler, i) =
			(struct handler_requirement){.buffer = &f->buffers[i]};
		*handler_argument_at(&f->handler, 2 * i) =
			(struct handler_argument){.kind = HANDLER_ARGUMENT_VALUE};
		*handler_argument_at(&f->handler, 2 * i + 1) = (struct handler_argument){
			.kind = HANDLER_ARGUMENT_ACCESSOR, .requirement = i};
	}
}

static const struct shape_name name = {PLACE, GENERATION};

/* The launch was sent once and is kept. */
static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->c = calloc(1, sizeof(*f->c));
	f->c->header = f->header = calloc(1, sizeof(*f->header));
	f->ring = aligned_alloc(64, RING_BYTES);
	ring_writer_init(&f->c->writer, f->ring, RING_BYTES, &f->head, &f->tail);
	cr_assert(eq(int, pthread_mutex_init(&f->c->submit_lock, NULL), 0));
	f->c->takes_repeats = true;
	f->c->shapes.places[PLACE - 1] = calloc(1, sizeof(struct shape_place));
	f->c->shapes.places[PLACE - 1]->generation = GENERATION;
	make_objects(f);
	client_repeats_make_launch(f);
	(void)pthread_mutex_lock(&f->c->submit_lock);
	repeat_remember(&f->handler, name, sizeof(f->half) + sizeof(f->value));
	(void)pthread_mutex_unlock(&f->c->submit_lock);
	return f;
}

static void fixture_free(struct fixture *f)
{
	for (uint32_t i = 0; i < QUEUE_REPEATS; i++)
		free(f->queue.repeats[i]);
	shapes_fini(&f->c->shapes);
	free(f->ring);
	free(f->header);
	free(f->c);
	free(f);
}

static bool is_sent(struct fixture *f)
{
	uint64_t before = f->head, groups = f->line.groups;
	bool sent = repeat_launch(&f->queue, &f->launch, NULL);
	cr_assert(eq(int, f->head != before, sent));
	cr_assert(eq(u64, f->line.groups, groups + sent));
	return sent;
}

Test(repeats, B15_the_record_has_the_name_the_number_and_the_values)
{
	struct fixture *f = fixture_new();
	cr_assert(is_sent(f));
	f->value = 7;
	uint64_t begin = f->head;
	cr_assert(is_sent(f));
	const uint8_t *record = f->ring + begin;
	const struct ring_record frame = {.payload_bytes = sizeof(struct resubmit_record) + 6,
					  .kind = RING_RECORD_RESUBMIT};
	const struct resubmit_record head = {
		.shape = PLACE, .generation = GENERATION, .group = 43, .rest_bytes = 6};
	const uint8_t rest[8] = {6, 5, 7, 0, 0, 0, 0, 0};
	cr_assert(eq(int, memcmp(record, &frame, sizeof(frame)), 0));
	cr_assert(eq(int, memcmp(record + sizeof(frame), &head, sizeof(head)), 0));
	cr_assert(eq(int, memcmp(record + sizeof(frame) + sizeof(head), rest, sizeof(rest)), 0));
	cr_assert(eq(u64, f->head, begin + sizeof(frame) + sizeof(head) + sizeof(rest)));
	cr_assert(eq(u32, f->buffers[0].used, 1));
	cr_assert(eq(u32, f->buffers[0].modified, 0));
	cr_assert(eq(u32, f->buffers[1].used, 1));
	cr_assert(eq(u32, f->buffers[1].modified, 1));
	fixture_free(f);
}

/* Changes one thing at a time; false: there is no more. */
static bool client_repeats_change_one(struct fixture *f, uint32_t which)
{
	uint64_t *const words[] = {
		&f->launch.global.size[0],     &f->launch.local.size[0],
		&f->arguments[0].size_bytes,   &f->arguments[0].reserved,
		&f->arguments[1].offset_bytes, &f->arguments[1].size_bytes,
		&f->arguments[3].reserved,     &f->buffers[0].remote.id,
		&f->buffers[1].origin_bytes,   &f->buffers[1].size_bytes,
		&f->kernel.remote.id,
	};
	uint32_t *const halves[] = {
		&f->launch.global.dimensions,
		&f->launch.local.dimensions,
		&f->launch.argument_count,
		(uint32_t *)&f->arguments[0].kind,
		(uint32_t *)&f->arguments[1].kind,
		(uint32_t *)&f->arguments[3].mode,
		&f->c->shapes.places[PLACE - 1]->generation,
	};
	const uint32_t word_count = sizeof(words) / sizeof(*words),
		       half_count = sizeof(halves) / sizeof(*halves);
	if (which < word_count)
		*words[which] += 1;
	else if (which < word_count + half_count)
		*halves[which - word_count] -= 1;
	else
		return false;
	return true;
}

Test(repeats, B15_what_is_not_the_same_goes_the_long_way)
{
	uint32_t which = 0;
	for (bool more = true; more; which++) {
		struct fixture *f = fixture_new();
		cr_assert(is_sent(f));
		more = client_repeats_change_one(f, which);
		cr_assert(eq(int, is_sent(f), !more), "change %u", which);
		fixture_free(f);
	}
	cr_assert(gt(u32, which, 18));
}

/* The objects of a launch must be unchanged, each time. */
Test(repeats, E14_N3_objects_that_have_changed_lead_to_the_long_way)
{
	struct fixture *f = fixture_new();
	struct buffer *buffer = &f->buffers[0];
	cr_assert(is_sent(f));
	buffer->remote.failed = SYCL_ERROR_RUNTIME;
	cr_assert(not(is_sent(f)));
	buffer->remote.failed = 0;
	f->kernel.remote.failed = SYCL_ERROR_RUNTIME;
	cr_assert(not(is_sent(f)));
	f->kernel.remote.failed = 0;
	buffer->pages = 1; /* the contents are still in the program's memory */
	cr_assert(not(is_sent(f)));
	buffer->pages = 0;
	f->queue.recording = (struct graph *)f;
	cr_assert(not(is_sent(f)));
	f->queue.recording = NULL;
	f->queue.is_lent = true;
	cr_assert(not(is_sent(f)));
	f->queue.is_lent = false;
	f->arguments[2].pointer = NULL;
	cr_assert(not(is_sent(f)));
	f->arguments[2].pointer = &f->value;
	f->c->lost = SYCL_ERROR_CONNECTION_LOST;
	cr_assert(not(is_sent(f)));
	f->c->lost = 0;
	cr_assert(is_sent(f));
	object_ref(&buffer->object); /* a reference of the library: the object exists, but without
					users */
	cr_assert(eq(int, object_take(&buffer->object), SYCL_SUCCESS));
	cr_assert(not(is_sent(f)));
	fixture_free(f);
}

Test(repeats, SYCLD_REPEAT_nothing_is_kept_where_it_is_switched_off)
{
	struct fixture *f = fixture_new();
	for (uint32_t i = 0; i < QUEUE_REPEATS; i++) {
		free(f->queue.repeats[i]);
		f->queue.repeats[i] = NULL;
	}
	f->c->takes_repeats = false;
	(void)pthread_mutex_lock(&f->c->submit_lock);
	repeat_remember(&f->handler, name, sizeof(f->half) + sizeof(f->value));
	(void)pthread_mutex_unlock(&f->c->submit_lock);
	cr_assert(not(is_sent(f)));
	fixture_free(f);
}
