/* The start time of a process. With its pid, it identifies a process. */
#ifndef SYCLD_SUPERVISOR_PROCESS_START_H
#define SYCLD_SUPERVISOR_PROCESS_START_H

#include <stdint.h>
#include <sys/types.h>

/* Returns clock ticks since the machine's start. 0, or a negative errno: -ENOENT: there is no such
 * process. Reads a file of /proc. */
int process_start_ticks(pid_t pid, uint64_t *ticks_out);

#endif
