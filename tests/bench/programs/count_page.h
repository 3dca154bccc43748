/* The counts of count_calls.c in each process that loads it, in a file that these processes and
 * syclbench map. */
#ifndef SYCL_BENCH_COUNT_PAGE_H
#define SYCL_BENCH_COUNT_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define COUNT_VARIABLE  "SYCLBENCH_COUNTS" /* names the file */
#define COUNT_PROCESSES 32u

enum counted {
	COUNTED_ALLOCATIONS,     /* malloc, calloc, realloc, aligned ones */
	COUNTED_LOCKS,           /* pthread_mutex_lock and _trylock */
	COUNTED_CONTENDED,       /* of these, already locked */
	COUNTED_OWN_ALLOCATIONS, /* called by the program itself or by libsyclclient, not by another
				    library */
	COUNTED_OWN_LOCKS,
	COUNTED_OWN_CONTENDED,
	COUNTED_MAIN_ALLOCATIONS, /* by the process's first thread, which is the front thread of an
				     engine */
	COUNTED_MAIN_LOCKS,
	COUNTED_MAIN_CONTENDED,
	COUNTED_KINDS
};

struct count_process {
	_Atomic int32_t pid; /* 0: free */
	int32_t zero;
	_Atomic uint64_t counts[COUNTED_KINDS];
	uint64_t padding[6];
};
_Static_assert(sizeof(struct count_process) == 128, "lines of its own for each process");

struct count_page {
	struct count_process processes[COUNT_PROCESSES];
};

#endif
