/*
 * Launches in one call that are repeated, on two connections. One connection checks each launch
 * anew; the other one sends them from what it has kept. Every result must be the same: contents,
 * outcomes, counts, errors. Values change all the time. Sometimes buffers, kernels and queues are
 * released and made anew.
 */
#include "library/portable.h"

#include <stdlib.h>
#include <string.h>

#include "syclclient/graph.h"

enum {
	BUFFERS = 3,
	QUEUES = 2,
	HALF_BYTES = WORDS_BYTES / 2,
	STEPS = 4000,
	STEPS_BETWEEN_LOOKS = 200
};

static uint64_t random_state;

static uint32_t repeats_random_for_step(uint32_t below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((random_state >> 33) % below);
}

struct side {
	sycl_platform platform;
	sycl_queue queues[QUEUES]; /* the second one is in order */
	sycl_kernel fill, copy;
	sycl_buffer buffers[BUFFERS], halves[BUFFERS]; /* halves: sub-buffers of the second half */
	sycl_event event; /* the last event that was requested, or NULL */
};

/* One launch, chosen once at random and sent to both. */
struct step {
	bool copies, on_half, wants_event, depends;
	uint32_t queue, to, from, value, items;
};

static struct step repeats_draw_step(void)
{
	struct step step = {.copies = repeats_random_for_step(3) == 0,
			    .on_half = repeats_random_for_step(3) == 0,
			    .wants_event = repeats_random_for_step(3) == 0,
			    .depends = repeats_random_for_step(8) == 0,
			    .queue = repeats_random_for_step(QUEUES),
			    .to = repeats_random_for_step(BUFFERS),
			    .value = repeats_random_for_step(1u << 30),
			    .items = repeats_random_for_step(2) ? WORDS / 2 : 100};
	step.from = (step.to + 1 + repeats_random_for_step(BUFFERS - 1)) % BUFFERS;
	return step;
}

static void repeats_make_buffer(struct side *side, uint32_t i, uint32_t value)
{
	side->buffers[i] = words_buffer(side->platform, value);
	MUST(sycl_buffer_create_sub(side->buffers[i], HALF_BYTES, HALF_BYTES, &side->halves[i]));
}

static void repeats_drop_buffer(struct side *side, uint32_t i)
{
	MUST(sycl_buffer_release(side->halves[i]));
	MUST(sycl_buffer_release(side->buffers[i]));
}

static void repeats_make_kernels(struct side *side)
{
	side->fill = portable_kernel(side->queues[0], "fill_u32");
	side->copy = portable_kernel(side->queues[0], "copy_u32");
}

static void repeats_drop_kernels(struct side *side)
{
	MUST(sycl_kernel_release(side->fill));
	MUST(sycl_kernel_release(side->copy));
}

static void repeats_open_side(struct side *side, const char *repeat)
{
	*side = (struct side){.platform = NULL};
	cr_assert(eq(int, setenv("SYCLD_REPEAT", repeat, 1), 0));
	side->platform = portable_open(0);
	side->queues[0] = portable_queue(side->platform, 0, 0);
	side->queues[1] = portable_beside(side->queues[0], SYCL_QUEUE_IN_ORDER);
	repeats_make_kernels(side);
	for (uint32_t i = 0; i < BUFFERS; i++)
		repeats_make_buffer(side, i, i);
}

static void repeats_close_side(struct side *side)
{
	if (side->event)
		MUST(sycl_event_release(side->event));
	for (uint32_t i = 0; i < BUFFERS; i++)
		repeats_drop_buffer(side, i);
	repeats_drop_kernels(side);
	for (uint32_t i = 0; i < QUEUES; i++)
		MUST(sycl_queue_release(side->queues[i]));
	MUST(sycl_platform_release(side->platform));
}

static void repeats_perform(struct side *side, const struct step *step)
{
	struct sycl_launch_argument arguments[2];
	arguments[0] =
		sycl_launch_buffer(step->on_half ? side->halves[step->to] : side->buffers[step->to],
				   SYCL_ACCESS_READ_WRITE);
	arguments[1] = step->copies
			       ? sycl_launch_buffer(side->buffers[step->from], SYCL_ACCESS_READ)
			       : sycl_launch_value(sizeof(step->value), &step->value);
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = step->copies ? side->copy : side->fill;
	launch.global = sycl_range1(step->items);
	launch.arguments = arguments;
	launch.argument_count = 2;
	launch.depends_on = &side->event;
	launch.depends_on_count = step->depends && side->event ? 1 : 0;
	sycl_event made = NULL;
	MUST(sycl_queue_launch(side->queues[step->queue], &launch,
			       step->wants_event ? &made : NULL));
	if (!made)
		return;
	if (side->event)
		MUST(sycl_event_release(side->event));
	side->event = made;
}

static void repeats_read_buffer(sycl_buffer buffer, uint32_t words[WORDS])
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	memcpy(words, pointer, WORDS_BYTES);
	MUST(sycl_host_accessor_release(accessor));
}

static void repeats_compare(struct side *a, struct side *b, uint32_t step)
{
	cr_assert(eq(int, a->event != NULL, b->event != NULL));
	if (a->event)
		MUST(sycl_event_wait(b->event));
	for (uint32_t i = 0; i < BUFFERS; i++) {
		uint32_t of_a[WORDS], of_b[WORDS];
		repeats_read_buffer(a->buffers[i], of_a);
		repeats_read_buffer(b->buffers[i], of_b);
		cr_assert(eq(int, memcmp(of_a, of_b, sizeof(of_a)), 0), "step %u, buffer %u", step,
			  i);
	}
}

static void repeats_replace(struct side *side, uint32_t what, uint32_t which, uint32_t value)
{
	if (what < 3) {
		repeats_drop_buffer(side, which % BUFFERS);
		repeats_make_buffer(side, which % BUFFERS, value);
	} else if (what == 3) {
		sycl_queue old = side->queues[1];
		side->queues[1] = portable_beside(old, SYCL_QUEUE_IN_ORDER);
		MUST(sycl_queue_release(old));
	} else {
		repeats_drop_kernels(side);
		repeats_make_kernels(side);
	}
}

static struct sycl_usage repeats_usage_of(const struct side *side)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	for (uint32_t i = 0; i < QUEUES; i++)
		MUST(sycl_queue_wait(side->queues[i]));
	MUST(sycl_platform_get_usage(side->platform, &usage));
	return usage;
}

TestSuite(repeats, .init = portable_begin, .fini = portable_end);

Test(repeats, B12_B15_SYCLD_REPEAT_launches_are_the_same_kept_or_not, .timeout = 600)
{
	struct side anew, kept;
	repeats_open_side(&anew, "0");
	repeats_open_side(&kept, "1");
	random_state = 5;
	for (uint32_t i = 1; i <= STEPS; i++) {
		struct step step = repeats_draw_step();
		repeats_perform(&anew, &step);
		repeats_perform(&kept, &step);
		if (i % STEPS_BETWEEN_LOOKS == 0)
			repeats_compare(&anew, &kept, i);
		if (repeats_random_for_step(300) == 0) {
			uint32_t what = repeats_random_for_step(5),
				 which = repeats_random_for_step(BUFFERS),
				 value = repeats_random_for_step(1u << 30);
			repeats_replace(&anew, what, which, value);
			repeats_replace(&kept, what, which, value);
		}
	}
	repeats_compare(&anew, &kept, STEPS);
	struct sycl_usage of_anew = repeats_usage_of(&anew), of_kept = repeats_usage_of(&kept);
	cr_assert(eq(u64, of_kept.groups_submitted, STEPS));
	cr_assert(eq(u64, of_kept.groups_completed, of_anew.groups_completed));
	cr_assert(gt(u64, of_anew.groups_resubmitted, STEPS / 4));
	cr_assert(gt(u64, of_kept.groups_resubmitted, STEPS / 4));
	repeats_close_side(&anew);
	repeats_close_side(&kept);
}

struct call {
	struct side *side;
	struct sycl_launch launch;
	struct sycl_launch_argument arguments[2];
	uint32_t value;
};

static void make_call(struct call *call, struct side *side)
{
	*call = (struct call){
		.side = side, .launch = (struct sycl_launch)SYCL_LAUNCH_INIT, .value = 9};
	call->arguments[0] = sycl_launch_buffer(side->buffers[0], SYCL_ACCESS_READ_WRITE);
	call->arguments[1] = sycl_launch_value(sizeof(call->value), &call->value);
	call->launch.kernel = side->fill;
	call->launch.global = sycl_range1(64);
	call->launch.local = sycl_range1(8);
	call->launch.arguments = call->arguments;
	call->launch.argument_count = 2;
}

/* Returns the outcome of the call with one mistake that the call before did not have. */
static sycl_result mistaken(struct call *call, uint32_t mistake)
{
	sycl_queue on = call->side->queues[1];
	struct sycl_launch *launch = &call->launch;
	switch (mistake) {
	case 0:
		launch->struct_bytes--;
		break;
	case 1:
		launch->reserved = 1;
		break;
	case 2:
		launch->arguments = NULL;
		break;
	case 3:
		call->arguments[0].reserved = 1;
		break;
	case 4:
		call->arguments[1].pointer = NULL;
		break;
	case 5:
		call->arguments[1].size_bytes = 2;
		break;
	case 6:
		call->arguments[0].size_bytes = WORDS_BYTES + 4;
		break;
	case 7:
		call->arguments[0].mode = 1000;
		break;
	case 8:
		launch->local = sycl_range1(7);
		break;
	case 9:
		launch->argument_count = 1;
		break;
	case 10:
		launch->kernel = (sycl_kernel)call->side->buffers[0];
		break;
	case 11:
		call->arguments[0].buffer = (sycl_buffer)call->side->fill;
		break;
	case 12:
		launch->depends_on_count = 1;
		break;
	case 13:
		repeats_drop_buffer(call->side, 0);
		break;
	case 14:
		MUST(sycl_kernel_release(call->side->fill));
		break;
	default:
		on = NULL;
	}
	return sycl_queue_launch(on, launch, NULL);
}

static void undo_mistake(struct side *side, uint32_t mistake)
{
	if (mistake == 13)
		repeats_make_buffer(side, 0, 0);
	if (mistake == 14)
		side->fill = portable_kernel(side->queues[0], "fill_u32");
}

Test(repeats, E14_E22_SYCLD_REPEAT_a_launch_that_is_kept_is_checked_like_any_other, .timeout = 120)
{
	struct side sides[2];
	repeats_open_side(&sides[0], "0");
	repeats_open_side(&sides[1], "1");
	for (uint32_t mistake = 0; mistake < 16; mistake++) {
		sycl_result results[2];
		for (uint32_t i = 0; i < 2; i++) {
			struct call call;
			make_call(&call, &sides[i]);
			for (uint32_t time = 0; time < 6; time++)
				MUST(sycl_queue_launch(sides[i].queues[1], &call.launch, NULL));
			results[i] = mistaken(&call, mistake);
			undo_mistake(&sides[i], mistake);
		}
		cr_assert(ne(int, results[0], SYCL_SUCCESS), "mistake %u", mistake);
		cr_assert(eq(int, results[1], results[0]), "mistake %u", mistake);
	}
	cr_assert(eq(u64, repeats_usage_of(&sides[0]).groups_submitted,
		     repeats_usage_of(&sides[1]).groups_submitted));
	repeats_close_side(&sides[0]);
	repeats_close_side(&sides[1]);
}

/* A queue that is recorded executes nothing, also no launch that it has kept. */
Test(repeats, L4_a_launch_that_is_kept_is_recorded, .timeout = 60)
{
	struct side side;
	repeats_open_side(&side, "1");
	struct call call;
	make_call(&call, &side);
	call.launch.global = sycl_range1(WORDS);
	for (uint32_t time = 0; time < 6; time++)
		MUST(sycl_queue_launch(side.queues[1], &call.launch, NULL));
	cr_assert(words_are(side.buffers[0], 9));
	sycl_graph graph = NULL;
	sycl_device device = NULL;
	sycl_context context = NULL;
	MUST(sycl_queue_get_device(side.queues[1], &device));
	MUST(sycl_queue_get_context(side.queues[1], &context));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &side.queues[1]));
	call.value = 10;
	MUST(sycl_queue_launch(side.queues[1], &call.launch, NULL));
	MUST(sycl_graph_end_recording(graph, 1, &side.queues[1]));
	MUST(sycl_queue_wait(side.queues[1]));
	MUST(sycl_graph_release(graph));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	cr_assert(words_are(side.buffers[0], 9));
	call.value = 11;
	MUST(sycl_queue_launch(side.queues[1], &call.launch, NULL));
	cr_assert(words_are(side.buffers[0], 11));
	repeats_close_side(&side);
}
