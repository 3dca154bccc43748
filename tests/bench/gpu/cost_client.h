/* A client of the service with the command groups of TR10. On an error the functions print a
 * message and return false. */
#ifndef SYCL_BENCH_GPU_COST_CLIENT_H
#define SYCL_BENCH_GPU_COST_CLIENT_H

#include "gpu/cost_kernels.h"

#include <syclclient.h>

struct cost_client {
	sycl_platform platform;
	sycl_queue queue; /* in order */
	sycl_kernel_bundle bundle;
	sycl_kernel kernels[COST_KERNEL_NAMES];
	sycl_buffer buffers[COST_BUFFERS];
	sycl_executable_graph graph; /* the kernels of an iteration */
};

/* `place`: see place.h. Buffers contain only COST_WORD. */
bool cost_client_open(struct cost_client *client, const char *place);
void cost_client_close(struct cost_client *client);

bool cost_client_launch(struct cost_client *client, const struct cost_group *group);
/* Launches all kernels of an iteration as one graph. */
bool cost_client_graph(struct cost_client *client);
/* Returns the first word of a buffer when the earlier groups that write it are complete. */
bool cost_client_read(struct cost_client *client, unsigned buffer, uint32_t *word_out);
bool cost_client_wait(struct cost_client *client);

#endif
