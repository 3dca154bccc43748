/* The control group of a job: the plug-in's own, or that of Slurm's plug-in cgroup/v2. */
#ifndef SYCLD_SPANK_GROUP_H
#define SYCLD_SPANK_GROUP_H

#include "facts.h"
#include "settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GROUP_BYTES = 512 };

/* True if the plug-in makes the job's group. */
bool group_is_own(const struct settings *settings);

/* Makes the job's own group, if it is missing, and writes its path as the kernel names it. False:
 * `cause_out` has the reason. */
bool group_make(const struct settings *settings, uint32_t job, char path_out[GROUP_BYTES],
		char cause_out[CAUSE_BYTES]);

/* Moves the calling process into the job's own group. 0 or a negative errno. */
int group_enter(const char *path);

/* Finds the group that Slurm has made for the job, of which this process is a part. False: there is
 * none of version 2. */
bool group_find_slurms(uint32_t job, char path_out[GROUP_BYTES]);

/* Ends all processes that are left in the job's own group, and removes it; tries until the
 * deadline. */
void group_remove(const struct settings *settings, uint32_t job);

enum tasks_state { TASKS_ENDED, TASKS_RUN, TASKS_SUSPENDED };

/* Whether all of these children are stopped or frozen. Those that have ended do not count. */
enum tasks_state group_tasks_state(const pid_t *pids, unsigned count);

/* True if any process of the job on this node is stopped or frozen. */
bool group_has_suspended(const struct settings *settings, uint32_t job);

#endif
