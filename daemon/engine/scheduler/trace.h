/*
 * Takes a trace: of each command group that comes back from one device it is noted when it could be
 * sent, how long it took and whose it was. While none is taken, this costs each command a
 * comparison when it comes back. Front thread.
 */
#ifndef SYCL_ENGINE_SCHED_TRACE_H
#define SYCL_ENGINE_SCHED_TRACE_H

#include "base/trace_ring.h"

#include <stdbool.h>

struct task;

struct sched_trace {
	uint32_t backend, index; /* of the device, by the backend's own list */
	uint64_t since_ns;       /* what could be sent before that is not noted */
	bool is_stopped;
	struct trace_ring ring;
};

/* It is back, for good, and what it took has been learnt from. A trace is taken. */
__attribute__((cold)) void sched_trace_note(const struct task *task);

#endif
