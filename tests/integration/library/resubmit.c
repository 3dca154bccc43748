/*
 * The same random command groups on two connections. On one they travel as messages, on the other
 * by their shapes if those are known. Every result must be the same: contents, outcomes, counts.
 * The groups are of few kinds, so that most shapes come again. Their values, events and ranges
 * change all the time. Buffers, sub-buffers, queues and kernels are released and made anew.
 */
#include "library/portable.h"

#include <stdlib.h>
#include <string.h>

#include "syclclient/usm.h"

enum {
	BUFFERS = 3,
	QUEUES = 2,
	EVENTS = 8,
	HALF_BYTES = WORDS_BYTES / 2,
	STEPS = 3000,
	STEPS_BETWEEN_LOOKS = 150
};

static uint64_t random_state;

static uint32_t resubmit_random_for_step(uint32_t below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((random_state >> 33) % below);
}

/* All objects of one connection. */
struct side {
	sycl_platform platform;
	sycl_queue queues[QUEUES]; /* the second one is in order */
	sycl_kernel fill, increment, copy;
	sycl_buffer buffers[BUFFERS], halves[BUFFERS]; /* halves: sub-buffers of the second half */
	sycl_event events[EVENTS];
	uint32_t *shared; /* host USM; NULL: the device has none */
};

enum what {
	FILL,
	INCREMENT,
	COPY,
	FILL_HALF,
	INCREMENT_RANGE,
	FILL_SHARED,
	ND_FILL,
	EMPTY,
	LOSE,
	WHAT_COUNT
};

/* One group, chosen once at random and submitted to both. */
struct step {
	enum what what;
	uint32_t queue, to, from, value, items;
	int32_t event;      /* where its event is kept; -1: none */
	int32_t depends[2]; /* events; -1: none */
};

static struct step resubmit_draw_step(void)
{
	struct step step = {.what = (enum what)resubmit_random_for_step(WHAT_COUNT),
			    .queue = resubmit_random_for_step(QUEUES),
			    .to = resubmit_random_for_step(BUFFERS),
			    .value = resubmit_random_for_step(1u << 30)};
	step.from = (step.to + 1 + resubmit_random_for_step(BUFFERS - 1)) % BUFFERS;
	step.items =
		resubmit_random_for_step(8) ? WORDS / 2 : 1 + resubmit_random_for_step(WORDS / 2);
	step.event = resubmit_random_for_step(3) ? -1 : (int32_t)resubmit_random_for_step(EVENTS);
	for (int i = 0; i < 2; i++)
		step.depends[i] = resubmit_random_for_step(4)
					  ? -1
					  : (int32_t)resubmit_random_for_step(EVENTS);
	if (step.what == LOSE && resubmit_random_for_step(6))
		step.what = FILL;
	return step;
}

static void resubmit_make_kernels(struct side *side)
{
	side->fill = portable_kernel(side->queues[0], "fill_u32");
	side->increment = portable_kernel(side->queues[0], "increment_u32");
	side->copy = portable_kernel(side->queues[0], "copy_u32");
}

static void resubmit_drop_kernels(struct side *side)
{
	MUST(sycl_kernel_release(side->fill));
	MUST(sycl_kernel_release(side->increment));
	MUST(sycl_kernel_release(side->copy));
}

static void resubmit_make_buffer(struct side *side, uint32_t i, uint32_t value)
{
	side->buffers[i] = words_buffer(side->platform, value);
	MUST(sycl_buffer_create_sub(side->buffers[i], HALF_BYTES, HALF_BYTES, &side->halves[i]));
}

static void resubmit_drop_buffer(struct side *side, uint32_t i)
{
	MUST(sycl_buffer_release(side->halves[i]));
	MUST(sycl_buffer_release(side->buffers[i]));
}

static void resubmit_open_side(struct side *side, const char *resubmit)
{
	*side = (struct side){.platform = NULL};
	cr_assert(eq(int, setenv("SYCLD_RESUBMIT", resubmit, 1), 0));
	side->platform = portable_open(0);
	side->queues[0] = portable_queue(side->platform, 0, 0);
	side->queues[1] = portable_beside(side->queues[0], SYCL_QUEUE_IN_ORDER);
	resubmit_make_kernels(side);
	for (uint32_t i = 0; i < BUFFERS; i++)
		resubmit_make_buffer(side, i, i);
	void *shared = NULL;
	if (sycl_malloc_host(side->queues[0], WORDS_BYTES, 0, &shared) == 0)
		memset(shared, 0, WORDS_BYTES);
	side->shared = shared;
}

static void resubmit_close_side(struct side *side)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (side->events[i])
			MUST(sycl_event_release(side->events[i]));
	if (side->shared)
		MUST(sycl_free(side->queues[0], side->shared));
	for (uint32_t i = 0; i < BUFFERS; i++)
		resubmit_drop_buffer(side, i);
	resubmit_drop_kernels(side);
	for (uint32_t i = 0; i < QUEUES; i++)
		MUST(sycl_queue_release(side->queues[i]));
	MUST(sycl_platform_release(side->platform));
}

static sycl_result resubmit_fail_task(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_ERROR_RUNTIME;
}

static void set_to(const struct side *side, const struct step *step, sycl_handler handler)
{
	sycl_access_mode mode =
		step->value % 2 ? SYCL_ACCESS_WRITE_NO_INIT : SYCL_ACCESS_READ_WRITE;
	MUST(sycl_handler_set_accessor(
		handler, 0,
		step->what == FILL_HALF ? side->halves[step->to] : side->buffers[step->to], mode));
	MUST(sycl_handler_set_value(handler, 1, sizeof(step->value), &step->value));
}

static void set_action(const struct side *side, const struct step *step, sycl_handler handler)
{
	switch (step->what) {
	case FILL:
	case FILL_HALF:
		set_to(side, step, handler);
		MUST(sycl_handler_parallel_for(handler, side->fill, sycl_range1(step->items)));
		break;
	case ND_FILL:
		set_to(side, step, handler);
		MUST(sycl_handler_parallel_for_nd(handler, side->fill, sycl_range1(WORDS),
						  sycl_range1(WORDS >> step->value % 3 >> 4)));
		break;
	case EMPTY:
		set_to(side, step, handler);
		MUST(sycl_handler_parallel_for(handler, side->fill, sycl_range1(0)));
		break;
	case INCREMENT:
		MUST(sycl_handler_set_accessor(handler, 0, side->buffers[step->to],
					       SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, side->increment, sycl_range1(WORDS)));
		break;
	case INCREMENT_RANGE:
		MUST(sycl_handler_set_ranged_accessor(handler, 0, side->buffers[step->to],
						      SYCL_ACCESS_READ_WRITE,
						      step->value % 4 * 1024, 1024));
		MUST(sycl_handler_parallel_for(handler, side->increment, sycl_range1(256)));
		break;
	case COPY:
		MUST(sycl_handler_set_accessor(handler, 0, side->buffers[step->to],
					       SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_set_accessor(handler, 1, side->buffers[step->from],
					       SYCL_ACCESS_READ));
		MUST(sycl_handler_parallel_for(handler, side->copy, sycl_range1(WORDS)));
		break;
	case FILL_SHARED:
		MUST(sycl_handler_set_usm(handler, 0, side->shared + step->value % 8 * 64));
		MUST(sycl_handler_set_value(handler, 1, sizeof(step->value), &step->value));
		MUST(sycl_handler_parallel_for(handler, side->fill, sycl_range1(64)));
		break;
	default:
		MUST(sycl_handler_set_host_accessor(handler, 0, side->buffers[step->to],
						    SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_host_task(handler, resubmit_fail_task, NULL, NULL));
		break;
	}
}

static void resubmit_perform(struct side *side, const struct step *step)
{
	sycl_handler handler = NULL;
	/* Only the order of their queue separates groups on shared memory. */
	uint32_t queue_index = step->what == FILL_SHARED ? 1 : step->queue;
	MUST(sycl_handler_begin(side->queues[queue_index], &handler));
	for (int i = 0; i < 2 && step->what != FILL_SHARED; i++)
		if (step->depends[i] >= 0 && side->events[step->depends[i]])
			MUST(sycl_handler_depends_on(handler, side->events[step->depends[i]]));
	set_action(side, step, handler);
	if (step->event < 0) {
		MUST(sycl_handler_submit(handler, NULL));
		return;
	}
	sycl_event made = NULL;
	MUST(sycl_handler_submit(handler, &made));
	if (side->events[step->event])
		MUST(sycl_event_release(side->events[step->event]));
	side->events[step->event] = made;
}

/* Reads a buffer by the host. */
static sycl_result resubmit_read_buffer(sycl_buffer buffer, uint32_t words[WORDS])
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result result = sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor);
	if (result)
		return result;
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	memcpy(words, pointer, WORDS_BYTES);
	MUST(sycl_host_accessor_release(accessor));
	return SYCL_SUCCESS;
}

static void resubmit_compare(struct side *a, struct side *b, uint32_t step)
{
	for (uint32_t i = 0; i < EVENTS; i++) {
		cr_assert(eq(int, a->events[i] != NULL, b->events[i] != NULL));
		if (a->events[i])
			cr_assert(eq(int, sycl_event_wait(a->events[i]),
				     sycl_event_wait(b->events[i])),
				  "step %u, event %u", step, i);
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		uint32_t of_a[WORDS] = {0}, of_b[WORDS] = {0};
		cr_assert(eq(int, resubmit_read_buffer(a->buffers[i], of_a),
			     resubmit_read_buffer(b->buffers[i], of_b)),
			  "step %u, buffer %u", step, i);
		cr_assert(eq(int, memcmp(of_a, of_b, sizeof(of_a)), 0), "step %u, buffer %u", step,
			  i);
	}
	(void)sycl_queue_wait(a->queues[1]);
	(void)sycl_queue_wait(b->queues[1]);
	if (a->shared)
		cr_assert(eq(int, memcmp(a->shared, b->shared, WORDS_BYTES), 0), "step %u", step);
}

/* Sometimes an object is released and made anew. */
static void resubmit_replace(struct side *side, uint32_t what, uint32_t which, uint32_t value)
{
	if (what < 4) {
		resubmit_drop_buffer(side, which % BUFFERS);
		resubmit_make_buffer(side, which % BUFFERS, value);
	} else if (what == 4) {
		sycl_queue old = side->queues[1];
		(void)sycl_queue_wait(old); /* only the queue orders USM */
		side->queues[1] = portable_beside(old, SYCL_QUEUE_IN_ORDER);
		MUST(sycl_queue_release(old));
	} else {
		resubmit_drop_kernels(side);
		resubmit_make_kernels(side);
	}
}

static struct sycl_usage resubmit_usage_of(const struct side *side)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	for (uint32_t i = 0; i < QUEUES; i++)
		(void)sycl_queue_wait(side->queues[i]);
	MUST(sycl_platform_get_usage(side->platform, &usage));
	return usage;
}

TestSuite(resubmit, .init = portable_begin, .fini = portable_end);

Test(resubmit, B12_B15_B19_M9_groups_are_the_same_by_message_and_by_shape, .timeout = 600)
{
	struct side messages, shapes;
	resubmit_open_side(&messages, "0");
	resubmit_open_side(&shapes, "1");
	cr_assert(eq(int, messages.shared != NULL, shapes.shared != NULL));
	random_state = 11;
	for (uint32_t i = 1; i <= STEPS; i++) {
		struct step step = resubmit_draw_step();
		if (step.what == FILL_SHARED && !messages.shared)
			step.what = COPY;
		resubmit_perform(&messages, &step);
		resubmit_perform(&shapes, &step);
		if (i % STEPS_BETWEEN_LOOKS == 0)
			resubmit_compare(&messages, &shapes, i);
		if (resubmit_random_for_step(200) == 0) {
			uint32_t what = resubmit_random_for_step(6),
				 which = resubmit_random_for_step(BUFFERS),
				 value = resubmit_random_for_step(1u << 30);
			resubmit_replace(&messages, what, which, value);
			resubmit_replace(&shapes, what, which, value);
		}
	}
	resubmit_compare(&messages, &shapes, STEPS);
	struct sycl_usage by_message = resubmit_usage_of(&messages),
			  by_shape = resubmit_usage_of(&shapes);
	cr_assert(eq(u64, by_message.groups_submitted, STEPS));
	cr_assert(eq(u64, by_shape.groups_submitted, STEPS));
	cr_assert(eq(u64, by_shape.groups_completed, by_message.groups_completed));
	cr_assert(eq(u64, by_shape.groups_failed, by_message.groups_failed));
	cr_assert(gt(u64, by_shape.groups_failed, 10));
	cr_assert(gt(u64, by_shape.groups_completed, STEPS / 4));
	cr_assert(eq(u64, by_message.groups_resubmitted, 0));
	cr_assert(gt(u64, by_shape.groups_resubmitted, STEPS / 10), "%lu",
		  by_shape.groups_resubmitted);
	resubmit_close_side(&messages);
	resubmit_close_side(&shapes);
}

/* The hot loop: from the third group on only records are sent, whatever the values are. */
Test(resubmit, B15_a_loop_that_changes_values_only_is_resubmitted, .timeout = 60)
{
	struct side side;
	resubmit_open_side(&side, "1");
	for (uint32_t i = 0; i < 1000; i++)
		run_fill(side.queues[1], side.fill, side.buffers[0], i, NULL);
	cr_assert(words_are(side.buffers[0], 999));
	struct sycl_usage usage = resubmit_usage_of(&side);
	cr_assert(eq(u64, usage.groups_submitted, 1000));
	cr_assert(eq(u64, usage.groups_resubmitted, 998));
	resubmit_close_side(&side);
}

enum {
	SHAPES = 300,
	TIMES = 3,
	ROUNDS = 3
}; /* SHAPES: more than either side keeps, which is 128 */

/* Words 0 to `items` - 1 of the first buffer. */
static void launch_range(const struct side *side, uint32_t items, uint32_t value)
{
	const struct sycl_launch_argument arguments[2] = {
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ_WRITE,
		 .buffer = side->buffers[0],
		 .size_bytes = SYCL_REST_BYTES},
		{.kind = SYCL_LAUNCH_VALUE, .size_bytes = sizeof(value), .pointer = &value},
	};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = side->fill;
	launch.global = sycl_range1(items);
	launch.local = sycl_range1(1);
	launch.arguments = arguments;
	launch.argument_count = 2;
	MUST(sycl_queue_launch(side->queues[1], &launch, NULL));
}

static uint32_t value_of(uint32_t round, uint32_t items, uint32_t time)
{
	return (round * SHAPES + items) * TIMES + time;
}

/* Each word has the value of the last group whose range contained it. */
static void check_ranges(const struct side *side, uint32_t round)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(side->buffers[0], SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint32_t i = 0; i < SHAPES; i++)
		cr_assert(
			eq(u32, ((const uint32_t *)pointer)[i], value_of(round, i + 1, TIMES - 1)),
			"%u", i);
	MUST(sycl_host_accessor_release(accessor));
}

/*
 * Each shape is sent, defined and named. Then others take its place, on both sides. If only one
 * side dropped a shape, the other one would name a missing shape, or run the former one.
 */
Test(resubmit, B15_shapes_that_others_have_taken_the_place_of_are_defined_anew, .timeout = 240)
{
	struct side side;
	resubmit_open_side(&side, "1");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t items = SHAPES; items > 0; items--)
			for (uint32_t time = 0; time < TIMES; time++)
				launch_range(&side, items, value_of(round, items, time));
		check_ranges(&side, round);
	}
	struct sycl_usage usage = resubmit_usage_of(&side);
	cr_assert(eq(u64, usage.groups_submitted, ROUNDS * SHAPES * TIMES));
	cr_assert(ge(u64, usage.groups_resubmitted, ROUNDS * SHAPES),
		  "each is named at its third time, if not before");
	/* In the next round at most as many shapes of this one are known as there are places. */
	cr_assert(le(u64, usage.groups_resubmitted,
		     ROUNDS * SHAPES + (ROUNDS - 1) * 128 * (TIMES - 1)));
	resubmit_close_side(&side);
}

static void launch_fill(const struct side *side, const struct step *step, sycl_event after,
			sycl_event *event_out)
{
	const struct sycl_launch_argument arguments[2] = {
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ_WRITE,
		 .buffer = side->buffers[step->to],
		 .size_bytes = SYCL_REST_BYTES},
		{.kind = SYCL_LAUNCH_VALUE,
		 .size_bytes = sizeof(step->value),
		 .pointer = &step->value},
	};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = side->fill;
	launch.global = sycl_range1(WORDS);
	launch.arguments = arguments;
	launch.argument_count = 2;
	launch.depends_on = &after;
	launch.depends_on_count = after ? 1 : 0;
	MUST(sycl_queue_launch(side->queues[step->queue], &launch, event_out));
}

/* In one call or with a handler: the same group, of the same shape. */
Test(resubmit, B15_B16_a_launch_in_one_call_is_the_same_group, .timeout = 60)
{
	struct side side;
	resubmit_open_side(&side, "1");
	sycl_event event = NULL;
	struct step step = {.queue = 1};
	for (step.value = 0; step.value < 1000; step.value++) {
		if (step.value % 3)
			launch_fill(&side, &step, NULL, NULL);
		else
			run_fill(side.queues[1], side.fill, side.buffers[0], step.value, NULL);
	}
	cr_assert(words_are(side.buffers[0], 999));
	cr_assert(eq(u64, resubmit_usage_of(&side).groups_resubmitted, 998));
	/* Events of both kinds of queue, as requisites. */
	for (uint32_t i = 0; i < 100; i++) {
		sycl_event before = event;
		step.queue = i % 2;
		step.to = i % BUFFERS;
		step.value = 5000 + i;
		event = NULL;
		launch_fill(&side, &step, before, &event);
		if (before)
			MUST(sycl_event_release(before));
	}
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	cr_assert(words_are(side.buffers[0], 5099));
	cr_assert(words_are(side.buffers[2], 5098));
	if (side.shared) {
		const uint32_t value = 77;
		const struct sycl_launch_argument arguments[2] = {
			{.kind = SYCL_LAUNCH_USM, .pointer = side.shared},
			{.kind = SYCL_LAUNCH_VALUE, .size_bytes = sizeof(value), .pointer = &value},
		};
		struct sycl_launch launch = SYCL_LAUNCH_INIT;
		launch.kernel = side.fill;
		launch.global = launch.local = sycl_range1(64);
		launch.arguments = arguments;
		launch.argument_count = 2;
		MUST(sycl_queue_launch(side.queues[1], &launch, NULL));
		MUST(sycl_queue_wait(side.queues[1]));
		cr_assert(eq(u32, side.shared[63], 77));
		cr_assert(ne(u32, side.shared[64], 77));
	}
	resubmit_close_side(&side);
}

Test(resubmit, E14_E22_a_launch_in_one_call_is_checked_like_a_handler, .timeout = 60)
{
	struct side side;
	resubmit_open_side(&side, "1");
	const uint32_t value = 1;
	struct sycl_launch_argument arguments[3] = {
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ_WRITE,
		 .buffer = side.buffers[0],
		 .size_bytes = 64},
		{.kind = SYCL_LAUNCH_VALUE, .size_bytes = sizeof(value), .pointer = &value},
		{.kind = SYCL_LAUNCH_LOCAL, .size_bytes = 64},
	};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = side.fill;
	launch.global = sycl_range1(16);
	launch.arguments = arguments;
	launch.argument_count = 3;
	sycl_event event = NULL;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_KERNEL_ARGUMENT);
	launch.argument_count = 1;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_KERNEL_ARGUMENT);
	launch.argument_count = 2;
	arguments[1].kind = 9;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_KERNEL_ARGUMENT);
	arguments[1].kind = SYCL_LAUNCH_VALUE;
	arguments[1].reserved = 1;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID);
	arguments[1].reserved = 0;
	arguments[0].size_bytes = WORDS_BYTES + 1;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID);
	arguments[0].size_bytes = 64;
	arguments[0].buffer = NULL;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID_HANDLE);
	arguments[0].buffer = side.buffers[0];
	launch.local = sycl_range1(5);
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_ND_RANGE);
	launch.local.dimensions = 0;
	launch.depends_on_count = 1;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID);
	launch.depends_on_count = 0;
	launch.struct_bytes--;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID);
	launch.struct_bytes++;
	launch.kernel = NULL;
	REFUSED(sycl_queue_launch(side.queues[0], &launch, &event), SYCL_ERROR_INVALID_HANDLE);
	launch.kernel = side.fill;
	REFUSED(sycl_queue_launch(side.queues[0], NULL, &event), SYCL_ERROR_INVALID);
	cr_assert(eq(ptr, event, NULL));
	MUST(sycl_queue_launch(side.queues[0], &launch, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	uint32_t count = 0;
	MUST(sycl_buffer_get_reference_count(side.buffers[0], &count));
	cr_assert(eq(u32, count, 1));
	cr_assert(eq(u64, resubmit_usage_of(&side).groups_submitted, 1));
	resubmit_close_side(&side);
}
