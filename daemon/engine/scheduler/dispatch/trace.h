/*
 * Takes a trace: records for each command group that comes back from one device when it was ready,
 * how long it took and its session. Without a trace this costs each command a comparison. Front
 * thread.
 */
#ifndef SYCL_ENGINE_SCHED_TRACE_H
#define SYCL_ENGINE_SCHED_TRACE_H

#include "base/trace_ring.h"

#include <stdbool.h>

struct backend_ops;
struct scheduler;
struct scheduler_device;
struct task;

struct sched_trace {
	uint32_t backend, index; /* index in the backend's own list of devices */
	uint64_t since_ns;       /* tasks that could be sent before this time are not counted */
	enum trace_times times;
	bool is_stopped;
	/* With EVENTS: the backend was asked once for a library for tools, and its reason. */
	bool is_asked;
	const struct backend_ops *profiler; /* the backend whose library is on; NULL: none */
	char times_note[TRACE_NOTE_BYTES];
	struct trace_ring ring;
};

/* A trace is taken, and a task is about to be sent to its lane. */
__attribute__((cold)) void sched_trace_send(struct task *task);
/* A trace is taken, and a task has come back with its last part. Its time is in the estimates. */
__attribute__((cold)) void sched_trace_note(const struct task *task);
/*
 * Gives a command the times of its kernel, by a library of the vendor's (backend.h). The kernel
 * lies within the command, but the library turns the device's clock into the host's in its own way.
 * So it is moved to where it fits, by a little. False: it does not fit, and nothing has changed.
 */
bool sched_trace_refine(struct trace_record *record, uint64_t start_ns, uint64_t end_ns);
/* A trace is taken: records the copies of spilled memory that have ended on its device. */
__attribute__((cold)) void sched_trace_take_spills(struct scheduler *scheduler);
/* The same, without records, as the trace ends. */
void sched_trace_end_spills(struct scheduler *scheduler);
/* True if the trace is of this device or, for a sub-device, of the whole. */
bool sched_trace_is_of(const struct sched_trace *trace, const struct scheduler_device *device);
/* A trace is taken, and `to` need not wait for `from` any more. */
__attribute__((cold)) void sched_trace_follow(const struct task *from, struct task *to);

#endif
