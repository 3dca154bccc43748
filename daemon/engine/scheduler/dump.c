/* The DAG as text. */
#include "scheduler/state/buffer.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <stdio.h>
#include <stdlib.h>

static const char *state_name(const struct task *task)
{
	switch (task->state) {
	case TASK_PENDING:
		return task->open_in > 0 ? "waiting" : "ready";
	case TASK_PARKED:
		return "ready";
	case TASK_RETURNED:
		return "returned";
	case TASK_SENT:
		return "sent";
	case TASK_HELD:
		return "held";
	case TASK_RETURNING:
		return "returning";
	case TASK_DONE:
		break;
	}
	return "done";
}

static const char *use_name(const struct task_use *use)
{
	switch (use->kind) {
	case TASK_USE_WRITE:
		return "write";
	case TASK_USE_READ:
	case TASK_USE_READ_ALONE:
		return "read";
	case TASK_USE_HOST_READ:
		return "host read";
	case TASK_USE_MOVE:
		break;
	}
	return "move";
}

static void dump_uses(FILE *file, const struct task *task)
{
	for (uint32_t i = 0; i < task->use_count; i++) {
		const struct task_use *use = &task->uses[i];
		(void)fprintf(file, "%s buffer %llu %s [%llu, %llu)", i == 0 ? ";" : ",",
			      (unsigned long long)use->buffer->number, use_name(use),
			      (unsigned long long)use->bytes.begin,
			      (unsigned long long)use->bytes.end);
		if (use->kind != TASK_USE_MOVE)
			(void)fprintf(file, " orders [%llu, %llu)",
				      (unsigned long long)use->order.begin,
				      (unsigned long long)use->order.end);
	}
}

char *scheduler_dump(const struct scheduler *scheduler)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	if (!file)
		return NULL;
	for (const struct task *task = scheduler->open_first; task; task = task->open_next) {
		(void)fprintf(file, "task %llu %s: after", (unsigned long long)task->number,
			      task->command.what[0] ? task->command.what : "-");
		for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
			(void)fprintf(file, " %llu", (unsigned long long)edge->from->number);
		(void)fprintf(file, "; %s", state_name(task));
		dump_uses(file, task);
		(void)fputc('\n', file);
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
