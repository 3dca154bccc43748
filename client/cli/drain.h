/* `syclctl drain --wait`: waits until the sessions that a drain is for have ended. */
#ifndef SYCLCTL_DRAIN_H
#define SYCLCTL_DRAIN_H

#include "admin.pb-c.h"

#include <stdint.h>

/* The exit status: 0: none is left; 4: some are after the time (0: no limit); 3: the service has
 * ended; 1: it does not answer. Errors are on standard error. */
int drain_wait(const char *runtime_directory, const Sycl__V1__OrderCommand *drain,
	       uint64_t timeout_seconds);

#endif
