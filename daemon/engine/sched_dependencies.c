/* Edges from the use of buffers. */
#include "sched_dependencies.h"

#include "sched_residency.h"

struct task_use *sched_use_add(struct task *task, struct sched_buffer *buffer, enum task_use_kind kind, uint32_t place,
			       struct task_use_list *list)
{
	struct task_use *use = &task->uses[task->use_count++];
	*use = (struct task_use){
		.buffer = buffer, .task = task, .kind = kind, .place = place, .from = SCHED_NO_PLACE, .list = list};
	buffer->references++;
	if (list) {
		use->next = list->first;
		if (list->first)
			list->first->previous = use;
		list->first = use;
		list->count++;
	}
	return use;
}

static void use_unlink(struct task_use *use)
{
	if (!use->list)
		return;
	if (use->previous)
		use->previous->next = use->next;
	else
		use->list->first = use->next;
	if (use->next)
		use->next->previous = use->previous;
	use->list->count--;
	use->list = NULL;
}

static void list_detach(struct task_use_list *list)
{
	while (list->first) {
		struct task_use *use = list->first;
		list->first = use->next;
		use->list = NULL;
	}
	list->count = 0;
}

static void edges_from(const struct task_use_list *list, struct task *task)
{
	for (const struct task_use *use = list->first; use; use = use->next)
		task_edge_add(use->task, task, false);
}

void sched_access_cost(const struct sched_access *access, uint32_t *edges, uint32_t *tasks)
{
	const struct sched_contents *contents = access->buffer->contents;
	uint32_t moves = 0;
	if (access->needs && access->moves)
		moves = sched_residency_moves(access->buffer, access->place, access->offset_bytes, access->size_bytes);
	if (access->writes && access->moves)
		moves += sched_residency_return_moves(access->buffer, access->place);
	*tasks += moves;
	/* Each move: writer and earlier move, and the way on; the task: writer and move. */
	*edges += 3 * moves + 2 + contents->host_readers.count;
	if (access->writes)
		*edges += contents->readers.count + contents->moves.count;
}

void sched_access_apply(struct task *task, const struct sched_access *access)
{
	struct sched_buffer *buffer = access->buffer;
	struct sched_contents *contents = buffer->contents;
	bool lives = access->moves && !task->cause && contents->size_bytes > 0;
	if (access->needs && lives)
		sched_residency_bring(task, buffer, access->place, access->offset_bytes, access->size_bytes);
	if (contents->writer)
		task_edge_add(contents->writer, task, access->needs);
	if (access->writes || !access->host)
		edges_from(&contents->host_readers, task);
	if (!access->writes) {
		(void)sched_use_add(task, buffer, access->host ? TASK_USE_HOST_READ : TASK_USE_READ, access->place,
				    access->host ? &contents->host_readers : &contents->readers);
		return;
	}
	edges_from(&contents->readers, task);
	edges_from(&contents->moves, task);
	list_detach(&contents->readers);
	list_detach(&contents->host_readers);
	contents->writer = task;
	(void)sched_use_add(task, buffer, TASK_USE_WRITE, access->place, NULL);
	if (!lives)
		return;
	/* Moves of the old contents are of no use any more. What only orders leaves the contents where they are. */
	list_detach(&contents->moves);
	sched_residency_written(buffer, access->place, access->offset_bytes, access->size_bytes);
	if (!access->needs) {
		sched_cause_drop(contents->poison);
		contents->poison = NULL;
	}
}

void sched_access_finish(struct task *task, const struct sched_access *access)
{
	if (access->writes && access->moves && !task->cause && access->buffer->contents->size_bytes > 0)
		sched_residency_return(task, access->buffer, access->place);
}

static void use_finish(struct task *task, struct task_use *use)
{
	struct sched_buffer *buffer = use->buffer;
	struct sched_contents *contents = buffer->contents;
	if (use->kind == TASK_USE_MOVE && use->list && task->cause)
		sched_residency_move_failed(buffer, use->place, task->cause);
	use_unlink(use);
	if (contents->writer == task) {
		contents->writer = NULL;
		if (task->cause) {
			sched_cause_drop(contents->poison);
			contents->poison = sched_cause_hold(task->cause);
		}
	}
	sched_residency_forget(contents);
	sched_buffer_drop(buffer);
}

void sched_uses_finish(struct task *task)
{
	for (uint32_t i = 0; i < task->use_count; i++)
		use_finish(task, &task->uses[i]);
}
