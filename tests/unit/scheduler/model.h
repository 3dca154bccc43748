/*
 * Random command groups over several devices, against a model that runs them one after the other in
 * the order of submission. Whatever the scheduler makes of it, contents, host accesses and failures
 * must be those of the model.
 */
#ifndef TESTS_UNIT_SCHED_MODEL_H
#define TESTS_UNIT_SCHED_MODEL_H

#include "scheduler/public/scheduler.h"

struct model_options {
	enum scheduler_lane_choice lanes;
	/* Devices that are polled, have loaders, copy lanes, copy from each other; home lanes;
	 * buffers that are shared. */
	bool features;
	/* Ranges, sub-buffers, several parts of one buffer in a group, host accesses of parts.
	 * Without: mostly whole buffers. */
	bool parts;
	/* Devices have room for little more than the largest group needs. None copies from another.
	 */
	bool tight;
	bool one_device;  /* most groups are of one, so most contents are there */
	bool never_whole; /* no launch goes the short way of scheduler/submit/whole.h */
};

/* How often the devices of the last run spilled. */
uint64_t model_spills(void);
/* How many stretches its scheduler took as one task. */
uint64_t model_stretches(void);
/* The seed also decides which devices have unified memory and which are manual. NULL: equal; else
 * what is different. */
const char *model_run(uint64_t seed, uint32_t tasks, const struct model_options *options);

#endif
