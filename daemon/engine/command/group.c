#include "command/command.h"
#include "clock.h"
#include "graph/run.h"
#include "group/checked.h"
#include "group/stretch.h"
#include "stage_clock.h"

#include <inttypes.h>
#include <string.h>

/* Checks that the session and the queue may have so many more groups. */
static int check_group_limits(struct session *session, struct queue *queue, uint32_t count,
			      struct backend_fault *fault)
{
	uint64_t most = session->limits.groups_in_flight;
	if (session->groups_open >= most || count > most - session->groups_open)
		return fault_set(
			fault, STATUS_QUOTA,
			"%" PRIu64 " command groups are in flight, and no more are allowed", most);
	if (!failure_list_open(&queue->failures, queue->window.last + 1))
		return fault_set(
			fault, STATUS_QUOTA,
			"too many groups of this queue have failed: the queue accepts no more");
	return 0;
}

static int submit_checked_group(struct session *session, struct queue *queue,
				struct task_request *request, const struct group *slots,
				struct backend_fault *fault)
{
	struct group *group = pool_take(&session->engine->groups);
	if (!group)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a command group");
	*group = *slots;
	group->work.kind = WORK_GROUP;
	list_init(&group->held_link);
	group->queue = queue;
	group->arena = session->engine->scratch.arena;
	/* Reading the clock takes a tenth of what a group takes here. */
	group->submit_ns = queue->profiling ? clock_now_ns() : 0;
	request->owner = &group->work;
	STAGE_MARK_ALL(request->flight_group, slots->entry.count, STAGE_DECODED);
	int r = task_submit(session->engine->scheduler, request, &group->task);
	if (r < 0) {
		pool_give(&session->engine->groups, group);
		return group_submit_fault(r, "the command group", fault);
	}
	group_open(session, queue, group, slots->entry.count);
	session->host_tasks_open += group->is_host_task;
	if (session->engine->scratch.waits_for_all)
		queue->barrier = &group->entry;
	return 0;
}

/* Checks everything that does not depend on earlier groups. `checked`: or NULL. */
static int check_without_order(struct session *session, struct queue *queue,
			       const Sycl__V1__CommandGroup *message,
			       struct group_checked **checked, struct task_request *request,
			       struct backend_fault *fault)
{
	if (checked && group_checked_queue(session, *checked)) {
		group_checked_put(*checked, request);
		return 0;
	}
	int r = group_check_requirements(session, message, request, fault);
	if (r == 0)
		r = group_check_action(session, queue, message, request, fault);
	if (r == 0 && checked)
		group_checked_keep(session, queue, request, checked);
	return r;
}

static int check_and_submit(struct session *session, struct queue *queue,
			    const Sycl__V1__CommandGroup *message, const struct group_burst *burst,
			    struct group_checked **checked, const struct group *slots,
			    struct backend_fault *fault)
{
	session->engine->scratch.arena = NULL;
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		return graph_launch(session, queue, message, slots, fault);
	struct task_request request = {
		.device = queue->device,
		.home_lane = queue->home_lane,
		.home_is_fixed = queue->lane_is_known,
		.timed = queue->profiling,
		.is_awaited = burst ? burst->is_awaited : message->has_event || message->wants_slot,
		.account = session->work,
		.flight_session = session->peer.session,
		.flight_queue = message->queue,
		.flight_group = message->group,
	};
	if (burst && !burst->stretch) {
		request.launch.count = burst->count;
		request.launch.values = burst->values;
		request.launch.value_bytes = burst->value_bytes;
	}
	int r = 0;
	if (burst && burst->stretch) {
		group_stretch_put(burst->stretch, &request);
		request.what = group_checked_what(*checked);
	} else {
		r = check_without_order(session, queue, message, checked, &request, fault);
	}
	if (r == 0)
		r = group_check_dependencies(session, queue, message, &request, fault);
	if (r == 0)
		r = submit_checked_group(session, queue, &request, slots, fault);
	return r;
}

/* A queue beyond the session's limit was never made: the fault goes to the group's own slot. */
static void refuse_without_queue(struct session *session, const Sycl__V1__CommandGroup *message,
				 const struct group *slots, const struct backend_fault *fault)
{
	reply_group_failed(session, message->queue, message->group, fault);
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		graph_launch_refuse(session, message->graph_launch, fault);
	else
		group_poison(session, message, fault);
	group_write_slots(session, slots, 1);
}

static void refuse_group(struct session *session, struct queue *queue,
			 const Sycl__V1__CommandGroup *message, const struct group *slots,
			 const struct backend_fault *fault)
{
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		graph_launch_refuse(session, message->graph_launch, fault);
	else
		group_poison(session, message, fault);
	group_refuse(queue, slots, fault);
}

/* Reads the slots that report the completion to the client. Negative: the slots are not valid. */
static int group_read_slots(struct session *session, const Sycl__V1__CommandGroup *message,
			    struct group *slots_out)
{
	*slots_out = (struct group){.wants_slot = message->wants_slot,
				    .slot = message->slot,
				    .slot_value = message->slot_value,
				    .entry.count = 1};
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK) {
		slots_out->is_host_task = true;
		slots_out->host_slot = message->host_task->slot;
		slots_out->host_slot_value = message->host_task->slot_value;
	}
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH &&
	    graph_launch_check_slots(session, message->graph_launch) < 0)
		return -EPROTO;
	if (slots_out->wants_slot && session_check_slot(session, slots_out->slot) < 0)
		return -EPROTO;
	return slots_out->is_host_task ? session_check_slot(session, slots_out->host_slot) : 0;
}

/* *taken_out: a task was made of it. `burst`, `checked`: or NULL. Returns a burst_result, or a
 * negative errno. */
static int run_group(struct session *session, const Sycl__V1__CommandGroup *message,
		     const struct group_burst *burst, struct group_checked **checked,
		     bool *taken_out)
{
	struct queue *queue = checked ? group_checked_queue(session, *checked) : NULL;
	struct backend_fault fault;
	/* The shape is defined first: later groups of the shape may be in the ring, even if this
	 * group fails. */
	int r = message->shape ? command_define_shape(session, message) : 0;
	if (r < 0)
		return r;
	if (!queue)
		r = object_get(session, message->queue, OBJECT_QUEUE, &queue, &fault);
	if (r < 0)
		return r;
	struct group slots;
	if (group_read_slots(session, message, &slots) < 0)
		return -EPROTO;
	if (!queue && burst)
		return BURST_SPLIT;
	if (!queue) {
		refuse_without_queue(session, message, &slots, &fault);
		return 0;
	}
	if (message->group != queue->window.last + 1)
		return session_violation(session,
					 "command group %" PRIu64 " of a queue came where %" PRIu64
					 " was expected",
					 message->group, queue->window.last + 1);
	if (burst)
		slots.entry.count = burst->count;
	if (r == 0)
		r = check_group_limits(session, queue, slots.entry.count, &fault);
	if (r == 0)
		r = check_and_submit(session, queue, message, burst, checked, &slots, &fault);
	*taken_out = r == 0;
	if (r > 0 && burst)
		return BURST_SPLIT;
	session->usage.groups_submitted += slots.entry.count;
	if (r > 0)
		refuse_group(session, queue, message, &slots, &fault);
	return r < 0 ? r : 0;
}

int command_group(struct session *session, const Sycl__V1__CommandGroup *message,
		  struct group_checked **checked)
{
	bool taken = false;
	int r = run_group(session, message, NULL, checked, &taken);
	if (!taken)
		group_native_command_refused(session, message);
	return r;
}

int command_burst(struct session *session, const Sycl__V1__CommandGroup *message,
		  const struct group_burst *burst, struct group_checked **checked)
{
	bool taken = false;
	return run_group(session, message, burst, checked, &taken);
}
