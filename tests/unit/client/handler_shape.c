/* The key of a launch's shape. It contains everything that is in its message and not in a record,
 * so that two groups are not confused. */
#include "handler/handler.h"
#include "submit/shape.h"
#include "connection/queue_line.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

/* A launch in three dimensions with everything that a launch can have, and its objects. */
struct launch {
	struct handler handler;
	struct queue queue;
	struct queue_line line;
	struct kernel kernel;
	struct buffer root, part;
};

static void handler_shape_make_launch(struct launch *launch)
{
	*launch = (struct launch){.line = {.remote = {.id = 11}}, .kernel = {.remote = {.id = 12}}};
	launch->queue.line = &launch->line;
	launch->root = (struct buffer){.remote = {.id = 13}, .size_bytes = 4096};
	launch->part = (struct buffer){.remote = {.id = 13},
				       .root = &launch->root,
				       .is_part = true,
				       .origin_bytes = 1024,
				       .size_bytes = 512};
	struct handler *handler = &launch->handler;
	handler_init(handler, &launch->queue);
	handler->action = HANDLER_ACTION_LAUNCH;
	handler->kernel = &launch->kernel;
	handler->dimensions = 3;
	handler->is_nd = true;
	handler->cluster = sycl_range3(1, 1, 2);
	handler->offset = sycl_range3(5, 6, 7);
	for (uint32_t i = 0; i < 3; i++) {
		handler->global[i] = 64;
		handler->local[i] = 2;
	}
	handler->requirements.count = 2;
	*handler_requirement_at(handler, 0) =
		(struct handler_requirement){.buffer = &launch->root, .mode = 1, .end = 4096};
	*handler_requirement_at(handler, 1) = (struct handler_requirement){
		.buffer = &launch->part, .mode = 3, .begin = 8, .end = 512};
	handler->arguments.count = 4;
	*handler_argument_at(handler, 0) = (struct handler_argument){
		.kind = HANDLER_ARGUMENT_ACCESSOR, .requirement = 1, .offset_bytes = 8};
	*handler_argument_at(handler, 1) =
		(struct handler_argument){.kind = HANDLER_ARGUMENT_VALUE, .size_bytes = 4};
	*handler_argument_at(handler, 2) =
		(struct handler_argument){.kind = HANDLER_ARGUMENT_LOCAL, .size_bytes = 64};
	*handler_argument_at(handler, 3) =
		(struct handler_argument){.kind = HANDLER_ARGUMENT_USM, .offset_bytes = 0x1000};
}

/* Changes one value at a time; false: there is no more. */
static bool handler_shape_change_one(struct launch *launch, uint32_t which)
{
	struct handler *handler = &launch->handler;
	uint64_t *const words[] = {
		&launch->line.remote.id,
		&launch->kernel.remote.id,
		&handler->global[0],
		&handler->global[1],
		&handler->global[2],
		&handler->local[0],
		&handler->local[1],
		&handler->local[2],
		&handler->cluster.size[0],
		&handler->cluster.size[1],
		&handler->cluster.size[2],
		&handler->offset.size[0],
		&handler->offset.size[1],
		&handler->offset.size[2],
		&handler_requirement_at(handler, 0)->begin,
		&handler_requirement_at(handler, 0)->end,
		&handler_requirement_at(handler, 1)->begin,
		&handler_requirement_at(handler, 1)->end,
		&launch->root.remote.id,
		&launch->part.remote.id,
		&launch->part.origin_bytes,
		&launch->part.size_bytes,
		&handler_argument_at(handler, 0)->offset_bytes,
		&handler_argument_at(handler, 1)->size_bytes,
		&handler_argument_at(handler, 2)->size_bytes,
	};
	uint32_t *const halves[] = {
		&handler->dimensions,
		&handler->cluster.dimensions,
		&handler->offset.dimensions,
		&handler->requirements.count,
		&handler->arguments.count,
		&handler_requirement_at(handler, 0)->mode,
		&handler_requirement_at(handler, 1)->mode,
		&handler_argument_at(handler, 0)->requirement,
	};
	bool *const flags[] = {&handler->is_nd,      &handler->is_empty, &handler->cooperative,
			       &handler->splittable, &handler->early,    &handler->after_all,
			       &launch->part.is_part};
	const uint32_t word_count = sizeof(words) / sizeof(*words),
		       half_count = sizeof(halves) / sizeof(*halves),
		       flag_count = sizeof(flags) / sizeof(*flags);
	if (which < word_count)
		*words[which] += 1;
	else if (which < word_count + half_count)
		*halves[which - word_count] -= 1;
	else if (which < word_count + half_count + flag_count)
		*flags[which - word_count - half_count] ^= true;
	else
		return false;
	return true;
}

static struct shape_key handler_shape_key_of(const struct launch *launch)
{
	struct shape_key key;
	uint32_t rest_bytes = 0;
	cr_assert(handler_shape(&launch->handler, &key, &rest_bytes));
	return key;
}

static bool same(const struct shape_key *a, const struct shape_key *b)
{
	return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof(uint64_t)) == 0;
}

Test(client_handler_shape, B15_E13_whatever_a_message_says_is_known, .timeout = 10)
{
	static struct launch one, other;
	handler_shape_make_launch(&one);
	handler_shape_make_launch(&other);
	struct shape_key key = handler_shape_key_of(&one), again = handler_shape_key_of(&other);
	cr_assert(same(&key, &again));
	uint32_t changes = 0;
	for (; handler_shape_change_one(&other, changes); changes++) {
		again = handler_shape_key_of(&other);
		cr_assert(not(same(&key, &again)), "change %u", changes);
		handler_shape_make_launch(&other);
	}
	cr_assert(gt(u32, changes, 30));
}

Test(client_handler_shape, B15_what_a_record_says_is_no_part_of_it, .timeout = 10)
{
	static struct launch one, other;
	handler_shape_make_launch(&one);
	handler_shape_make_launch(&other);
	other.handler.inline_values[0] = 99;
	handler_argument_at(&other.handler, 1)->offset_bytes = 8; /* among the values */
	handler_argument_at(&other.handler, 3)->offset_bytes = 0x2000;
	struct shape_key key = handler_shape_key_of(&one), again = handler_shape_key_of(&other);
	cr_assert(same(&key, &again));
}

/* The largest launches with a shape fit into a key; larger launches have no shape. */
Test(client_handler_shape, the_largest_launch_fits_into_a_key, .timeout = 10)
{
	static struct launch launch;
	static struct handler_requirement requirements[SHAPE_REQUIREMENTS_MAX + 1];
	static struct handler_argument arguments[SHAPE_ARGUMENTS_MAX + 1];
	handler_shape_make_launch(&launch);
	struct handler *handler = &launch.handler;
	for (uint32_t i = 0; i <= SHAPE_REQUIREMENTS_MAX; i++)
		requirements[i] = *handler_requirement_at(handler, 1);
	for (uint32_t i = 0; i <= SHAPE_ARGUMENTS_MAX; i++)
		arguments[i] = *handler_argument_at(handler, 2);
	handler->requirements.items = requirements;
	handler->arguments.items = arguments;
	uint32_t most = 0;
	for (uint32_t r = 0; r <= SHAPE_REQUIREMENTS_MAX + 1; r++) {
		for (uint32_t a = 0; a <= SHAPE_ARGUMENTS_MAX + 1; a++) {
			struct shape_key key;
			uint32_t rest_bytes = 0;
			handler->requirements.count = r;
			handler->arguments.count = a;
			if (!handler_shape(handler, &key, &rest_bytes))
				continue;
			cr_assert(le(u32, key.count, SHAPE_KEY_WORDS_MAX),
				  "%u requirements, %u arguments", r, a);
			cr_assert(r <= SHAPE_REQUIREMENTS_MAX && a <= SHAPE_ARGUMENTS_MAX);
			most = key.count > most ? key.count : most;
		}
	}
	cr_assert(gt(u32, most, SHAPE_KEY_WORDS_MAX - 6), "the bound is not much too strict: %u",
		  most);
}

/* A handler's memory is used again without being cleared. An argument that is left out between two
 * others was never set. */
Test(client_handler_shape, arguments_that_are_left_out_are_unset, .timeout = 10)
{
	static struct launch launch;
	memset(&launch, 0xff, sizeof(launch));
	handler_init(&launch.handler, &launch.queue);
	for (uint32_t last = 3; last < 3 * HANDLER_INLINE_ARGUMENTS;
	     last += 7) { /* also beyond those inside of the handler */
		uint32_t before = launch.handler.arguments.count;
		const struct handler_argument given = {.kind = HANDLER_ARGUMENT_VALUE,
						       .size_bytes = 4};
		cr_assert(
			eq(int, handler_set_argument(&launch.handler, last, given), SYCL_SUCCESS));
		cr_assert(eq(u32, launch.handler.arguments.count, last + 1));
		for (uint32_t i = before; i < last; i++)
			cr_assert(eq(int, (int)handler_argument_at(&launch.handler, i)->kind,
				     HANDLER_ARGUMENT_UNSET),
				  "%u", i);
		cr_assert(eq(int, (int)handler_argument_at(&launch.handler, last)->kind,
			     HANDLER_ARGUMENT_VALUE));
	}
	cr_assert(eq(u32, launch.handler.arguments_given, 7));
	handler_fini(&launch.handler);
}

/* A copy from USM into a part of a buffer, in a box. */
static void make_copy(struct launch *launch, struct connection *c)
{
	handler_shape_make_launch(launch);
	struct handler *handler = &launch->handler;
	c->has_usm_ends = true;
	handler->object.connection = c;
	handler->action = HANDLER_ACTION_COPY;
	handler->kernel = NULL;
	handler->arguments.count = 0;
	handler->host_is_usm = true;
	handler->host_source = &launch->line;
	handler->source_offset_bytes = 8;
	handler->destination = 1;
	handler->destination_offset_bytes = 16;
	handler->box = (struct copy_box){.width_bytes = 4,
					 .rows = 3,
					 .slices = 2,
					 .source = {8, 64},
					 .destination = {16, 96}};
}

static bool change_copy(struct launch *launch, uint32_t which)
{
	struct handler *handler = &launch->handler;
	uint64_t *const words[] = {
		&launch->line.remote.id,
		&launch->root.remote.id,
		&launch->part.origin_bytes,
		&handler_requirement_at(handler, 1)->begin,
		&handler->destination_offset_bytes,
		&handler->box.width_bytes,
		&handler->box.rows,
		&handler->box.slices,
		&handler->box.source.row_bytes,
		&handler->box.source.slice_bytes,
		&handler->box.destination.row_bytes,
		&handler->box.destination.slice_bytes,
	};
	uint32_t *const halves[] = {&handler->destination, &handler->requirements.count,
				    &handler_requirement_at(handler, 1)->mode};
	const uint32_t word_count = sizeof(words) / sizeof(*words),
		       half_count = sizeof(halves) / sizeof(*halves);
	if (which < word_count)
		*words[which] += 1;
	else if (which < word_count + half_count)
		*halves[which - word_count] -= 1;
	else if (which == word_count + half_count)
		handler->after_all = true;
	else if (which == word_count + half_count + 1)
		handler->host_is_usm = false, handler->host_source = NULL;
	else if (which == word_count + half_count + 2)
		handler->host_destination = &launch->line, handler->host_source = NULL;
	else
		return false;
	return true;
}

Test(client_handler_shape, B15_D20_whatever_the_message_of_a_copy_says_is_known, .timeout = 10)
{
	static struct launch one, other, launch;
	static struct connection connection;
	make_copy(&one, &connection);
	make_copy(&other, &connection);
	handler_shape_make_launch(&launch);
	/* The address is in the record. */
	other.handler.host_source = &other;
	other.handler.source_offset_bytes = 80;
	struct shape_key key = handler_shape_key_of(&one), again = handler_shape_key_of(&other);
	cr_assert(same(&key, &again));
	again = handler_shape_key_of(&launch);
	cr_assert(not(same(&key, &again)));
	make_copy(&other, &connection);
	uint32_t changes = 0;
	for (; change_copy(&other, changes); changes++) {
		again = handler_shape_key_of(&other);
		cr_assert(not(same(&key, &again)), "change %u", changes);
		make_copy(&other, &connection);
	}
	cr_assert(gt(u32, changes, 15));
}

Test(client_handler_shape, B15_D20_copies_that_have_no_shape, .timeout = 10)
{
	static struct launch one;
	static struct connection connection;
	struct shape_key key;
	uint32_t rest_bytes = 0;
	make_copy(&one, &connection);
	cr_assert(handler_shape(&one.handler, &key, &rest_bytes));
	cr_assert(eq(u32, rest_bytes, sizeof(uint64_t)));
	one.handler.host_is_usm = false; /* the program's memory travels through an arena */
	cr_assert(not(handler_shape(&one.handler, &key, &rest_bytes)));
	make_copy(&one, &connection);
	one.handler.is_empty = true;
	cr_assert(not(handler_shape(&one.handler, &key, &rest_bytes)));
	make_copy(&one, &connection);
	connection.has_usm_ends = false; /* the engine is older */
	cr_assert(not(handler_shape(&one.handler, &key, &rest_bytes)));
}
