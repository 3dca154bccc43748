/* When large transfers will be over, by what the latest took (device thread). */
#ifndef SYCL_ENGINE_SCHED_TRANSFER_H
#define SYCL_ENGINE_SCHED_TRANSFER_H

struct sched_worker;
struct sched_worker_lane;
struct task_command;

/* The command was submitted behind all that is on its lane. */
void sched_transfer_expect(struct sched_worker *worker, struct sched_worker_lane *lane,
			   struct task_command *command);
/* The command is over, and the next one of its lane begins. */
void sched_transfer_learn(struct sched_worker *worker, const struct sched_worker_lane *lane,
			  const struct task_command *command);

#endif
