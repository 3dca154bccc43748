/*
 * Counts the system calls of running processes with ptrace, of all threads that exist at the start.
 * It needs only the right to trace them: the same user, and processes that descend from this one.
 * They run slower meanwhile.
 */
#ifndef SYCL_BENCH_BENCH_TRACE_H
#define SYCL_BENCH_BENCH_TRACE_H

#include <stdint.h>
#include <sys/types.h>

enum { TRACE_PROCESSES = 2 };

/* Calls that were begun, by all threads and by the first thread. */
struct trace_calls {
	uint64_t all, first_thread;
};

struct trace;

/* A pid of 0 is left out. 0: every thread is traced; -EPERM: tracing is not allowed here. */
int trace_start(const pid_t pids[TRACE_PROCESSES], struct trace **trace_out);
/* The calls of each process since the start. It may be called repeatedly. */
void trace_read(const struct trace *trace, struct trace_calls calls_out[TRACE_PROCESSES]);
/* Lets the processes continue untraced. Accepts NULL; returns it. */
struct trace *trace_end(struct trace *trace);
static inline void trace_cleanup(struct trace **trace)
{
	*trace = trace_end(*trace);
}

#endif
