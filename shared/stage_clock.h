/*
 * When a command group passes from one hand to the next: what syclbench's breakdown is made of.
 * Only a build with -DSYCLD_STAGES=ON has it; in any other STAGE_MARK is nothing at all, and
 * stage_clock.c is not compiled.
 *
 * The times lie in a file that all processes map whose environment names it (SYCLD_STAGES_FILE);
 * where it names none, nothing is kept. A time is that of a group's number, whatever its queue:
 * measure one queue at a time.
 */
#ifndef SYCL_SHARED_STAGE_CLOCK_H
#define SYCL_SHARED_STAGE_CLOCK_H

#include "clock.h"

#include <stdatomic.h>
#include <stddef.h>

/* The stages of a group, in their order. */
enum stage {
	STAGE_BEGUN, /* the program is about to build the group (reported by syclbench) */
	/* Library: the record is complete, and about to be visible; only for known shapes. */
	STAGE_WRITTEN,
	STAGE_RUNG,    /* library: the engine has been woken, if it slept */
	STAGE_TAKEN,   /* front thread: the record has been copied out of the ring */
	STAGE_DECODED, /* front thread: all objects of the group have been found and checked */
	/* Front thread: the group may run; about to be handed to the device's thread. */
	STAGE_ORDERED,
	STAGE_ARRIVED,   /* device thread: the group has arrived */
	STAGE_LAUNCHED,  /* device thread: the vendor's library has the group */
	STAGE_COMPLETED, /* device thread: the vendor's library has reported the group's end */
	STAGE_REPORTED,  /* front thread: the group's slot is about to be written */
	STAGE_RETURNED,  /* the program's wait has returned (reported by syclbench) */
	STAGES
};

/* If there are more groups, later groups overwrite the times of earlier ones. A power of two. */
#define STAGE_GROUPS 32768u

/* The times are sorted by stage, not by group, so that the values of one thread lie together. ns of
 * CLOCK_MONOTONIC; 0: not reached. */
struct stage_times {
	_Atomic uint64_t at_ns[STAGES][STAGE_GROUPS];
};

#ifdef SYCLD_STAGES

/* Maps the file at the first call of this process and keeps it mapped. NULL: no file is named, or
 * it is too short. */
struct stage_times *stage_times(void);

static inline void stage_mark(uint64_t group, enum stage stage)
{
	struct stage_times *times = stage_times();
	if (times)
		atomic_store_explicit(&times->at_ns[stage][group % STAGE_GROUPS], clock_now_ns(),
				      memory_order_relaxed);
}

#define STAGE_MARK(group, stage) stage_mark(group, stage)

/* Marks a burst of groups with consecutive numbers. */
static inline void stage_mark_all(uint64_t first, uint32_t count, enum stage stage)
{
	for (uint32_t i = 0; i < count; i++)
		stage_mark(first + i, stage);
}

#define STAGE_MARK_ALL(first, count, stage) stage_mark_all(first, count, stage)

#else

#define STAGE_MARK(group, stage)            ((void)0)
#define STAGE_MARK_ALL(first, count, stage) ((void)0)

#endif

#endif
