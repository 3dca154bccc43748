/* The accesses of a task that is being submitted: memory/dependencies.h. */
#ifndef SYCL_ENGINE_SCHED_ACCESS_H
#define SYCL_ENGINE_SCHED_ACCESS_H

#include "base/interval_map.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_buffer;
struct sched_memory;

/* An access of a task to a buffer. */
struct sched_access {
	struct sched_buffer *buffer;
	struct interval order; /* never empty */
	struct interval bytes; /* lies inside, and may be empty */
	/* The buffer's memory on the task's device; NULL: not needed. */
	struct sched_memory *memory;
	uint32_t place;
	bool writes;
	bool needs; /* the present contents: all but a no-init write */
	bool moves; /* residency changes; false: only ordered (an empty range touches nothing) */
	bool host;  /* a host access */
	/* true: the access is to all of a buffer that is in one part; false: not known. */
	bool plain;
	/* Results of the first steps; the maps do not change until sched_access_finish. */
	struct interval_run spans, pieces;
	bool as_writer; /* the access orders as a write does */
	bool comes;     /* something must be brought, or is checked for the first time */
	bool poisoned;
};

#endif
