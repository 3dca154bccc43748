/* Temporaries of graphs, of clients that use them in every other way, and the end of their memory
 * (L11, L16, F1). */
#include "access_mode.h"
#include "clock.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#include <string.h>

#define PATIENCE_NS 50000000000u

enum { ACCESS_SLOT = 22, OTHER_TASK_SLOT = 23, TEMPORARY_BYTES = 8192 };

static uint64_t temporary_id(uint32_t index)
{
	return raw_id(OBJECT_BUFFER, 100 + index);
}

static Sycl__V1__BufferCreate temporary_message(uint64_t buffer, uint64_t size_bytes)
{
	Sycl__V1__BufferCreate message = SYCL__V1__BUFFER_CREATE__INIT;
	message.buffer = buffer;
	message.size_bytes = size_bytes;
	message.graph_temporary = true;
	return message;
}

static void send_buffer(Sycl__V1__BufferCreate message)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &message;
	(void)raw_send(hostile, &command);
}

/* `whole`: the devices take graphs as one command. Also makes temporary 0. */
static void start_with_temporary(const struct engine_options *options, bool whole)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i,
				    (struct fake_device_options){
					    .features = whole ? BACKEND_FEATURE_GRAPH |
									BACKEND_FEATURE_GRAPH_UPDATE
							      : 0});
	hostile_start(options);
	hostile->features = FEATURE_GRAPHS | FEATURE_TEMPORARIES;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	send_buffer(temporary_message(temporary_id(0), TEMPORARY_BYTES));
	raw_round_trip(hostile);
}

static void hostile_temporaries_launch_graph(uint64_t graph, uint64_t number)
{
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	message.graph = graph;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

static uint32_t launch_and_wait(uint64_t graph, uint64_t number)
{
	hostile_temporaries_launch_graph(graph, number);
	return raw_wait_slot(hostile, EVENT_SLOT, (uint32_t)number);
}

/* A group that fills so many bytes from that offset on: a node of the graph, or group `number` of
 * the queue. */
struct fill {
	uint64_t buffer, offset_bytes, size_bytes;
	uint32_t mode;
};

static void hostile_temporaries_send_fill(struct fill fill, uint64_t graph, uint64_t number)
{
	uint8_t pattern = 1;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT, *list[] = {&requirement};
	Sycl__V1__Fill message = SYCL__V1__FILL__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	requirement.buffer = fill.buffer;
	requirement.mode = fill.mode;
	requirement.offset_bytes = fill.offset_bytes;
	requirement.size_bytes = fill.size_bytes;
	message.offset_bytes = fill.offset_bytes;
	message.size_bytes = fill.size_bytes;
	message.pattern = (ProtobufCBinaryData){1, &pattern};
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &message;
	if (graph) {
		hostile_graph_node(graph, &group, NULL, 0);
		return;
	}
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

/* Makes a graph of one node, which fills all of the temporary. */
static void make_graph(uint64_t graph, uint64_t temporary, uint64_t size_bytes)
{
	hostile_graph_create(graph, 1);
	hostile_temporaries_send_fill(
		(struct fill){temporary, 0, size_bytes, ACCESS_MODE_WRITE_NO_INIT}, graph, 0);
	hostile_graph_finish(graph);
}

static void hostile_temporaries_expect_group_failed(int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply = raw_next_reply(hostile);
	while (reply && reply->body_case != SYCL__V1__REPLY__BODY_GROUP_FAILED)
		reply = raw_next_reply(hostile);
	cr_assert(reply != NULL);
	cr_assert(eq(i32, reply->status->code, code));
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

static void hostile_temporaries_expect_object_failed(int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply = raw_next_reply(hostile);
	while (reply && reply->body_case != SYCL__V1__REPLY__BODY_OBJECT_FAILED)
		reply = raw_next_reply(hostile);
	cr_assert(reply != NULL);
	cr_assert(eq(i32, reply->status->code, code));
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

static void wait_for_memories(uint32_t count)
{
	uint64_t deadline = clock_deadline_ns(PATIENCE_NS);
	while (fake_counters_of(FAKE_ANY_DEVICE).memories != count) {
		cr_assert(lt(u64, clock_now_ns(), deadline), "there are %u memories, not %u",
			  fake_counters_of(FAKE_ANY_DEVICE).memories, count);
		raw_round_trip(hostile);
	}
}

/* ------------------------- errors that close the session -------------------------- */

Test(hostile, L11_a_temporary_that_was_not_agreed_on_closes_the_session)
{
	hostile_start(NULL);
	hostile->features = FEATURE_GRAPHS;
	raw_open(hostile);
	send_buffer(temporary_message(temporary_id(0), 4096));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on temporaries");
}

Test(hostile, L11_a_temporary_with_host_memory_closes_the_session)
{
	start_with_temporary(NULL, true);
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	Sycl__V1__BufferCreate message = temporary_message(temporary_id(1), 4096);
	range.offset_bytes = range.size_bytes = 4096;
	message.range = &range;
	send_buffer(message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has host memory, contents or a device");
}

Test(hostile, L11_a_temporary_with_first_contents_closes_the_session)
{
	start_with_temporary(NULL, true);
	Sycl__V1__BufferCreate message = temporary_message(temporary_id(1), 4096);
	message.initialised = true;
	send_buffer(message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has host memory, contents or a device");
}

Test(hostile, L11_a_temporary_to_be_exported_closes_the_session)
{
	start_with_temporary(NULL, true);
	Sycl__V1__BufferCreate message = temporary_message(temporary_id(1), 4096);
	message.export_kind = SYCL__V1__EXPORT_KIND__EXPORT_KIND_VMM;
	send_buffer(message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has host memory, contents or a device");
}

/* ------------------------- requests that are refused ------------------------------ */

Test(hostile, L11_a_group_that_is_no_node_may_not_use_a_temporary)
{
	start_with_temporary(NULL, true);
	make_graph(hostile_graph_id(0), temporary_id(0), TEMPORARY_BYTES);
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 0));
	hostile_temporaries_send_fill(
		(struct fill){temporary_id(0), 0, 64, ACCESS_MODE_WRITE_NO_INIT}, 0, 2);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 1));
	hostile_temporaries_expect_group_failed(STATUS_INVALID, "is for nodes of graphs");
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 3), 0));
	hostile_expect_alive();
}

Test(hostile, L11_a_host_access_to_a_temporary_is_refused)
{
	start_with_temporary(NULL, true);
	(void)hostile_access(raw_id(OBJECT_HOST_ACCESSOR, 200), temporary_id(0), ACCESS_SLOT, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, ACCESS_SLOT, 1), 1));
	hostile_temporaries_expect_object_failed(STATUS_INVALID, "no contents outside");
	hostile_expect_alive();
}

Test(hostile, L11_a_temporary_is_not_exported)
{
	start_with_temporary(NULL, true);
	Sycl__V1__BufferExport message = SYCL__V1__BUFFER_EXPORT__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	message.buffer = temporary_id(0);
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	command.buffer_export = &message;
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, raw_send(hostile, &command));
	cr_assert(reply != NULL);
	cr_assert(lt(i32, reply->status->code, 0));
	hostile_expect_alive();
}

/* Its memory is not the host's. So a host task, or an update, would access memory that does not
 * exist. */
Test(hostile, L12_a_host_task_among_the_nodes_may_not_use_a_temporary)
{
	start_with_temporary(NULL, true);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT, *list[] = {&requirement};
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, slot = SYCL__V1__HOST_TASK__INIT,
			   *slots[] = {&slot};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	requirement.buffer = temporary_id(0);
	requirement.mode = ACCESS_MODE_READ;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_temporaries_send_fill(
		(struct fill){temporary_id(0), 0, TEMPORARY_BYTES, ACCESS_MODE_WRITE_NO_INIT},
		hostile_graph_id(0), 0);
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	group = (Sycl__V1__CommandGroup)SYCL__V1__COMMAND_GROUP__INIT;
	slot.slot = OTHER_TASK_SLOT;
	slot.slot_value = 1;
	message.graph = hostile_graph_id(0);
	message.n_host_tasks = 1;
	message.host_tasks = slots;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = 1;
	(void)hostile_group(&group, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	cr_assert(eq(u32, raw_wait_slot(hostile, OTHER_TASK_SLOT, 1), 1));
	hostile_temporaries_expect_group_failed(STATUS_INVALID, "is for nodes of graphs");
	hostile_expect_alive();
}

static void expect_update_refused(bool whole)
{
	start_with_temporary(NULL, whole);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT, *list[] = {&requirement};
	Sycl__V1__HostUpdate update = SYCL__V1__HOST_UPDATE__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	requirement.buffer = temporary_id(0);
	requirement.mode = ACCESS_MODE_READ;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
	group.host_update = &update;
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 1));
	hostile_temporaries_expect_group_failed(STATUS_INVALID, "is for nodes of graphs");
	hostile_expect_alive();
}

Test(hostile, L11_an_update_of_the_host_among_the_nodes_may_not_use_a_temporary)
{
	expect_update_refused(true);
}

Test(hostile, L11_an_update_of_the_host_is_refused_as_a_task_too)
{
	expect_update_refused(false);
}

static void expect_outside_refused(bool whole)
{
	static const struct fill wrong[] = {
		{.offset_bytes = TEMPORARY_BYTES - 4, .size_bytes = 8},
		{.offset_bytes = UINT64_MAX, .size_bytes = 2},
		{.offset_bytes = 8, .size_bytes = UINT64_MAX},
	};
	start_with_temporary(NULL, whole);
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct fill fill = wrong[i];
		fill.buffer = temporary_id(0);
		fill.mode = ACCESS_MODE_WRITE_NO_INIT;
		hostile_graph_create(hostile_graph_id(i), 1);
		hostile_temporaries_send_fill(fill, hostile_graph_id(i), 0);
		hostile_graph_finish(hostile_graph_id(i));
		cr_assert(eq(u32, launch_and_wait(hostile_graph_id(i), i + 1), 1));
		hostile_temporaries_expect_group_failed(STATUS_ACCESSOR, "not inside");
	}
	hostile_expect_alive();
}

Test(hostile, C13_bytes_outside_of_a_temporary_are_refused)
{
	expect_outside_refused(true);
}

Test(hostile, C13_bytes_outside_of_a_temporary_are_refused_node_by_node)
{
	expect_outside_refused(false);
}

/* No node wrote it. The contents are undefined, but come from this device's memory of this user's
 * engine. Nothing is moved and nothing fails. */
Test(hostile, L7_a_node_that_needs_contents_first_gets_undefined_ones)
{
	start_with_temporary(NULL, true);
	uint64_t writes = fake_counters_of(FAKE_ANY_DEVICE).writes; /* of the neighbour */
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_temporaries_send_fill((struct fill){temporary_id(0), 0, 64, ACCESS_MODE_READ_WRITE},
				      hostile_graph_id(0), 0);
	hostile_graph_finish(hostile_graph_id(0));
	for (uint64_t number = 1; number <= 3; number++)
		cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), number), 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).writes, writes));
	hostile_expect_alive();
}

/* ---------------------------------------- limits ---------------------------------------- */

Test(hostile, temporaries_count_to_the_buffers_of_a_session)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.buffer_bytes = 65536;
	start_with_temporary(&options, true);
	send_buffer(temporary_message(temporary_id(1), UINT64_MAX));
	hostile_temporaries_expect_object_failed(STATUS_QUOTA, "bytes together");
	send_buffer(temporary_message(temporary_id(2), 65536 - 4096 - TEMPORARY_BYTES));
	send_buffer(temporary_message(temporary_id(3), 1));
	hostile_temporaries_expect_object_failed(STATUS_QUOTA, "bytes together");
	(void)raw_release(hostile, temporary_id(2));
	raw_round_trip(hostile);
	send_buffer(temporary_message(temporary_id(4), 4096));
	make_graph(hostile_graph_id(0), temporary_id(4), 4096);
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 0));
	hostile_expect_alive();
}

/* Each graph has its own memory, and all of it counts until the graph is freed. */
static void hostile_temporaries_expect_quota(bool whole)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.device_bytes = 2ull * TEMPORARY_BYTES;
	start_with_temporary(&options, whole);
	for (uint32_t i = 0; i < 3; i++)
		make_graph(hostile_graph_id(i), temporary_id(0), TEMPORARY_BYTES);
	raw_round_trip(hostile);
	uint32_t before = fake_counters_of(FAKE_ANY_DEVICE).memories;
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 0));
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(1), 2), 0));
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 3), 0));
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).memories, before + 2));
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(2), 4), 1));
	hostile_temporaries_expect_group_failed(STATUS_QUOTA, "memory on the device");
	(void)raw_release(hostile, hostile_graph_id(0));
	wait_for_memories(before + 1);
	/* The query may come before the session has the report. */
	uint64_t number = 5, deadline = clock_deadline_ns(PATIENCE_NS);
	while (launch_and_wait(hostile_graph_id(2), number++) != 0)
		cr_assert(lt(u64, clock_now_ns(), deadline), "what the graph had still counts");
	hostile_expect_alive();
}

Test(hostile, what_graphs_have_for_temporaries_counts_on_devices)
{
	hostile_temporaries_expect_quota(true);
}

Test(hostile, what_graphs_have_for_temporaries_counts_node_by_node)
{
	hostile_temporaries_expect_quota(false);
}

Test(hostile, a_graph_of_too_many_temporaries_is_refused)
{
	start_with_temporary(NULL, false);
	hostile_graph_create(hostile_graph_id(0), GRAPH_TEMPORARIES_MAX + 1);
	for (uint32_t i = 0; i <= GRAPH_TEMPORARIES_MAX; i++) {
		send_buffer(temporary_message(temporary_id(1 + i), 4));
		hostile_temporaries_send_fill(
			(struct fill){temporary_id(1 + i), 0, 4, ACCESS_MODE_WRITE_NO_INIT},
			hostile_graph_id(0), 0);
	}
	hostile_graph_finish(hostile_graph_id(0));
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 1));
	hostile_temporaries_expect_group_failed(STATUS_QUOTA, "temporaries");
	hostile_expect_alive();
}

/* --------------------------------------- the end ---------------------------------------- */

/* The objects of a launch exist until it has ended, even if they were released. Then they are
 * freed. */
static void expect_freed_behind_the_launch(bool whole)
{
	start_with_temporary(NULL, whole);
	uint32_t before = fake_counters_of(FAKE_ANY_DEVICE).memories;
	make_graph(hostile_graph_id(0), temporary_id(0), TEMPORARY_BYTES);
	for (uint32_t i = 0; i < 3; i++)
		fake_device_gate_close(i);
	hostile_temporaries_launch_graph(hostile_graph_id(0), 1);
	wait_for_memories(before + 1);
	(void)raw_release(hostile, hostile_graph_id(0));
	(void)raw_release(hostile, temporary_id(0));
	for (int i = 0; i < 50; i++)
		raw_round_trip(hostile);
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).memories, before + 1),
		  "freed while a launch uses it");
	for (uint32_t i = 0; i < 3; i++)
		fake_device_gate_open(i);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 0));
	wait_for_memories(before);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	hostile_expect_alive();
}

Test(hostile, L16_D16_memory_of_a_temporary_ends_behind_the_launch)
{
	expect_freed_behind_the_launch(true);
}

Test(hostile, L16_D16_memory_of_a_temporary_ends_behind_the_nodes)
{
	expect_freed_behind_the_launch(false);
}

/* The library keeps the objects of its graphs. If a client releases them, the graph names objects
 * that do not exist. */
Test(hostile, L16_a_launch_with_a_released_temporary_closes_the_session)
{
	start_with_temporary(NULL, true);
	make_graph(hostile_graph_id(0), temporary_id(0), TEMPORARY_BYTES);
	cr_assert(eq(u32, launch_and_wait(hostile_graph_id(0), 1), 0));
	(void)raw_release(hostile, temporary_id(0));
	hostile_temporaries_launch_graph(hostile_graph_id(0), 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, L17_a_session_that_ends_leaves_no_memory_of_temporaries)
{
	start_with_temporary(NULL, true);
	for (uint32_t i = 0; i < 8; i++) {
		make_graph(hostile_graph_id(i), temporary_id(0), TEMPORARY_BYTES);
		hostile_temporaries_launch_graph(hostile_graph_id(i), i + 1);
	}
	hostile_temporaries_launch_graph(temporary_id(0), 9);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no graph");
}
