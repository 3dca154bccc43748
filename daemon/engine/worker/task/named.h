/*
 * Which commands the commands that wait on a device's thread name as predecessors (hold.h,
 * spill.h). A failure that one of them names is kept until that one has been tried again. Any other
 * is dropped at once: a mailbox has room for so many messages, and what waits may wait for as long
 * as a kernel runs.
 */
#ifndef SYCL_ENGINE_WORKER_NAMED_H
#define SYCL_ENGINE_WORKER_NAMED_H

#include "base/mailbox.h"
#include "scheduler/state/task.h"
#include "worker/state/named.h"

#include <stdbool.h>
#include <stdint.h>

/* A command's message is the first of its task. */
static inline struct task *worker_task_of(struct sched_message *message)
{
	return (struct task *)(void *)message;
}

/* The command begins to wait: it gets the next number, unless it waits already. */
void worker_named_number(uint64_t *numbers, struct task *task);

/* One more command waits. What it names is dropped when the caller clears the structure. */
void worker_named_note(struct worker_named *named, const struct task_command *command);

/* False: none of them names the failed command. */
bool worker_named_may_have(const struct worker_named *named, const struct task_command *failed);

/* `from`: for each lane the first sequence that waits; 0: none. True if the command names one of
 * these. */
bool worker_named_waits(const uint64_t *from, const struct task_command *command);

/* True if a command of the list names the failed one. */
bool worker_named_in(const struct sched_message_list *list, const struct task_command *failed);

#endif
