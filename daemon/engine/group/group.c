#include "group/group.h"
#include "clock.h"
#include "stage_clock.h"

static void queue_publish_mark(struct queue *queue)
{
	session_write_slot(queue->object.session, queue->slot,
			   (uint32_t)group_window_mark(&queue->window), queue->slot_status ? 1 : 0);
}

/* The reply goes first, then the slots that complete the group. */
static void group_report_failure(struct queue *queue, uint64_t number,
				 const struct backend_fault *fault)
{
	struct session *session = queue->object.session;
	queue->slot_status = true;
	session->usage.groups_failed++;
	reply_group_failed(session, queue->object.id, number, fault);
	if (failure_list_add(&queue->failures, number, fault) < 0)
		session_cut_off(session, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a failure");
}

static void queue_keep_times(struct queue *queue, uint64_t number, uint64_t submit_ns,
			     uint64_t start_ns, uint64_t end_ns)
{
	if (!queue->profiling)
		return;
	uint64_t now = clock_now_ns();
	struct profile_times times = {number, submit_ns, start_ns ? start_ns : now,
				      end_ns ? end_ns : now};
	if (times.start_ns < times.submit_ns)
		times.start_ns = times.submit_ns;
	if (times.end_ns < times.start_ns)
		times.end_ns = times.start_ns;
	profile_ring_put(&queue->profiles, &times, &queue->object.session->profile_budget);
}

void group_write_slots(struct session *session, const struct group *group, uint32_t status)
{
	if (group->is_host_task && !group->held)
		session_write_slot(session, group->host_slot, group->host_slot_value, 1);
	if (group->wants_slot)
		session_write_slot(session, group->slot, group->slot_value, status);
}

/* Some groups of a burst have failed: which, and why. */
static void report_burst_failures(struct queue *queue, const struct group *group)
{
	uint64_t first = group->entry.number - group->entry.count + 1;
	for (uint32_t i = 0; i < group->entry.count; i++) {
		struct backend_fault fault;
		task_launch_fault(group->task, i, &fault);
		if (fault.status)
			group_report_failure(queue, first + i, &fault);
		else
			queue->object.session->usage.groups_completed++;
	}
}

static void report_outcome(struct queue *queue, const struct group *group,
			   const struct task_outcome *outcome)
{
	if (!outcome->fault.status)
		queue->object.session->usage.groups_completed += group->entry.count;
	else if (group->entry.count > 1)
		report_burst_failures(queue, group);
	else
		group_report_failure(queue, group->entry.number, &outcome->fault);
}

void group_open(struct session *session, struct queue *queue, struct group *group, uint32_t count)
{
	group_window_open_burst(&queue->window, &group->entry, count);
	(void)object_ref(&queue->object);
	session->groups_open += count;
	group->session_number = ++session->group_count;
	list_push_back(&session->open_groups, &group->session_link);
	if (group->arena)
		group->arena->users++;
}

void group_done(struct group *group, const struct task_outcome *outcome)
{
	struct queue *queue = group->queue;
	struct session *session = queue->object.session;
	if (group->is_host_task && !group->held)
		session->host_tasks_open--;
	session->usage.device_ns += outcome->device_ns;
	session->usage.bytes_to_device += outcome->bytes_to_device;
	session->usage.bytes_to_host += outcome->bytes_to_host;
	/* Times that the host measured are for accounts only. A start that was reported while the
	 * group ran stays. */
	uint64_t start_ns = outcome->estimated ? 0 : outcome->start_ns;
	queue_keep_times(queue, group->entry.number, group->submit_ns,
			 group->start_ns ? group->start_ns : start_ns,
			 outcome->estimated ? 0 : outcome->end_ns);
	report_outcome(queue, group, outcome);

	uint64_t mark = group_window_mark(&queue->window);
	group_window_close(&queue->window, &group->entry);
	if (queue->barrier == &group->entry)
		queue->barrier = NULL;
	STAGE_MARK_ALL(group->entry.number - group->entry.count + 1, group->entry.count,
		       STAGE_REPORTED);
	group_write_slots(session, group, outcome->fault.status ? 1 : 0);
	if (group_window_mark(&queue->window) != mark)
		queue_publish_mark(queue);
	if (group->arena)
		group->arena->users--;
	if (group->graph_ops && group->graph_ops->done)
		group->graph_ops->done(group);
	session->groups_open -= group->entry.count;
	list_remove(&group->session_link);
	session_usm_go_on(session);
	struct engine *engine = session->engine;
	object_unref(&queue->object);
	pool_give(&engine->groups, group);
}

void group_refuse(struct queue *queue, const struct group *slots, const struct backend_fault *fault)
{
	uint64_t mark = group_window_mark(&queue->window);
	group_window_skip(&queue->window);
	uint64_t now = clock_now_ns();
	queue_keep_times(queue, queue->window.last, now, now, now);
	group_report_failure(queue, queue->window.last, fault);
	group_write_slots(queue->object.session, slots, 1);
	if (group_window_mark(&queue->window) != mark)
		queue_publish_mark(queue);
}
