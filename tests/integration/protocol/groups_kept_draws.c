/* Random stretches, some of which come again and again, with other commands between them. The
 * contents and the failures are those of groups that come alone. */
#include "protocol/groups_fixture.h"
#include "processors.h"
#include "resubmit.h"
#include "switches.h"

#include <stdlib.h>

enum { SHAPES = 6, ROWS = 3, ROW_MOST = 6, ROUNDS = 120, SEEDS = 16, GENERATION = 1, FRESH = 500 };

/* What a shape's group does: fills a buffer with an even value, adds 1 to it, or copies the other
 * one into it. Some fail: those with an odd value. */
static const struct draw_shape {
	enum kernel_name kernel;
	uint32_t to;
} shapes[SHAPES] = {
	{EVEN, BUFFER},     {EVEN, OTHER},  {INCREMENT, BUFFER},
	{INCREMENT, OTHER}, {COPY, BUFFER}, {COPY, OTHER},
};

struct draw_row {
	uint32_t count, shapes[ROW_MOST]; /* indexes of `shapes` */
};

/* What each buffer has, and what the client has not been told of yet. */
static struct draws {
	uint64_t state;
	uint32_t value[2];
	bool is_lost[2];
	uint32_t objects; /* made so far */
	uint64_t failed[2 * ROW_MOST];
	bool fails_itself[2 * ROW_MOST];
	uint32_t failed_count;
} draws;

static uint32_t draw(uint32_t below)
{
	draws.state = draws.state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(draws.state >> 33) % below;
}

static uint32_t other_of(uint32_t buffer)
{
	return buffer == BUFFER ? OTHER : BUFFER;
}

static uint64_t draws_define(uint32_t index)
{
	const struct draw_shape *shape = &shapes[index];
	struct build build;
	build_begin(&build);
	if (shape->kernel == COPY)
		build_require(&build, other_of(shape->to), ACCESS_MODE_READ);
	build_require(&build, shape->to,
		      shape->kernel == INCREMENT ? ACCESS_MODE_READ_WRITE
						 : ACCESS_MODE_WRITE_NO_INIT);
	build_accessor(&build, shape->kernel == COPY);
	if (shape->kernel == COPY)
		build_accessor(&build, 0);
	if (shape->kernel == EVEN)
		build_value(&build, 2);
	build_launch(&build, shape->kernel, 1024);
	build.group.shape = 1 + index;
	build.group.shape_generation = GENERATION;
	return build_submit(&build, true);
}

/* The contents after the group. Returns whether it succeeds. */
static bool draws_apply(const struct draw_shape *shape, uint32_t value, bool *by_itself_out)
{
	const uint32_t to = shape->to - BUFFER, from = other_of(shape->to) - BUFFER;
	*by_itself_out = shape->kernel == EVEN && value % 2 == 1;
	if (shape->kernel == EVEN) {
		draws.value[to] = value;
		draws.is_lost[to] = *by_itself_out;
	} else if (shape->kernel == COPY) {
		draws.value[to] = draws.value[from];
		draws.is_lost[to] = draws.is_lost[from];
	} else {
		draws.value[to]++;
	}
	return !draws.is_lost[to];
}

static void send_draw(uint32_t index, bool is_silent, bool has_event)
{
	const struct draw_shape *shape = &shapes[index];
	struct {
		struct resubmit_record head;
		uint32_t value;
	} record = {.head = {.shape = 1 + index,
			     .generation = GENERATION,
			     .group = groups_number(true),
			     .flags = has_event ? RESUBMIT_HAS_EVENT : 0,
			     .rest_bytes = shape->kernel == EVEN ? 4 : 0},
		    .value = 2 * draw(1000) + (draw(40) == 0)};
	bool by_itself;
	if (!draws_apply(shape, record.value, &by_itself)) {
		draws.failed[draws.failed_count] = record.head.group;
		draws.fails_itself[draws.failed_count++] = by_itself;
	}
	client->silent = is_silent;
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, &record,
			     sizeof(record.head) + record.head.rest_bytes);
	client->silent = false;
}

static void expect_draws_failed(void)
{
	for (uint32_t i = 0; i < draws.failed_count; i++)
		expect_failed(groups_queue(true), draws.failed[i],
			      draws.fails_itself[i] ? STATUS_KERNEL : STATUS_DEPENDENCY_FAILED,
			      "is odd");
	draws.failed_count = 0;
}

static void expect_buffer(uint32_t buffer)
{
	const uint32_t once = FRESH + draws.objects++;
	if (draws.is_lost[buffer - BUFFER])
		expect_poisoned(buffer, once);
	else
		expect_words(buffer, draws.value[buffer - BUFFER], once);
}

static void write_at_host(uint32_t buffer)
{
	const uint32_t once = FRESH + draws.objects++, value = 2 * draw(1000);
	groups_access(once, buffer, ACCESS_MODE_WRITE_NO_INIT, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
	uint32_t *words = (uint32_t *)(uintptr_t)groups_words(buffer);
	for (uint32_t i = 0; i < 1024; i++)
		words[i] = value;
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
	draws.value[buffer - BUFFER] = value;
	draws.is_lost[buffer - BUFFER] = false;
}

/* All shapes name the same objects, but the engine does not know that another one is none of
 * them. */
static void release_another(void)
{
	const uint64_t id = raw_id(OBJECT_BUFFER, FRESH + draws.objects++);
	(void)raw_buffer(client, id, 0, 8192, 64);
	(void)raw_release(client, id);
}

static void write_in_other_queue(uint32_t buffer)
{
	struct build build;
	(void)groups_wait(true);
	draws.value[buffer - BUFFER] = 2 * draw(1000);
	draws.is_lost[buffer - BUFFER] = false;
	build_fill(&build, buffer, draws.value[buffer - BUFFER]);
	build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&build, false);
	if (draw(2))
		(void)groups_wait(false);
}

static void define_again(void)
{
	const uint32_t index = draw(SHAPES);
	bool by_itself;
	const bool succeeds = draws_apply(&shapes[index], 2, &by_itself);
	const uint64_t group = draws_define(index);
	if (succeeds)
		return;
	draws.failed[draws.failed_count] = group;
	draws.fails_itself[draws.failed_count++] = false;
}

static void do_another_thing(void)
{
	const uint32_t buffer = BUFFER + draw(2);
	switch (draw(16)) {
	case 0:
		write_at_host(buffer);
		break;
	case 1:
		release_another();
		break;
	case 2:
		write_in_other_queue(buffer);
		break;
	case 3:
		(void)raw_ping(client);
		break;
	case 4:
		define_again();
		break;
	default:
		expect_buffer(buffer);
	}
}

static void send_row(const struct draw_row *row)
{
	const uint32_t part = draw(8) ? row->count : draw(row->count), events = draw(6);
	for (uint32_t i = 0; i < row->count; i++) {
		const bool is_last = i + 1 == row->count || i + 1 == part;
		send_draw(row->shapes[i], !is_last && draw(8) > 0,
			  (events == 0 && is_last) || (events == 1 && draw(3) == 0));
		if (i + 1 == part && part < row->count)
			do_another_thing();
	}
}

/* Only groups that need what the one before writes are taken as one. */
static uint32_t draw_shape(const struct draw_row *row, uint32_t at)
{
	uint32_t index = draw(SHAPES);
	if (at == 0 || draw(10) == 0)
		return index;
	const uint32_t before = shapes[row->shapes[at - 1]].to;
	while (shapes[index].kernel == EVEN ||
	       (shapes[index].kernel == COPY) == (shapes[index].to == before))
		index = draw(SHAPES);
	return index;
}

/* Most differ from the first at their end. */
static void draw_rows(struct draw_row rows[ROWS])
{
	for (uint32_t r = 0; r < ROWS; r++) {
		const bool is_alike = r > 0 && draw(4) > 0;
		rows[r].count = is_alike ? rows[0].count : 2 + draw(ROW_MOST - 1);
		for (uint32_t i = 0; i < rows[r].count; i++)
			rows[r].shapes[i] = is_alike && i + 1 < rows[r].count
						    ? rows[0].shapes[i]
						    : draw_shape(&rows[r], i);
	}
}

static void run_draws(uint64_t seed)
{
	struct draw_row rows[ROWS];
	draws = (struct draws){.state = seed};
	/* Half of the devices let kept tasks do reads themselves. */
	fake_reset();
	fake_device_options(
		0, (struct fake_device_options){.features = BACKEND_FEATURE_HOST_REGISTER,
						.rows = seed % 4 < 2,
						.lane_copy_bytes = seed % 4 < 2 ? 65536 : 0});
	groups_start_timed(0, false);
	fake_clock(1000000000, 1000);
	for (uint32_t i = 0; i < SHAPES; i++) {
		bool by_itself;
		(void)draws_define(i);
		(void)draws_apply(&shapes[i], 2, &by_itself);
	}
	cr_assert(eq(u32, groups_wait(true), 0));
	draw_rows(rows);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		send_row(&rows[draw(3) ? 0 : draw(ROWS)]);
		do_another_thing();
		if (draws.failed_count > 0) {
			(void)groups_wait(true);
			expect_draws_failed();
		}
		if (draw(30) == 0)
			draw_rows(rows);
	}
	expect_buffer(BUFFER);
	expect_buffer(OTHER);
	groups_stop();
}

/* Half of the engines wait for the rest of a stretch, as on machines with more processors. */
Test(groups, TR5_M9_random_stretches_have_the_results_of_their_groups)
{
	uint64_t kept = 0, reads = 0;
	cr_assert(eq(int, setenv(SWITCH_KEEP_ALL, "1", 1), 0));
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		cr_assert(eq(int, setenv(PROCESSORS_VARIABLE, seed % 2 ? "4" : "2", 1), 0));
		run_draws(seed);
		kept += groups_kept_launches();
		reads += groups_kept_reads();
	}
	cr_expect(gt(u64, kept, 0));
	cr_expect(gt(u64, reads, 0));
}
