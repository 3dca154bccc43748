/* Spans: edges from the use of buffers. */
#include "scheduler/memory/dependencies.h"

#include "base/cause.h"
#include "base/interval_map.h"
#include "base/pool.h"
#include "scheduler/admission/account.h"
#include "scheduler/task/burst.h"
#include "scheduler/state/buffer.h"
#include "scheduler/task/pool.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>

static struct interval *span_take(void *context)
{
	struct sched_contents *contents = context;
	return &sched_take_node(contents->scheduler)->span.interval;
}

static void span_give(void *context, struct interval *interval)
{
	struct sched_contents *contents = context;
	sched_give_node(contents->scheduler, (union sched_node *)(void *)interval);
}

static void copy_cut_span(void *context, struct interval *to, struct interval *from)
{
	struct sched_contents *contents = context;
	struct sched_span *upper = sched_span_of(to), *lower = sched_span_of(from);
	upper->writer = lower->writer;
	upper->waited = 0;
	upper->readers = upper->host_readers = (struct task_link_list){.count = 0};
	sched_links_copy(contents->scheduler, &upper->readers, &lower->readers);
	sched_links_copy(contents->scheduler, &upper->host_readers, &lower->host_readers);
	contents->links += lower->readers.count + lower->host_readers.count;
}

static bool are_spans_equal(const struct interval *lower, const struct interval *upper)
{
	const struct sched_span *a = (const struct sched_span *)(const void *)lower;
	const struct sched_span *b = (const struct sched_span *)(const void *)upper;
	return a->writer == b->writer && !a->readers.first && !b->readers.first &&
	       !a->host_readers.first && !b->host_readers.first;
}

const struct interval_ops sched_span_ops = {
	.take = span_take,
	.give = span_give,
	.copy = copy_cut_span,
	.equal = are_spans_equal,
};

static void use_link_more(struct scheduler *scheduler, struct task_use *use,
			  struct task_link_list *list)
{
	struct task_link *link = &sched_take_node(scheduler)->link;
	link->more = use->link.more;
	use->link.more = link;
	sched_link(use, link, list);
}

void sched_links_copy(struct scheduler *scheduler, struct task_link_list *to,
		      const struct task_link_list *from)
{
	for (const struct task_link *link = from->first; link; link = link->next)
		use_link_more(scheduler, link->use, to);
}

void sched_links_detach(struct task_link_list *list)
{
	while (list->first) {
		struct task_link *link = list->first;
		list->first = link->next;
		link->list = NULL;
	}
	list->count = 0;
}

static void unlink_use(struct task_link *link)
{
	struct task_link_list *list = link->list;
	if (!list)
		return;
	if (link->previous)
		link->previous->next = link->next;
	else
		list->first = link->next;
	if (link->next)
		link->next->previous = link->previous;
	list->count--;
	link->list = NULL;
}

static bool access_orders_as_writer(const struct sched_access *access)
{
	return access->writes || access->as_writer;
}

/* True if the task may be linked into so many more spans. The count includes the task's other
 * accesses to the buffer. */
static bool plan_links(const struct task *task, struct sched_contents *contents, uint32_t more)
{
	if (contents->planned_for != task->identity)
		contents->planned = 0;
	contents->planned_for = task->identity;
	if (contents->links + contents->planned + more > SCHED_LINKS_MAX ||
	    contents->scheduler->nodes.used + contents->planned + more > SCHED_NODES_MAX)
		return false;
	contents->planned += more;
	return true;
}

int sched_access_cost(const struct task *task, struct sched_access *access, struct sched_cost *cost)
{
	struct sched_contents *contents = access->buffer->contents;
	access->spans = access->pieces = (struct interval_run){.first = 0, .end = 1};
	if (!access->plain) {
		access->spans = interval_map_run(&contents->spans, &access->order);
		access->pieces = interval_map_run(&contents->pieces, &access->bytes);
	}
	uint32_t more = access->spans.end - access->spans.first - 1;
	access->as_writer = false;
	if (!access->writes && more > 0 && !plan_links(task, contents, more)) {
		/* Two host accesses must not wait for each other: the holder of the first may
		 * request the second. */
		if (access->host)
			return -EDQUOT;
		access->as_writer = true;
	}
	bool writes = access_orders_as_writer(access);
	for (uint32_t i = access->spans.first; i < access->spans.end; i++) {
		const struct sched_span *span = sched_span_at(contents, i);
		/* The same as wait_for_span. */
		cost->edges += 1u + (writes ? span->readers.count : 0) +
			       (writes || !access->host ? span->host_readers.count : 0);
	}
	cost->visits += more + 1 + (access->pieces.end - access->pieces.first);
	if (!writes)
		cost->nodes += more;
	return sched_residency_cost(access, cost);
}

int sched_cost_reserve(struct scheduler *scheduler, const struct sched_cost *cost,
		       const struct sched_account *account)
{
	scheduler->visits += cost->visits;
	uint64_t from_most = (uint64_t)scheduler->open_count + cost->tasks;
	/* Each move: from the author and an earlier move, and to the task, perhaps twice. */
	uint64_t edges =
		(cost->edges < from_most ? cost->edges : from_most) + 4 * (uint64_t)cost->tasks;
	uint64_t bytes = edges * sizeof(struct task_edge) +
			 cost->tasks * (sizeof(struct task) + SCHED_STORAGE_BYTES) +
			 cost->nodes * sizeof(union sched_node);
	/* The cuts of the task itself were not there before. */
	if (cost->visits > 2 * (uint64_t)SCHED_VISITS_MAX || edges > UINT32_MAX)
		return -E2BIG;
	if (!sched_account_allows(account, bytes))
		return -EDQUOT;
	int result = pool_reserve(&scheduler->edges, (uint32_t)edges);
	if (result == 0)
		result = pool_reserve(&scheduler->tasks, cost->tasks);
	return result < 0 ? result : pool_reserve(&scheduler->nodes, cost->nodes);
}

static void list_add_edges(const struct task_link_list *list, struct task *task)
{
	for (const struct task_link *link = list->first; link; link = link->next)
		task_edge_add(link->use->task, task, false);
}

static void wait_for_span(struct task *task, const struct sched_access *access,
			  struct sched_span *span)
{
	bool writes = access_orders_as_writer(access);
	/* Lists may be long, and a task may name a part a thousand times. */
	if (span->waited == task->identity && (span->waited_as_writer || !writes))
		return;
	span->waited = task->identity;
	span->waited_as_writer = writes;
	bool read_since = span->readers.first || span->host_readers.first;
	/* The writer is mostly an author as well, and then the task has an edge from it. */
	if (span->writer && span->writer->mark != task->identity && !(writes && read_since))
		task_edge_add(span->writer, task, false);
	if (writes || !access->host)
		list_add_edges(&span->host_readers, task);
	if (writes)
		list_add_edges(&span->readers, task);
}

void sched_access_wait(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	sched_residency_wait(task, access);
	for (uint32_t i = access->spans.first; i < access->spans.end; i++)
		wait_for_span(task, access, sched_span_at(contents, i));
}

void sched_access_wait_written(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	for (uint32_t i = access->spans.first; i < access->spans.end; i++)
		if (sched_span_at(contents, i)->writer)
			task_edge_add(sched_span_at(contents, i)->writer, task, false);
	sched_residency_wait_moves(task, access);
}

/* True if the list has the task by a use that was entered just before. That use then stands for the
 * bytes of both. */
static bool use_covers_previous(struct task_use *use, const struct task_link_list *list)
{
	struct task_use *before = list->first ? list->first->use : NULL;
	if (!before || before->task != use->task || before->buffer != use->buffer)
		return false;
	if (interval_empty(&before->bytes))
		before->bytes = use->bytes;
	if (interval_empty(&use->bytes))
		return true;
	if (use->bytes.begin < before->bytes.begin)
		before->bytes.begin = use->bytes.begin;
	if (use->bytes.end > before->bytes.end)
		before->bytes.end = use->bytes.end;
	return true;
}

static void enter_reader(struct task_use *use, const struct sched_access *access)
{
	struct sched_contents *contents = access->buffer->contents;
	for (uint32_t i = access->spans.first; i < access->spans.end; i++) {
		struct sched_span *span = sched_span_at(contents, i);
		struct task_link_list *list = access->host ? &span->host_readers : &span->readers;
		if (use_covers_previous(use, list))
			continue;
		if (i == access->spans.first) {
			sched_link(use, &use->link, list);
			continue;
		}
		use_link_more(contents->scheduler, use, list);
		contents->links++;
	}
}

static void enter_writer(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	for (uint32_t i = access->spans.first; i < access->spans.end; i++) {
		struct sched_span *span = sched_span_at(contents, i);
		sched_links_detach(&span->readers);
		sched_links_detach(&span->host_readers);
		span->writer = task;
	}
}

static enum task_use_kind use_kind_of(const struct sched_access *access)
{
	if (access->writes)
		return TASK_USE_WRITE;
	if (access->as_writer)
		return TASK_USE_READ_ALONE;
	return access->host ? TASK_USE_HOST_READ : TASK_USE_READ;
}

void sched_access_enter(struct task *task, const struct sched_access *access)
{
	struct task_use *use = sched_use_add(task, access->buffer, use_kind_of(access),
					     access->place, &access->order, &access->bytes);
	if (access_orders_as_writer(access))
		enter_writer(task, access);
	else
		enter_reader(use, access);
	if (access->writes)
		sched_residency_enter(task, access);
}

void sched_access_finish(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	if (contents->spans.count > SCHED_INTERVALS_KEPT ||
	    contents->pieces.count > SCHED_INTERVALS_KEPT)
		sched_access_join(access);
	if (contents->home && access->writes && access->moves && !task->cause)
		sched_residency_return(task, access);
}

static void use_leave_lists(struct task_use *use)
{
	struct sched_contents *contents = use->buffer->contents;
	unlink_use(&use->link);
	while (use->link.more) {
		struct task_link *link = use->link.more;
		use->link.more = link->more;
		unlink_use(link);
		sched_give_node(contents->scheduler, (union sched_node *)(void *)link);
		if (use->kind != TASK_USE_MOVE)
			contents->links--;
	}
}

void sched_move_forget(struct task_use *use, struct sched_cause *cause)
{
	sched_residency_move_failed(use, cause);
	use_leave_lists(use);
}

static void use_leave_spans(const struct task *task, const struct task_use *use)
{
	const struct sched_contents *contents = use->buffer->contents;
	struct interval_run run = interval_map_run(&contents->spans, &use->order);
	for (uint32_t i = run.first; i < run.end; i++)
		if (sched_span_at(contents, i)->writer == task)
			sched_span_at(contents, i)->writer = NULL;
}

static void use_finish(struct task *task, struct task_use *use)
{
	struct sched_contents *contents = use->buffer->contents;
	if (use->kind == TASK_USE_MOVE && task->cause)
		sched_residency_move_failed(use, task->cause);
	use_leave_lists(use);
	if (use->kind == TASK_USE_WRITE || use->kind == TASK_USE_READ_ALONE)
		use_leave_spans(task, use);
	if (use->kind == TASK_USE_WRITE)
		sched_residency_written(task, use);
	if (contents->home)
		sched_residency_forget(contents, &use->bytes);
	if (contents->spans.count > SCHED_INTERVALS_KEPT ||
	    contents->pieces.count > SCHED_INTERVALS_KEPT)
		sched_ranges_join(contents, &use->order, &use->bytes);
	sched_buffer_drop(use->buffer);
}

/* Ends a use of a buffer in one part, which is the common case, without searches. */
static bool finish_in_one_part(const struct task *task, struct task_use *use)
{
	struct sched_contents *contents = use->buffer->contents;
	if (contents->spans.count + contents->pieces.count > 2 || contents->home || task->cause ||
	    use->link.more)
		return false;
	unlink_use(&use->link);
	if (contents->first_span.writer == task)
		contents->first_span.writer = NULL;
	if (contents->first_piece.author == task)
		contents->first_piece.author = NULL;
	if (use->buffer->references > 1)
		use->buffer->references--;
	else
		sched_buffer_drop(use->buffer);
	return true;
}

/* A launch of a stretch has failed. The contents that earlier launches wrote are valid. */
static void finish_failed_stretch(struct task *task)
{
	struct sched_cause *cause = task->cause;
	for (uint32_t i = 0; i < task->use_count; i++) {
		const uint8_t writer = task->uses[i].last_writer;
		if (writer < SCHED_BURST_MAX)
			task->cause = sched_launches_cause(task, 1u << writer);
		use_finish(task, &task->uses[i]);
		task->cause = cause;
	}
}

void sched_uses_finish(struct task *task)
{
	if (task_is_stretch(task) && task->command.burst->failed) {
		finish_failed_stretch(task);
		return;
	}
	for (uint32_t i = 0; i < task->use_count; i++)
		if (!finish_in_one_part(task, &task->uses[i]))
			use_finish(task, &task->uses[i]);
}
