/*
 * The least that a daemon's path to a device can be, as the baseline of what the service's own code
 * costs. There are a client, a ring in shared memory, and one process with the driver. That process
 * launches what comes out of the ring; the device writes into the client's page how far it is. No
 * other client, no order between buffers, no checks, no accounts. Both sides spin. Functions print
 * what is wrong and return false.
 */
#ifndef SYCL_BENCH_GPU_MINIMAL_DAEMON_H
#define SYCL_BENCH_GPU_MINIMAL_DAEMON_H

#include "gpu/cost_kernels.h"

#include <sys/types.h>

struct minimal_ring;

struct minimal_daemon {
	struct minimal_ring *ring;
	pid_t pid; /* the process with the driver */
	uint32_t sent;
};

/* Forks it, with the CUDA library of `place` (place.h). Buffers are COST_WORD everywhere. */
bool minimal_daemon_open(struct minimal_daemon *daemon, const char *place);
void minimal_daemon_close(struct minimal_daemon *daemon);

void minimal_daemon_launch(struct minimal_daemon *daemon, const struct cost_group *group);
/* The first word of a buffer, when all that was sent before is done. */
uint32_t minimal_daemon_read(struct minimal_daemon *daemon, unsigned buffer);
void minimal_daemon_wait(struct minimal_daemon *daemon);

#endif
