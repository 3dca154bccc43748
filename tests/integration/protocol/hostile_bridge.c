/* Native commands of clients in other processes, which are host tasks whose data stay on the device
 * (S8, K5, N4). These clients lie. */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_fixture.h"

#include <string.h>

enum {
	SHARED = 10,
	EARLY = 11,
	TASK_SLOT = 20,
	EVENT_SLOT = 21,
	FILL_SLOT = 22,
	GRAPH = 30,
	OFFSET = 8192,
	SIZE = 5000,
	KIND_IPC = 2
};

static uint64_t hostile_bridge_shared_id(void)
{
	return raw_id(OBJECT_BUFFER, SHARED);
}

/* Devices that support sharing; a session with or without this feature, and a buffer that can be
 * exported from `where`. */
static void start_sharing_session(uint64_t features, uint32_t where)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	hostile_start(NULL);
	hostile->features = features;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.offset_bytes = OFFSET;
	range.size_bytes = SIZE;
	Sycl__V1__BufferCreate create = SYCL__V1__BUFFER_CREATE__INIT;
	create.buffer = hostile_bridge_shared_id();
	create.size_bytes = SIZE;
	create.range = &range;
	create.export_kind = (Sycl__V1__ExportKind)KIND_IPC;
	create.device = device + where;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &create;
	(void)raw_send(hostile, &command);
	raw_round_trip(hostile);
}

/* Sends a host task that keeps its data on the device and writes the buffer. */
static void send_early_task(uint64_t number, uint64_t buffer, bool on_device, uint64_t early_event)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = buffer;
	requirement.mode = ACCESS_MODE_READ_WRITE;
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	task.slot = TASK_SLOT;
	task.slot_value = (uint32_t)number;
	task.on_device = on_device;
	task.early_event = early_event;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

static void hostile_bridge_send_task(uint64_t number, uint64_t buffer)
{
	send_early_task(number, buffer, true, 0);
}

static void send_end(uint64_t number, int32_t status)
{
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	done.queue = hostile_queue();
	done.group = number;
	done.status = status;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &done;
	(void)raw_send(hostile, &command);
}

static void hostile_bridge_send_done(uint64_t number)
{
	send_end(number, 0);
}

static uint64_t send_export(bool at_once)
{
	Sycl__V1__BufferExport message = SYCL__V1__BUFFER_EXPORT__INIT;
	message.buffer = hostile_bridge_shared_id();
	message.at_once = at_once;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	command.buffer_export = &message;
	return raw_send(hostile, &command);
}

static void expect_refused_with(uint64_t number, int32_t code, const char *words)
{
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, (uint32_t)number), 1),
		  "its turn never comes");
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

static void hostile_bridge_expect_refused(uint64_t number, const char *words)
{
	expect_refused_with(number, STATUS_FEATURE_NOT_SUPPORTED, words);
}

Test(hostile, S8_K9_a_native_command_of_another_process_is_held_until_it_is_said_to_be_over)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[EVENT_SLOT].sequence), 0),
		  "complete before it was run");
	hostile_bridge_send_done(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 0));
	hostile_expect_alive();
}

Test(hostile, S8_I18_it_is_for_those_who_agreed_on_it)
{
	start_sharing_session(0, 0);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	hostile_bridge_expect_refused(1, "an engine of their own");
	hostile_expect_alive();
}

/* Memory that is held on a device must stay there anyway. A client that never ends the access must
 * not keep memory from other sessions. */
Test(hostile, S8_K5_it_holds_no_buffer_that_could_be_spilled_or_moved)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	hostile_bridge_send_task(1, hostile_buffer());
	hostile_bridge_expect_refused(1, "made to be exported");
	hostile_expect_alive();
}

Test(hostile, S8_K5_it_holds_no_buffer_of_another_device)
{
	start_sharing_session(FEATURE_NATIVE, 1);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	hostile_bridge_expect_refused(1, "lies on device");
	hostile_expect_alive();
}

Test(hostile, S8_N4_a_client_that_ends_in_the_middle_of_it_leaves_nothing)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	hostile_bridge_send_task(2, hostile_bridge_shared_id());
	raw_round_trip(hostile);
	hostile_stop(); /* ends with held memory: the fixture checks that nothing is left */
}

Test(hostile, S8_K1_its_end_before_its_turn_closes_the_session)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	hostile_bridge_send_task(2, hostile_bridge_shared_id());
	hostile_bridge_send_done(2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

/* A request to open the memory is answered even while it is held for writing. Otherwise its holder
 * could never open it. */
Test(hostile, S8_F10_an_export_at_once_waits_for_no_writer)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	hostile_bridge_send_task(1, hostile_bridge_shared_id());
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, send_export(true));
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(ptr, reply->status, NULL));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_BUFFER_EXPORTED));
	cr_assert(eq(sz, reply->buffer_exported->handle.len, 64));
	hostile_bridge_send_done(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 0));
	hostile_expect_alive();
}

Test(hostile, S8_F10_an_export_at_once_is_for_those_who_agreed_on_it)
{
	start_sharing_session(0, 0);
	(void)send_export(true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

/* ------------------------------------- early events ------------------------------------- */

static uint64_t early_id(void)
{
	return raw_id(OBJECT_SHARED_EVENT, EARLY);
}

/* Waits for the answer. Before it, no group can use the event. */
static void make_event(uint32_t where)
{
	Sycl__V1__SharedEventCreate create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	create.event = early_id();
	create.device = device + where;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &create;
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, raw_send(hostile, &command));
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_SHARED_EVENT_CREATED));
}

/* Sends a fill of the shared buffer that starts and does not end until the device's gate is
 * opened. */
static void hostile_bridge_send_fill(uint64_t number)
{
	uint8_t pattern = 1;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = hostile_bridge_shared_id();
	requirement.mode = ACCESS_MODE_READ_WRITE;
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = SIZE;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	group.wants_slot = true;
	group.slot = FILL_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

/* Group 1 fills. Group 2 is the task, which has been reported early. */
static void start_early(void)
{
	start_sharing_session(FEATURE_NATIVE | FEATURE_NATIVE_EARLY, 0);
	make_event(0);
	fake_device_gate_close(0);
	hostile_bridge_send_fill(1);
	send_early_task(2, hostile_bridge_shared_id(), true, early_id());
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 2), SLOT_STATUS_EARLY));
	cr_assert(eq(u32, atomic_load(&hostile->slots[FILL_SLOT].sequence), 0),
		  "what it depends on runs still");
}

Test(hostile, S8_K7_K9_a_native_command_is_told_early_and_may_end_before_what_it_depends_on)
{
	start_early();
	hostile_bridge_send_done(2);
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[EVENT_SLOT].sequence), 0),
		  "complete before what it depends on");
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, S8_K9_one_that_was_told_early_is_held_until_it_is_said_to_be_over)
{
	start_early();
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, FILL_SLOT, 1), 0));
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[EVENT_SLOT].sequence), 0),
		  "complete before it was run");
	hostile_bridge_send_done(2);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, S8_M9_one_that_was_told_early_fails_with_what_it_depends_on)
{
	start_early();
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "a bad day"),
		     0));
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, FILL_SLOT, 1), 1));
	hostile_bridge_send_done(2);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(i32, reply->status->code, STATUS_RUNTIME), "%s", reply->status->text);
	reply = raw_reply_to(hostile, 0);
	cr_assert(eq(i32, reply->status->code, STATUS_DEPENDENCY_FAILED), "%s",
		  reply->status->text);
	hostile_expect_alive();
}

Test(hostile, S8_K1_the_end_of_one_that_was_told_early_said_twice_closes_the_session)
{
	start_early();
	hostile_bridge_send_done(2);
	send_end(2, STATUS_INVALID);
	fake_device_gate_open(0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, S8_N4_a_client_that_ends_when_it_was_told_early_leaves_nothing)
{
	start_early();
	send_early_task(3, hostile_bridge_shared_id(), true, early_id());
	raw_round_trip(hostile);
	(void)shutdown(hostile->socket, SHUT_RDWR);
	fake_device_gate_open(0);
	hostile_stop(); /* ends with held memory: the fixture checks that nothing is left */
}

Test(hostile, S8_N1_the_event_of_one_that_was_told_early_may_be_released)
{
	start_early();
	(void)raw_release(hostile, early_id());
	raw_round_trip(hostile);
	hostile_bridge_send_done(2);
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, S8_K7_an_event_that_two_name_is_recorded_for_one_of_them)
{
	start_early();
	send_early_task(3, hostile_bridge_shared_id(), true, early_id());
	hostile_bridge_send_done(2);
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 3), 0),
		  "behind a host task it is reported when that is over");
	hostile_bridge_send_done(3);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 3), 0));
	hostile_expect_alive();
}

Test(hostile, S8_I18_an_early_event_is_for_those_who_agreed_on_it)
{
	start_sharing_session(FEATURE_NATIVE, 0);
	make_event(0);
	send_early_task(1, hostile_bridge_shared_id(), true, early_id());
	expect_refused_with(1, STATUS_INVALID, "agreed on it");
	hostile_expect_alive();
}

Test(hostile, S8_I18_an_early_event_is_for_native_commands)
{
	start_sharing_session(FEATURE_NATIVE | FEATURE_NATIVE_EARLY, 0);
	make_event(0);
	send_early_task(1, hostile_bridge_shared_id(), false, early_id());
	expect_refused_with(1, STATUS_INVALID, "native commands");
	hostile_expect_alive();
}

Test(hostile, S8_F10_an_early_event_is_of_the_queues_device)
{
	start_sharing_session(FEATURE_NATIVE | FEATURE_NATIVE_EARLY, 0);
	make_event(1);
	send_early_task(1, hostile_bridge_shared_id(), true, early_id());
	expect_refused_with(1, STATUS_INVALID, "none of device");
	hostile_expect_alive();
}

Test(hostile, S8_an_early_event_that_is_no_event_closes_the_session)
{
	start_sharing_session(FEATURE_NATIVE | FEATURE_NATIVE_EARLY, 0);
	send_early_task(1, hostile_bridge_shared_id(), true, hostile_bridge_shared_id());
	raw_wait_closed(hostile);
	cr_assert(eq(i32, hostile->error_code, STATUS_CONNECTION_LOST), "%s", hostile->error_text);
	hostile_stop();
}

/* ----------------------------------- nodes of graphs ------------------------------------ */

enum { NODES = FEATURE_NATIVE | FEATURE_GRAPHS | FEATURE_NATIVE_NODES };

static uint64_t hostile_bridge_graph_id(void)
{
	return raw_id(OBJECT_GRAPH, GRAPH);
}

/* Sends node 0 of a graph: a native command that writes the buffer. */
static void hostile_bridge_send_node(uint64_t buffer, uint64_t early_event)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = buffer;
	requirement.mode = ACCESS_MODE_READ_WRITE;
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	task.on_device = true;
	task.early_event = early_event;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	(void)raw_graph(hostile, hostile_bridge_graph_id(), raw_id(OBJECT_CONTEXT, CONTEXT), device,
			1);
	(void)raw_graph_node(hostile, hostile_bridge_graph_id(), &group, NULL, 0);
	(void)raw_graph_finish(hostile, hostile_bridge_graph_id());
}

static void send_early_launch(uint64_t number, uint64_t early_event)
{
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *list[] = {&task};
	task.slot = TASK_SLOT;
	task.slot_value = (uint32_t)number;
	task.on_device = early_event != 0;
	task.early_event = early_event;
	Sycl__V1__GraphLaunch launch = SYCL__V1__GRAPH_LAUNCH__INIT;
	launch.graph = hostile_bridge_graph_id();
	launch.n_host_tasks = 1;
	launch.host_tasks = list;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &launch;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

static void send_launch(uint64_t number)
{
	send_early_launch(number, 0);
}

static void send_node_end(uint64_t number, int32_t status)
{
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	done.queue = hostile_queue();
	done.group = number;
	done.node = 1;
	done.status = status;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &done;
	(void)raw_send(hostile, &command);
}

Test(hostile, S8_I18_as_a_node_it_is_for_those_who_agreed_on_it)
{
	start_sharing_session(FEATURE_NATIVE | FEATURE_GRAPHS, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, S8_K15_K9_as_a_node_it_is_held_in_each_launch_and_launches_come_one_by_one)
{
	start_sharing_session(NODES, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	send_launch(2);
	for (uint32_t i = 1; i <= 2; i++) {
		cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, i), 0));
		raw_round_trip(hostile);
		cr_assert(eq(u32, atomic_load(&hostile->slots[TASK_SLOT].sequence), i),
			  "the next one before this one's end");
		cr_assert(eq(u32, atomic_load(&hostile->slots[EVENT_SLOT].sequence), i - 1),
			  "complete before it was run");
		send_node_end(i, 0);
		cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, i), 0));
	}
	hostile_expect_alive();
}

Test(hostile, S8_M9_a_node_that_fails_fails_its_launch)
{
	start_sharing_session(NODES, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	send_node_end(1, STATUS_RUNTIME);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	hostile_expect_alive();
}

Test(hostile, S8_K5_a_node_holds_no_buffer_that_could_be_spilled_or_moved)
{
	start_sharing_session(NODES, 0);
	hostile_bridge_send_node(hostile_buffer(), 0);
	send_launch(1);
	hostile_bridge_expect_refused(1, "made to be exported");
	hostile_expect_alive();
}

Test(hostile, S8_K5_a_node_holds_no_buffer_of_another_device)
{
	start_sharing_session(NODES, 1);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	hostile_bridge_expect_refused(1, "lies on device");
	hostile_expect_alive();
}

/* The bit is for nodes only. It does not permit a node's memory to be opened. */
Test(hostile, S8_I18_a_node_is_a_native_command_like_any_other)
{
	start_sharing_session(FEATURE_GRAPHS | FEATURE_NATIVE_NODES, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	hostile_bridge_expect_refused(1, "an engine of their own");
	hostile_expect_alive();
}

Test(hostile, S8_K7_a_node_that_names_an_early_event_closes_the_session)
{
	start_sharing_session(NODES | FEATURE_NATIVE_EARLY, 0);
	make_event(0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), early_id());
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names an early event");
}

/* The launch of a graph provides the slots of its host tasks, and no other property of them. */
Test(hostile, S8_K7_a_launch_that_names_an_early_event_for_its_node_is_not_told_early)
{
	start_sharing_session(NODES | FEATURE_NATIVE_EARLY, 0);
	make_event(0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	fake_device_gate_close(0);
	hostile_bridge_send_fill(1);
	send_early_launch(2, early_id());
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[TASK_SLOT].sequence), 0));
	fake_device_gate_open(0);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 2), 0));
	send_node_end(2, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, S8_K1_the_end_of_a_node_said_twice_closes_the_session)
{
	start_sharing_session(NODES, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	send_node_end(1, 0);
	send_node_end(1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, S8_N4_a_client_that_ends_in_the_middle_of_a_launch_leaves_nothing)
{
	start_sharing_session(NODES, 0);
	hostile_bridge_send_node(hostile_bridge_shared_id(), 0);
	send_launch(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 1), 0));
	send_launch(2);
	(void)raw_release(hostile, hostile_bridge_graph_id());
	raw_round_trip(hostile);
	hostile_stop(); /* ends with held memory: the fixture checks that nothing is left */
}
