/* The memory and time that a group of processes uses, as the kernel counts them. */
#ifndef SYCL_BENCH_PROCESS_H
#define SYCL_BENCH_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_GROUP_MAX = 64 };

/* A process and everything that descends from it. */
struct process_group {
	pid_t pids[PROCESS_GROUP_MAX];
	int count;
};

void process_group_find(pid_t root, struct process_group *group_out);
/* CPU time, ns: of living and of ended threads. Processes that ended are not in it. */
uint64_t process_group_cpu_ns(const struct process_group *group);
/* How often a thread of theirs went to sleep by itself, so was woken. */
uint64_t process_group_wakes(const struct process_group *group);
/*
 * Resident memory that is no file's: anonymous and shared-memory pages, each divided among those
 * who map it. Programs and libraries lie in the page cache whoever runs them.
 */
int64_t process_group_memory_bytes(const struct process_group *group);
int64_t process_memory_bytes(pid_t pid);

#endif
