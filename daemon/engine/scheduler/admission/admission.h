/*
 * Fair queueing in the way of tasks to a device's lanes (fair_queue/fair_queue.h;
 * docs/fair-queueing.md). All of it is the front thread's. A device has none until there is
 * something to decide between.
 */
#ifndef SYCL_ENGINE_SCHED_ADMISSION_H
#define SYCL_ENGINE_SCHED_ADMISSION_H

#include "fair_queue/fair_queue.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler;
struct scheduler_device;
struct sched_flow;
struct sched_cause;
struct task_command;
struct task;

/* The fair queue of one device. */
struct sched_admission {
	struct fair_queue queue;
	uint64_t again_ns; /* when the passing of time alone admits the next group; UINT64_MAX:
			      never */
};

/* A flow was made; its account's class or weight has changed; it ends, without open tasks. _changed
 * returns true if the flow's tasks belong on other lanes now. */
void sched_admission_flow_made(struct sched_flow *flow);
bool sched_admission_flow_changed(struct sched_flow *flow);
void sched_admission_flow_gone(struct sched_flow *flow);

/* Its flow is known, and not alone. May it go to a lane now? Otherwise it waits in the fair queue,
 * and is dispatched again when it may. */
bool sched_admission_pass(struct task *task);
/* True for a group that takes a device's time. The flow of the task is known. */
bool sched_admission_takes_time(const struct task *task);
/* Key of commands that take about equally long; 0: none. */
uint64_t sched_admission_shape(const struct task_command *command);
/* The task is sent to its lane. */
void sched_admission_sent(struct task *task);
/* The task is back from its lane. */
void sched_admission_back(struct task *task);
/* An admitted task is not sent. Does nothing for other tasks. */
void sched_admission_refuse(struct task *task);

/* The first of what waits in the fair queue waits there no more, and is pending. NULL: nothing
 * waits. */
struct task *sched_admission_withdraw(struct sched_flow *flow);
/* The device is lost: tasks in its fair queue will not run. */
void sched_admission_lost(struct scheduler_device *device);
/* Time has passed. */
void sched_admission_poll(struct scheduler *scheduler);
/* Takes a task that may be sent out of the fair queue of some device. NULL: no task may be sent
 * now. */
struct task *sched_admission_step(struct scheduler *scheduler);

#endif
