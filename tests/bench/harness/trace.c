#include "harness/trace.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { NUDGE_SIGNAL = SIGUSR2, NUDGE_NS = 2000000 };

struct traced_thread {
	pid_t tid;
	unsigned process;
	bool seen; /* it has stopped once, and is traced since then */
};

struct trace {
	pid_t pids[TRACE_PROCESSES];
	pthread_t tracer; /* only the thread that attached can wait and continue */
	sem_t ready;
	int result; /* of the attachment */
	_Atomic bool end;
	_Atomic uint64_t calls[TRACE_PROCESSES], first_thread_calls[TRACE_PROCESSES];
	struct traced_thread
		*threads; /* OpenCL of a CPU has one for each processor of the machine */
	unsigned count, room;
};

static int make_room(struct trace *trace)
{
	if (trace->count < trace->room)
		return 0;
	unsigned room = trace->room ? 2 * trace->room : 64;
	struct traced_thread *threads = realloc(trace->threads, room * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	trace->threads = threads;
	trace->room = room;
	return 0;
}

static int attach_thread(struct trace *trace, unsigned process, pid_t tid)
{
	int r = make_room(trace);
	if (r < 0)
		return r;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0)
		return errno == ESRCH ? 0 : -errno; /* it has just ended */
	trace->threads[trace->count++] = (struct traced_thread){.tid = tid, .process = process};
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ? -errno : 0;
}

static int attach_process(struct trace *trace, unsigned process)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)trace->pids[process]);
	DIR *folder = opendir(path);
	if (!folder)
		return -errno;
	int r = 0;
	const struct dirent *entry;
	while (r == 0 && (entry = readdir(folder)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid > 0)
			r = attach_thread(trace, process, tid);
	}
	(void)closedir(folder);
	return r;
}

static struct traced_thread *thread_of(struct trace *trace, pid_t tid)
{
	for (unsigned i = 0; i < trace->count; i++)
		if (trace->threads[i].tid == tid)
			return &trace->threads[i];
	return NULL;
}

static void bench_trace_count_call(struct trace *trace, const struct traced_thread *thread)
{
	(void)atomic_fetch_add_explicit(&trace->calls[thread->process], 1, memory_order_relaxed);
	if (thread->tid == trace->pids[thread->process])
		(void)atomic_fetch_add_explicit(&trace->first_thread_calls[thread->process], 1,
						memory_order_relaxed);
}

/* Counts the call of a thread that has stopped, and continues the thread. */
static void trace_step_thread(struct trace *trace, struct traced_thread *thread, int status)
{
	long signal_to_pass = 0;
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		struct __ptrace_syscall_info info;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, (void *)sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY)
			bench_trace_count_call(trace, thread);
	} else if (status >> 16 == 0) {
		signal_to_pass = WSTOPSIG(status);
	}
	thread->seen = true;
	(void)ptrace(PTRACE_SYSCALL, thread->tid, NULL, (void *)signal_to_pass);
}

static bool all_seen(const struct trace *trace)
{
	for (unsigned i = 0; i < trace->count; i++)
		if (!trace->threads[i].seen)
			return false;
	return true;
}

static void watch(struct trace *trace)
{
	bool reported = false;
	while (!atomic_load(&trace->end)) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD);
		if (tid < 0 && errno != EINTR)
			break; /* all of them have ended */
		struct traced_thread *thread = tid > 0 ? thread_of(trace, tid) : NULL;
		if (thread && WIFSTOPPED(status))
			trace_step_thread(trace, thread, status);
		else if (thread)
			thread->seen = true;
		if (!reported && all_seen(trace)) {
			reported = true;
			(void)sem_post(&trace->ready);
		}
	}
	if (!reported)
		(void)sem_post(&trace->ready);
}

/* When it ends, everything that it has attached is released. */
static void *tracer(void *context)
{
	struct trace *trace = context;
	for (unsigned i = 0; i < TRACE_PROCESSES && trace->result == 0; i++)
		if (trace->pids[i])
			trace->result = attach_process(trace, i);
	if (trace->result == 0)
		watch(trace);
	else
		(void)sem_post(&trace->ready);
	return NULL;
}

/* It only ends a wait. */
static void on_nudge(int number)
{
	(void)number;
}

int trace_start(const pid_t pids[TRACE_PROCESSES], struct trace **trace_out)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	const struct sigaction nudge = {.sa_handler = on_nudge};
	if (!trace)
		return -ENOMEM;
	for (unsigned i = 0; i < TRACE_PROCESSES; i++)
		trace->pids[i] = pids[i];
	if (sigaction(NUDGE_SIGNAL, &nudge, NULL) < 0 || sem_init(&trace->ready, 0, 0) < 0) {
		free(trace);
		return -EINVAL;
	}
	int r = -pthread_create(&trace->tracer, NULL, tracer, trace);
	if (r < 0) {
		(void)sem_destroy(&trace->ready);
		free(trace);
		return r;
	}
	while (sem_wait(&trace->ready) < 0)
		;
	r = trace->result;
	if (r < 0)
		(void)trace_end(trace);
	else
		*trace_out = trace;
	return r;
}

void trace_read(const struct trace *trace, struct trace_calls calls_out[TRACE_PROCESSES])
{
	for (unsigned i = 0; i < TRACE_PROCESSES; i++) {
		calls_out[i].all = atomic_load_explicit(&trace->calls[i], memory_order_relaxed);
		calls_out[i].first_thread =
			atomic_load_explicit(&trace->first_thread_calls[i], memory_order_relaxed);
	}
}

struct trace *trace_end(struct trace *trace)
{
	if (!trace)
		return NULL;
	atomic_store(&trace->end, true);
	/* A signal that comes before the wait does not end the wait. So there are more signals. */
	struct timespec until;
	do {
		(void)pthread_kill(trace->tracer, NUDGE_SIGNAL);
		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += NUDGE_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} while (pthread_clockjoin_np(trace->tracer, NULL, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
	(void)sem_destroy(&trace->ready);
	free(trace->threads);
	free(trace);
	return NULL;
}
