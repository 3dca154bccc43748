/* Returns tasks and messages to the front thread, and wakes both threads. */
#ifndef SYCL_ENGINE_WORKER_WAKE_H
#define SYCL_ENGINE_WORKER_WAKE_H

#include <stdint.h>

struct sched_message;
struct sched_port;
struct scheduler;
struct scheduler_device;
struct task;

/* Any thread. */
void worker_wake_front(struct scheduler *scheduler);
/* Any thread, also from inside the backend: progress() has completions. */
void worker_wake(void *device);
/* Device thread: puts a message for the front thread into the mailbox, unpublished. */
void worker_return(struct scheduler_device *device, struct sched_message *message);
/*
 * Called by the thread that writes to the port: publishes its messages, and wakes the front thread.
 */
void worker_publish(struct scheduler_device *device, struct sched_port *port);
/* Any thread: a watched event (struct sched_event) has happened. */
void worker_event_happened(void *event, int32_t native_code);
/* Device thread: the early event of a host task has been recorded. */
void worker_early_recorded(struct task *task);

#endif
