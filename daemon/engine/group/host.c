/*
 * Host tasks: the engine orders them and brings their data to the host; the client runs them (K1 -
 * K5).
 *
 * submitted --its turn--> held, the slot is written --HostTaskDone--> over, as any other group
 *      \--a failure before it--> over; the slot has status 1: its turn never comes
 *
 * One with an early event may be held sooner: the slot reports that by status 2. Then it is over
 * when HostTaskDone has come and all that it depends on is over, in any order.
 */
#include "group/group.h"
#include "clock.h"
#include "group/check.h"
#include "session/shares.h"

#include <inttypes.h>

/*
 * A native command of a client in another process: the client opens its requirements. Their memory
 * stays where it is anyway. So a client that never ends its task holds no more device memory than
 * before.
 */
static int check_opened_native_command(struct session *session, const struct queue *queue,
				       const struct task_request *request,
				       struct backend_fault *fault)
{
	if (!(session->features & FEATURE_NATIVE))
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"native handles are for programs with an engine of their own in their process");
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		const struct buffer *buffer = session->engine->scratch.buffers[i];
		if (buffer->size_bytes == 0)
			continue;
		if (!buffer->shared)
			return fault_set(
				fault, STATUS_FEATURE_NOT_SUPPORTED,
				"a native command of another process needs buffers that were made to be exported");
		if (buffer->shared->device != queue->device_index)
			return fault_set(
				fault, STATUS_FEATURE_NOT_SUPPORTED,
				"a native command for device %u requires a buffer that lies on device %u",
				queue->device_index, buffer->shared->device);
	}
	return 0;
}

/* The recorded event is the session's own, as for any group that records one; no lane waits for it
 * here. */
static int host_check_early(struct session *session, const struct queue *queue,
			    const Sycl__V1__HostTask *message, struct task_request *request,
			    struct backend_fault *fault)
{
	if (!(session->features & FEATURE_NATIVE_EARLY) || !message->on_device ||
	    session_has_natives(session))
		return fault_set(
			fault, STATUS_INVALID,
			"an early event is for native commands of another process that agreed on it");
	struct shared_event *event;
	int r = object_get(session, message->early_event, OBJECT_SHARED_EVENT, &event, fault);
	if (r != 0)
		return r;
	if (event->share->device != queue->device_index || event->share->is_native)
		return fault_set(fault, STATUS_INVALID, "the early event is none of device %u",
				 queue->device_index);
	/* If the event is not made yet, no command can wait for it. */
	if (event->share->answered)
		request->early = event->share->sched;
	return 0;
}

int group_check_host_task(struct session *session, const struct queue *queue,
			  const Sycl__V1__CommandGroup *group, struct task_request *request,
			  struct backend_fault *fault)
{
	const Sycl__V1__HostTask *message = group->host_task;
	if (message->on_device && !session_has_natives(session) &&
	    check_opened_native_command(session, queue, request, fault))
		return 1;
	int r = message->early_event ? host_check_early(session, queue, message, request, fault)
				     : 0;
	if (r != 0)
		return r;
	if (session->host_tasks_open >= HOST_TASKS_MAX)
		return fault_set(fault, STATUS_QUOTA,
				 "a session may have at most %u host tasks that are not over",
				 HOST_TASKS_MAX);
	request->action = TASK_HOST;
	request->on_device = message->on_device;
	request->what = "host task";
	return 0;
}

void host_task_finished(struct group *group, const struct backend_fault *fault)
{
	list_remove(&group->held_link);
	group->queue->object.session->host_tasks_open--;
	host_task_end(group->task, fault);
}

static void end_event_waits(const struct group *group, const struct backend_fault *fault)
{
	if (group->task)
		task_end_event_wait(group->task, fault);
	if (group->graph_ops && group->graph_ops->end_event_waits)
		group->graph_ops->end_event_waits(group, fault);
}

static void abandon_host_task(struct group *group)
{
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_CONNECTION_LOST,
			"the process that was to run a host task has ended");
	host_task_finished(group, &fault);
}

static void hand_over_host_task(struct group *group, uint32_t status)
{
	struct session *session = group->queue->object.session;
	group->held = true;
	group->start_ns = clock_now_ns();
	list_push_back(&session->held_tasks, &group->held_link);
	if (session->state == SESSION_CLOSING)
		abandon_host_task(group);
	else
		session_write_slot(session, group->host_slot, group->host_slot_value, status);
}

void host_task_granted(struct group *group)
{
	hand_over_host_task(group, 0);
}

void host_task_early(struct group *group)
{
	hand_over_host_task(group, SLOT_STATUS_EARLY);
}

void host_tasks_abandon(struct session *session)
{
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_CONNECTION_LOST,
			"the session ends before the native event that is waited for has happened");
	for (struct list *link = session->open_groups.next; link != &session->open_groups;
	     link = link->next)
		end_event_waits(list_entry(link, struct group, session_link), &fault);
	while (!list_empty(&session->held_tasks))
		abandon_host_task(list_entry(session->held_tasks.next, struct group, held_link));
}
