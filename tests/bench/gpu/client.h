/* A client of the service on a CUDA device, which the GPU rows measure. On an error the functions
 * print a message and return false. */
#ifndef SYCL_BENCH_GPU_CLIENT_H
#define SYCL_BENCH_GPU_CLIENT_H

#include "gpu/kernels.h"

#include <stdbool.h>
#include <syclclient.h>

enum { GPU_CLIENT_WINDOW = 8 };

/* The steps of gpu_client_open, in order. */
enum gpu_client_stage {
	GPU_CLIENT_BEGUN,
	GPU_CLIENT_CONNECTED,
	GPU_CLIENT_QUEUE,
	GPU_CLIENT_KERNELS,
	GPU_CLIENT_DATA,
	GPU_CLIENT_STAGES
};

struct gpu_client {
	bool is_beside; /* it shares everything but queue, data and marks with another one */
	sycl_platform platform;
	sycl_device device;
	sycl_queue queue; /* in order */
	sycl_kernel_bundle bundle;
	sycl_kernel add, spin, crowd, fault;
	sycl_buffer data;  /* GPU_DATA_WORDS words, 0 at first */
	uint32_t launched; /* the expected value of its first word */
	/* The events of every n-th submission. They keep the queue full, but no fuller than
	 * that. */
	sycl_event marks[GPU_CLIENT_WINDOW];
	uint32_t mark;
	uint64_t stages_ns[GPU_CLIENT_STAGES]; /* when each was complete, on CLOCK_MONOTONIC */
};

/* `place`: of place.h, with the service's endpoint. */
bool gpu_client_open(struct gpu_client *client, const char *place);
/* The same with that many copy threads, as in sycl_open_options.copy_threads. */
bool gpu_client_open_copying(struct gpu_client *client, const char *place, uint32_t copy_threads);
/* The same with only GPU_KERNEL_ADD, as in a small program. */
bool gpu_client_open_small(struct gpu_client *client, const char *place);
void gpu_client_close(struct gpu_client *client);
/* Opens another in-order queue and other data in the same session. The first one must outlive it.
 * gpu_client_close closes either. */
bool gpu_client_open_beside(struct gpu_client *client, const struct gpu_client *first);

/* Returns how many CUDA devices a connection has, which may be 0. The reason goes to `why_out`. */
unsigned gpu_client_devices(sycl_platform platform, char *why_out, size_t size);

/* Returns one of them, which the caller releases. NULL: there is none, and a message was
 * printed. */
sycl_device gpu_client_device(sycl_platform connection, unsigned index);

/* A command group of `blocks` groups that add 1, without an event. */
bool gpu_client_submit(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
		       uint32_t number);
/* The same many times, with at most some thousand unfinished. */
bool gpu_client_stream(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
		       uint32_t number, uint64_t count);
bool gpu_client_wait(struct gpu_client *client);
/* Waits, and checks that each group has run exactly once. */
bool gpu_client_verify(struct gpu_client *client);

#endif
