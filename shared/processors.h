/* How many processors there are for a process: not more than it may run on, nor than its control group has the time of. */
#ifndef SYCL_SHARED_PROCESSORS_H
#define SYCL_SHARED_PROCESSORS_H

#include <stdint.h>

/* That the calling thread, and so those that it starts, may run on; at least 1. One system call. */
uint32_t processors_allowed(void);
/*
 * How many whole processors' time this process' control group and those above it have, at least 1; UINT32_MAX: all that there is, or not
 * known. Reads files of the kernel's, some microseconds each.
 */
uint32_t processors_quota(void);
/* The less of the two. */
uint32_t processors_here(void);

/* Of a file cpu.max of a control group: "QUOTA PERIOD", or "max PERIOD"; at least 1. */
uint32_t processors_parse_quota(const char *text);

#endif
