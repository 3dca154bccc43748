/* The numbers of dimensions for which a program was built, and lists of launches that wait. */
#include "scheduler/state/program.h"

#include "base/cause.h"
#include "scheduler/state/task.h"

#include <stdlib.h>

struct sched_variants *sched_variants_hold(struct sched_variants *variants)
{
	if (variants)
		variants->references++;
	return variants;
}

void sched_variants_drop(struct sched_variants *variants)
{
	if (!variants || --variants->references > 0)
		return;
	for (uint32_t i = 0; i < 3; i++)
		sched_cause_drop(variants->causes[i]);
	free(variants);
}

void sched_kernel_wait(struct task *task, struct task **list)
{
	task->awaits_kernel = list;
	task->kernel_previous = NULL;
	task->kernel_next = *list;
	if (*list)
		(*list)->kernel_previous = task;
	*list = task;
}

void sched_kernel_end_wait(struct task *task)
{
	if (!task->awaits_kernel)
		return;
	struct task **list = task->awaits_kernel;
	task->awaits_kernel = NULL;
	if (task->kernel_previous)
		task->kernel_previous->kernel_next = task->kernel_next;
	else
		*list = task->kernel_next;
	if (task->kernel_next)
		task->kernel_next->kernel_previous = task->kernel_previous;
}

void sched_variants_await(struct sched_variants *variants, struct task *task)
{
	/* A task without a command, such as an empty launch, needs no program. */
	if (!variants || task->front_only)
		return;
	const uint32_t dimensions = task->command.backend.launch.dimensions;
	struct sched_cause *cause = variants->causes[dimensions - 1];
	if (variants->coming & sched_variant_bit(dimensions))
		sched_kernel_wait(task, &variants->waiting);
	else if (!sched_variants_are_ready(variants, dimensions) && cause)
		task_doom(task, cause, true);
}

struct sched_variants *sched_variants_create(uint32_t dimensions)
{
	struct sched_variants *variants = calloc(1, sizeof(*variants));
	if (!variants)
		return NULL;
	variants->references = 1;
	variants->ready = dimensions;
	return variants;
}
