/*
 * Random command groups over several devices, against a model that runs them one after the other in
 * the order of submission. Contents, host accesses and failures must be those of the model,
 * whatever the scheduler does.
 */
#ifndef TESTS_UNIT_SCHED_MODEL_H
#define TESTS_UNIT_SCHED_MODEL_H

#include "scheduler/public/scheduler.h"

struct model_options {
	enum scheduler_lane_choice lanes;
	/* Devices that are polled, have loaders and copy lanes, or copy from each other; home
	 * lanes; shared buffers. */
	bool features;
	/* Ranges, sub-buffers, several parts of one buffer in a group, host accesses of parts.
	 * Otherwise mostly whole buffers. */
	bool parts;
	/* Devices have room for little more than the largest group needs. None copies from
	 * another. */
	bool tight;
	bool one_device;   /* most groups use one device, so most contents are there */
	bool reads_itself; /* devices on which kept tasks can do their reads themselves */
	bool never_keep_reads;
	bool never_whole; /* no launch takes the short path of scheduler/submit/whole.h */
};

/* Returns how often the devices of the last run spilled. */
uint64_t model_spills(void);
/* Returns how many stretches the scheduler took as one task. */
uint64_t model_stretches(void);
/* The number of launches of tasks that were submitted again, in the latest run. */
uint64_t model_kept_launches(void);
/* The number of reads that such tasks did by themselves. */
uint64_t model_kept_reads(void);
/* The seed also decides which devices have unified memory and which are manual. Returns NULL if all
 * is equal, otherwise the difference. */
const char *model_run(uint64_t seed, uint32_t tasks, const struct model_options *options);

#endif
