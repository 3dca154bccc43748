/* Follows `scontrol suspend`: Slurm has no call for plug-ins there, so the processes are looked at.
 */
#ifndef SYCLD_SPANK_WATCH_H
#define SYCLD_SPANK_WATCH_H

#include "settings.h"

#include <stdint.h>
#include <sys/types.h>

/* Adds a task of this step. The first one starts a thread of slurmstepd's process, which looks
 * twice a second whether all tasks are stopped or frozen, and orders the service to suspend or
 * resume the job. An order that fails is repeated. 0 or a negative errno. */
int watch_task(const struct settings *settings, uint32_t job, pid_t pid);

/* Ends the thread, before the plug-in is unloaded. Resumes the job if this step has suspended it
 * and no other task is suspended. Waits for orders: for two deadlines at most. */
void watch_end(void);

#endif
