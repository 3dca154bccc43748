/* The number of processors for a process: no more than it may run on, and no more than its control
 * group has the time of. */
#ifndef SYCL_SHARED_PROCESSORS_H
#define SYCL_SHARED_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

/* Environment variable: the number of processors to assume, whatever the machine has. */
#define PROCESSORS_VARIABLE "SYCLD_PROCESSORS"
#define PROCESSORS_MOST     4096u

/* The number on which the calling thread may run, and so the threads that it starts; at least 1.
 * One system call. */
uint32_t processors_allowed(void);
/* The time of this process' control group and its parents, in whole processors, at least 1.
 * UINT32_MAX: no limit, or not known. Reads files of the kernel, some microseconds each. */
uint32_t processors_quota(void);
/* The smaller of the two; or the value of PROCESSORS_VARIABLE, if that is a number from 1 to
 * PROCESSORS_MOST. */
uint32_t processors_here(void);

/* Parses that variable. False: the text is no such number, and `count_out` is untouched. */
bool processors_parse(const char *text, uint32_t *count_out);

/* Parses a file cpu.max of a control group: "QUOTA PERIOD", or "max PERIOD". At least 1. */
uint32_t processors_parse_quota(const char *text);

#endif
