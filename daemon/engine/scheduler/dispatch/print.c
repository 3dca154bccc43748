/*
 * A driver writes what kernels print to the process's standard output, and does not say which of
 * them printed. So a command that may print waits while another one is on any device of this
 * engine. It is parked meanwhile, as for room in a lane. All others go on.
 *
 * A kernel that never ends keeps other kernels that print waiting, those of this user alone.
 */
#include "scheduler/dispatch/print.h"

#include "base/kernel_output.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

/* The facts of a kernel that is not made yet are not known. */
static bool kernel_may_print(const struct sched_kernel *kernel)
{
	return kernel && (!kernel->made || kernel->facts.prints);
}

bool sched_print_may(const struct task *task)
{
	const struct task_command *command = &task->command;
	if (command->graph)
		return command->graph->graph->may_print;
	/* Launches are kept only if their kernels print nothing. */
	if (command->is_again)
		return false;
	if (!task_is_stretch(task))
		return kernel_may_print(command->kernel);
	for (uint32_t i = 0; i < command->burst->count; i++)
		if (kernel_may_print(command->burst->members[i].kernel))
			return true;
	return false;
}

bool sched_print_allows(const struct task *task)
{
	return !task->scheduler->printer || !sched_print_may(task);
}

void sched_print_begin(struct task *task)
{
	if (!kernel_output_is_open() || !sched_print_may(task))
		return;
	task->scheduler->printer = task;
	kernel_output_begin();
}

void sched_print_end(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	if (scheduler->printer != task)
		return;
	scheduler->printer = NULL;
	scheduler->printer_ended = true;
	kernel_output_take(&task->output);
}

bool sched_print_has_ended(struct scheduler *scheduler)
{
	bool has_ended = scheduler->printer_ended;
	scheduler->printer_ended = false;
	return has_ended;
}
