/*
 * The shortest possible path of a daemon to a device, as the baseline of the cost of the service's
 * own code. There are a client, a ring in shared memory, and one process with the driver. That
 * process launches the records of the ring. The device writes its progress into the client's page.
 * There is no other client, no order between buffers, no checks and no accounts. Both sides spin.
 * On an error the functions print a message and return false.
 */
#ifndef SYCL_BENCH_GPU_MINIMAL_DAEMON_H
#define SYCL_BENCH_GPU_MINIMAL_DAEMON_H

#include "gpu/cost_kernels.h"

#include <sys/types.h>

struct minimal_ring;

struct minimal_daemon {
	struct minimal_ring *ring;
	pid_t pid; /* the process that has the driver */
	uint32_t sent;
};

/* Forks it, with the CUDA library of `place` (place.h). Buffers contain only COST_WORD. */
bool minimal_daemon_open(struct minimal_daemon *daemon, const char *place);
void minimal_daemon_close(struct minimal_daemon *daemon);

void minimal_daemon_launch(struct minimal_daemon *daemon, const struct cost_group *group);
/* Returns the first word of a buffer when everything that was sent before is complete. */
uint32_t minimal_daemon_read(struct minimal_daemon *daemon, unsigned buffer);
void minimal_daemon_wait(struct minimal_daemon *daemon);

#endif
