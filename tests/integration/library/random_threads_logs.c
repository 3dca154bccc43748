/* Steps on logs: kernels, host tasks and host accessors that append, and copies and host accessors
 * that read. */
#include "library/random_threads_internal.h"

#include <stdlib.h>
#include <string.h>

static sycl_buffer log_handle(struct worker *worker, uint32_t which)
{
	return threads_next(worker, 3) ? threads_world.logs[which] : worker->alias[which];
}

static void append(uint32_t *log, uint32_t name)
{
	log[++log[0]] = name;
}

static void submit_append(struct worker *worker, uint32_t which)
{
	struct threads_group group = threads_begin(worker, true);
	const uint32_t name = threads_step(worker);
	history_at(&threads_world.history, name)->writes[which] = true;
	NEED(sycl_handler_set_accessor(group.handler, 0, log_handle(worker, which),
				       SYCL_ACCESS_READ_WRITE));
	NEED(sycl_handler_set_value(group.handler, 1, sizeof(name), &name));
	NEED(sycl_handler_parallel_for(group.handler, group.place->append,
				       sycl_range1(HISTORY_LOG_WORDS)));
	threads_submit(worker, &group, name);
}

struct task {
	uint32_t name, logs;
};

static sycl_result append_task(sycl_host_task task, void *user_data)
{
	const struct task *what = user_data;
	for (uint32_t i = 0; i < what->logs; i++) {
		void *log = NULL;
		sycl_result result = sycl_host_task_get_pointer(task, i, &log);
		if (result)
			return result;
		append(log, what->name);
	}
	return SYCL_SUCCESS;
}

/* One log or two, in any order. */
static void logs_submit_task(struct worker *worker)
{
	const uint32_t first = threads_next(worker, HISTORY_LOGS);
	struct threads_group group = threads_begin(worker, true);
	struct task *task = malloc(sizeof(*task));
	CHECK(task, "no memory");
	*task = (struct task){.name = threads_step(worker), .logs = 1 + threads_next(worker, 2)};
	for (uint32_t i = 0; i < task->logs; i++) {
		const uint32_t which = (first + i) % HISTORY_LOGS;
		history_at(&threads_world.history, task->name)->writes[which] = true;
		NEED(sycl_handler_set_host_accessor(group.handler, i, log_handle(worker, which),
						    SYCL_ACCESS_READ_WRITE));
	}
	const uint32_t name = task->name;
	NEED(sycl_handler_host_task(group.handler, append_task, task, free));
	threads_submit(worker, &group, name);
}

static void note_seen(struct worker *worker, uint32_t name, uint32_t which, const uint32_t *found)
{
	const char *wrong = history_read(history_at(&threads_world.history, name), which, found);
	CHECK(!wrong, "step %u, log %u: %s", name, which, wrong);
	worker->checks++;
}

static void end_snapshot(struct worker *worker, struct snapshot *snapshot)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	NEED(sycl_host_accessor_create(snapshot->buffer, SYCL_ACCESS_READ, &accessor));
	NEED(sycl_host_accessor_get_pointer(accessor, &pointer));
	note_seen(worker, snapshot->name, snapshot->log, pointer);
	NEED(sycl_host_accessor_release(accessor));
	NEED(sycl_buffer_release(snapshot->buffer));
	*snapshot = (struct snapshot){.buffer = NULL};
}

void threads_end_snapshots(struct worker *worker)
{
	for (uint32_t i = 0; i < SNAPSHOTS; i++)
		if (worker->snapshots[i].buffer)
			end_snapshot(worker, &worker->snapshots[i]);
}

static void submit_snapshot(struct worker *worker)
{
	struct snapshot *snapshot = &worker->snapshots[threads_next(worker, SNAPSHOTS)];
	if (snapshot->buffer)
		end_snapshot(worker, snapshot);
	struct threads_group group = threads_begin(worker, true);
	snapshot->name = threads_step(worker);
	snapshot->log = threads_next(worker, HISTORY_LOGS);
	NEED(sycl_buffer_create(threads_world.platform, NULL, LOG_BYTES, SYCL_HOST_NONE,
				&snapshot->buffer));
	sycl_buffer from = log_handle(worker, snapshot->log);
	if (threads_next(worker, 2)) {
		NEED(sycl_handler_copy(group.handler, from, 0, snapshot->buffer, 0, LOG_BYTES));
	} else {
		NEED(sycl_handler_set_accessor(group.handler, 0, snapshot->buffer,
					       SYCL_ACCESS_WRITE_NO_INIT));
		NEED(sycl_handler_set_accessor(group.handler, 1, from, SYCL_ACCESS_READ));
		NEED(sycl_handler_parallel_for(group.handler, group.place->copy,
					       sycl_range1(HISTORY_LOG_WORDS)));
	}
	threads_submit(worker, &group, snapshot->name);
}

/* The host reads or appends. Groups that this thread submits meanwhile run after it. */
static void host_access(struct worker *worker, bool writes)
{
	const uint32_t which = threads_next(worker, HISTORY_LOGS), name = threads_step(worker);
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	NEED(sycl_host_accessor_create(log_handle(worker, which),
				       writes ? SYCL_ACCESS_READ_WRITE : SYCL_ACCESS_READ,
				       &accessor));
	NEED(sycl_host_accessor_get_pointer(accessor, &pointer));
	uint32_t *log = pointer;
	note_seen(worker, name, which, log);
	history_at(&threads_world.history, name)->writes[which] = writes;
	if (writes)
		append(log, name);
	const uint32_t entries = log[0];
	worker->holds = true;
	if (threads_next(worker, 4) == 0)
		submit_append(worker, which);
	worker->holds = false;
	CHECK(log[0] == entries, "a log changed under a host accessor");
	NEED(sycl_host_accessor_release(accessor));
}

void threads_do_log(struct worker *worker)
{
	const uint32_t dice = threads_next(worker, 100);
	if (dice < 35)
		submit_append(worker, threads_next(worker, HISTORY_LOGS));
	else if (dice < 60)
		logs_submit_task(worker);
	else if (dice < 86)
		submit_snapshot(worker);
	else
		host_access(worker, dice > 94);
}
