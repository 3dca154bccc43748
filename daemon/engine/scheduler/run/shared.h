/* Contents that are shared with other processes. */
#ifndef SYCL_ENGINE_SCHED_SHARED_H
#define SYCL_ENGINE_SCHED_SHARED_H

struct task;

void sched_shared_returned(void *object);
void sched_shared_export(struct task *task);
void sched_shared_notify(struct task *task);

#endif
