/* The memory and time that a group of processes uses, by the kernel's counts. */
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
/* CPU time, ns, of living and of ended threads. Ended processes do not count. */
uint64_t process_group_cpu_ns(const struct process_group *group);
/* Returns how often one of their threads slept voluntarily, and so was woken. */
uint64_t process_group_wakes(const struct process_group *group);
/*
 * Resident memory that belongs to no file: anonymous and shared-memory pages, each divided among
 * the processes that map it. Programs and libraries are in the page cache whichever process runs
 * them.
 */
int64_t process_group_memory_bytes(const struct process_group *group);
int64_t process_memory_bytes(pid_t pid);

#endif
