/* Graphs that a session launches again and again, whose tasks the engine keeps: their results are
 * those of any launch, and what has changed is found as always. */
#include "protocol/groups_fixture.h"
#include "switches.h"

#include <stdlib.h>

enum { ROUNDS = 12 };

static uint32_t access_number;

static uint64_t kept_graph_id(void)
{
	return raw_id(OBJECT_GRAPH, 200);
}

/* A node belongs to no queue. */
static Sycl__V1__CommandGroup *node_of(struct build *build)
{
	build->group.queue = build->group.group = 0;
	build->group.wants_slot = false;
	return &build->group;
}

/* BUFFER gets an even value, or the kernel fails. */
static Sycl__V1__CommandGroup *node_fill(struct build *build, uint32_t buffer, uint32_t value)
{
	build_begin(build);
	build_require(build, buffer, ACCESS_MODE_READ_WRITE);
	build_accessor(build, 0);
	build_value(build, value);
	build_launch(build, EVEN, 1024);
	return node_of(build);
}

static Sycl__V1__CommandGroup *node_increment(struct build *build, uint32_t buffer)
{
	build_begin(build);
	build_require(build, buffer, ACCESS_MODE_READ_WRITE);
	build_accessor(build, 0);
	build_launch(build, INCREMENT, 1024);
	return node_of(build);
}

/* BUFFER gets 2, and one is added to OTHER. */
static void start_keeping_graph(bool timed)
{
	struct build build;
	cr_assert(eq(int, setenv(SWITCH_KEEP_ALL, "1", 1), 0));
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_GRAPH_UPDATE});
	groups_start_timed(0, timed);
	access_number = 0;
	(void)raw_graph_updatable(client, kept_graph_id(), raw_id(OBJECT_CONTEXT, CONTEXT), device,
				  2);
	(void)raw_graph_node(client, kept_graph_id(), node_fill(&build, BUFFER, 2), NULL, 0);
	uint32_t after[] = {0};
	(void)raw_graph_node(client, kept_graph_id(), node_increment(&build, OTHER), after, 1);
	(void)raw_graph_finish(client, kept_graph_id());
}

static uint64_t send_graph_launch(bool ordered, uint64_t number)
{
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	message.graph = kept_graph_id();
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = groups_queue(ordered);
	group.group = number;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &group;
	(void)raw_send(client, &command);
	return number;
}

static void update_first_node(Sycl__V1__CommandGroup *group)
{
	(void)raw_graph_update(client, kept_graph_id(), group);
}

/* The host writes all of BUFFER. */
static void overwrite_buffer(uint32_t value)
{
	const uint32_t once = 40 + access_number++;
	groups_access(once, BUFFER, ACCESS_MODE_READ_WRITE, once);
	cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
	uint32_t *words = client->arenas[0]->address;
	for (int i = 0; i < 1024; i++)
		words[i] = value;
	(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
}

/* Each adds one to OTHER, which had `from`. Returns what it has then. */
static uint32_t launch_rounds(uint32_t from, uint32_t value, bool ordered)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(void)send_graph_launch(ordered, groups_number(ordered));
		expect_words(i % 2 ? OTHER : BUFFER, i % 2 ? from + i + 1 : value,
			     40 + access_number++);
	}
	(void)groups_wait(ordered); /* its status is that of an earlier failure, too */
	return from + ROUNDS;
}

Test(groups, TR2_a_graph_whose_task_is_kept_has_its_results_each_time)
{
	start_keeping_graph(false);
	const uint64_t before = fake_counters_of(FAKE_ANY_DEVICE).graph_launches;
	uint32_t count = launch_rounds(0, 2, true);
	count = launch_rounds(count, 2, false);
	(void)launch_rounds(count, 2, true);
	cr_expect(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches - before,
		     UINT64_C(3) * ROUNDS));
	const Sycl__V1__Usage usage = groups_usage();
	cr_expect(eq(u64, usage.groups_submitted, UINT64_C(3) * ROUNDS));
	cr_expect(eq(u64, usage.groups_completed, UINT64_C(3) * ROUNDS));
	/* The first one on a queue has a task of its own. */
	cr_expect(eq(u64, groups_counters().kept_graphs, UINT64_C(3) * (ROUNDS - 1)));
	groups_stop();
}

Test(groups, TR2_no_task_of_a_graph_is_kept_where_that_is_switched_off)
{
	static const char *const switches[] = {SWITCH_KEEP, SWITCH_KEEP_GRAPHS};
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert(eq(int, setenv(switches[i], "0", 1), 0));
		start_keeping_graph(false);
		(void)launch_rounds(0, 2, true);
		cr_expect(eq(u64, groups_counters().kept_graphs, 0));
		groups_stop();
		cr_assert(eq(int, unsetenv(switches[i]), 0));
	}
}

/* Its launches have times, and are not kept. */
Test(groups, H3_launches_of_a_graph_on_a_queue_with_profiling_have_times)
{
	start_keeping_graph(true);
	(void)launch_rounds(0, 2, true);
	const Sycl__V1__Profile profile = groups_profile(groups_queue(true), ROUNDS);
	cr_expect(ge(u64, profile.start_ns, profile.submit_ns));
	cr_expect(ge(u64, profile.end_ns, profile.start_ns));
	cr_expect(eq(u64, groups_counters().kept_graphs, 0));
	groups_stop();
}

/* Other values; and a buffer that no node used when the task was kept, also where the host has
 * written it since. */
Test(groups, L13_a_change_of_a_graph_whose_task_is_kept)
{
	struct build build;
	start_keeping_graph(false);
	update_first_node(node_fill(&build, OTHER, 10));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(void)send_graph_launch(true, groups_number(true));
		expect_words(i % 2 ? OTHER : BUFFER, i % 2 ? 11 : 0, 40 + access_number++);
	}
	update_first_node(node_fill(&build, BUFFER, 6));
	uint32_t count = launch_rounds(11, 6, true);
	overwrite_buffer(5);
	count = launch_rounds(count, 6, true);
	update_first_node(node_fill(&build, BUFFER, 8));
	(void)launch_rounds(count, 8, true);
	groups_stop();
}

Test(groups, M9_a_launch_that_fails_of_a_graph_whose_task_is_kept)
{
	struct build build;
	start_keeping_graph(false);
	(void)launch_rounds(0, 2, true);
	for (uint32_t i = 0; i < 3; i++) {
		update_first_node(node_fill(&build, BUFFER, 7));
		const uint64_t failed = send_graph_launch(true, groups_number(true));
		expect_failed(groups_queue(true), failed, STATUS_KERNEL, "7 is odd");
		expect_poisoned(BUFFER, 40 + access_number++);
		expect_poisoned(OTHER, 40 + access_number++);
		for (uint32_t buffer = BUFFER; buffer <= OTHER; buffer++) {
			build_fill(&build, buffer, 2);
			build.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
			(void)build_submit(&build, true);
		}
		update_first_node(node_fill(&build, BUFFER, 8));
		(void)launch_rounds(2, 8, true);
	}
	groups_stop();
}

Test(groups, a_kept_graph_whose_buffer_was_released_closes_the_session)
{
	start_keeping_graph(false);
	(void)launch_rounds(0, 2, true);
	(void)raw_release(client, raw_id(OBJECT_BUFFER, OTHER));
	(void)send_graph_launch(true, groups_number(true));
	groups_expect_closed("buffer");
}

Test(groups, a_kept_graph_with_the_number_of_another_group_closes_the_session)
{
	start_keeping_graph(false);
	(void)launch_rounds(0, 2, true);
	(void)send_graph_launch(true, ROUNDS + 2);
	groups_expect_closed("came where");
}

/* The graph ends with its last launch. */
Test(groups, L16_a_kept_graph_that_is_released_behind_a_launch)
{
	start_keeping_graph(false);
	const uint32_t count = launch_rounds(0, 2, true);
	(void)send_graph_launch(true, groups_number(true));
	(void)raw_release(client, kept_graph_id());
	expect_words(OTHER, count + 1, 40 + access_number++);
	cr_assert(eq(u32, groups_wait(true), 0));
	groups_stop();
}
