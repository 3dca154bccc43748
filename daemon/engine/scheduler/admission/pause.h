/* Paused sessions: their tasks wait here instead of going to a lane (public/account.h). */
#ifndef SYCL_ENGINE_SCHED_PAUSE_H
#define SYCL_ENGINE_SCHED_PAUSE_H

#include <stdbool.h>

struct sched_account;
struct sched_flow;
struct scheduler_device;
struct task;

/* The task could go to a lane, and its flow is known. True: it waits until its session goes on. */
bool sched_pause_holds(struct task *task);
/* Another task needs the contents that this one brings. If it is a move that waits, or that waits
 * for such a move, it is considered again. */
void sched_pause_needed(struct task *task);
/* All tasks that wait because the account is paused are considered again, in their order. */
void sched_pause_consider_all(struct sched_account *account);
/* The device is lost: tasks for it will not run. */
void sched_pause_lost(struct scheduler_device *device);
/* All tasks of the flow that wait for room or for their turn are considered again. */
void sched_flow_consider_parked(struct sched_flow *flow);

#endif
