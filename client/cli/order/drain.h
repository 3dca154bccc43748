/* `syclctl drain --wait`: waits until the sessions that the drain affects have ended. */
#ifndef SYCLCTL_DRAIN_H
#define SYCLCTL_DRAIN_H

#include "admin.pb-c.h"

#include <stdint.h>

/* Returns the exit status. 0: all sessions have ended; 4: some still run after the time (0: no
 * limit); 3: the service has ended; 1: it does not answer. Prints errors to standard error. */
int drain_wait(const char *runtime_directory, const Sycl__V1__OrderCommand *drain,
	       uint64_t timeout_seconds);

#endif
