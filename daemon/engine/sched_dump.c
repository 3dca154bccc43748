/* The DAG as text. */
#include "sched_internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char *state_name(const struct task *task)
{
	switch (task->state) {
	case TASK_PENDING:
		return task->open_in > 0 ? "waiting" : "ready";
	case TASK_PARKED:
		return "ready";
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

char *scheduler_dump(const struct scheduler *scheduler)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	if (!file)
		return NULL;
	for (const struct task *task = scheduler->open_first; task; task = task->open_next) {
		(void)fprintf(file, "task %llu %s: after", (unsigned long long)task->number,
			      task->send.what[0] ? task->send.what : "-");
		for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
			(void)fprintf(file, " %llu", (unsigned long long)edge->from->number);
		(void)fprintf(file, "; %s\n", state_name(task));
	}
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
