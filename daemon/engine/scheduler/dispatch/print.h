/* Commands that may print: one at a time, so that the text is that of one command
 * (base/kernel_output.h). */
#ifndef SYCL_ENGINE_SCHED_PRINT_H
#define SYCL_ENGINE_SCHED_PRINT_H

#include <stdbool.h>

struct scheduler;
struct task;

/* True if one of its kernels may print, or is not made yet. */
bool sched_print_may(const struct task *task);
/* True if the command prints nothing, or no other one that may print is on a device. */
bool sched_print_allows(const struct task *task);
/* The command goes to its lane now. */
void sched_print_begin(struct task *task);
/* The command is back: takes what it has printed. */
void sched_print_end(struct task *task);
/* True once after a command that may print has come back: others may go now, on every device. */
bool sched_print_has_ended(struct scheduler *scheduler);

#endif
