#include "harness/counters.h"

#include <dirent.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct counters {
	unsigned threads;
	int files[COUNTERS][THREADS_MAX]; /* -1: refused */
};

static const struct {
	uint32_t type;
	uint64_t config;
} events[COUNTERS] = {
	[COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[COUNTER_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	[COUNTER_PROCESSOR_NS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	[COUNTER_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
};

static int open_counter(enum counter counter, pid_t thread)
{
	struct perf_event_attr attributes = {.type = events[counter].type,
					     .size = sizeof(attributes),
					     .config = events[counter].config,
					     /* Only these two count the kernel, too. */
					     .exclude_kernel = counter != COUNTER_PROCESSOR_NS &&
							       counter != COUNTER_SWITCHES,
					     .exclude_hv = 1};
	return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void add_thread(struct counters *counters, pid_t thread)
{
	for (int counter = 0; counter < COUNTERS; counter++)
		counters->files[counter][counters->threads] =
			open_counter((enum counter)counter, thread);
	counters->threads++;
}

struct counters *counters_start(pid_t pid)
{
	char path[PATH_MAX];
	struct counters *counters = calloc(1, sizeof(*counters));
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = counters ? opendir(path) : NULL;
	for (struct dirent *entry = folder ? readdir(folder) : NULL;
	     entry && counters->threads < THREADS_MAX; entry = readdir(folder))
		if (entry->d_name[0] != '.')
			add_thread(counters, (pid_t)strtol(entry->d_name, NULL, 10));
	if (folder)
		(void)closedir(folder);
	return counters;
}

static double read_counter(const struct counters *counters, int counter)
{
	double sum = 0;
	for (unsigned i = 0; i < counters->threads; i++) {
		uint64_t value = 0;
		if (counters->files[counter][i] < 0 ||
		    read(counters->files[counter][i], &value, sizeof(value)) !=
			    (ssize_t)sizeof(value))
			return -1;
		sum += (double)value;
	}
	return counters->threads > 0 ? sum : -1;
}

void counters_read(const struct counters *counters, double values_out[COUNTERS])
{
	for (int counter = 0; counter < COUNTERS; counter++)
		values_out[counter] = read_counter(counters, counter);
}

struct counters *counters_end(struct counters *counters)
{
	for (int counter = 0; counters && counter < COUNTERS; counter++)
		for (unsigned i = 0; i < counters->threads; i++)
			if (counters->files[counter][i] >= 0)
				(void)close(counters->files[counter][i]);
	free(counters);
	return NULL;
}
