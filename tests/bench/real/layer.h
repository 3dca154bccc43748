/*
 * The interface of the programs of the TR rows: memory, copies, launches and graphs of one device,
 * in one order. There are three implementations: a client of the service, CUDA's driver API in this
 * process, and plain OpenCL in this process. On an error the functions print a message and return
 * false.
 */
#ifndef SYCL_BENCH_REAL_LAYER_H
#define SYCL_BENCH_REAL_LAYER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LAYER_KERNELS = 16,
	LAYER_BUFFERS = 48,
	LAYER_GRAPHS = 8,
	LAYER_GRAPH_LAUNCHES = 64, /* in one graph */
	LAYER_POINTERS = 6,
	LAYER_VALUES = 4,
	LAYER_SHARED_BYTES = 192
};

/* In the portable form of kernels (sycld-portable-kernels(7)), limited to what sources.h
 * supports. */
struct layer_source {
	const char *text;
	const char *kernels[LAYER_KERNELS]; /* ends with NULL, if there is room */
};

/* A kernel takes its buffers first, then words of 32 bits. */
struct layer_launch {
	unsigned kernel; /* of the source's */
	uint32_t global, local;
	unsigned pointers, values;
	unsigned buffers[LAYER_POINTERS];
	unsigned writes; /* a bit for each buffer: it is written, or read and written */
	uint32_t words[LAYER_VALUES];
};

/* The data that another process needs to open shared memory. */
struct layer_shared {
	uint8_t bytes[LAYER_SHARED_BYTES];
};

struct layer_body {
	/* `where`: the endpoint or place, or the folder of the kernel cache (agent.h). */
	bool (*open)(const char *where, const struct layer_source *source, void **state_out);
	/* It may also be called after open has failed. */
	void (*close)(void *state);
	/* Memory of the device: a number from 0 on. */
	bool (*alloc)(void *state, uint64_t bytes, unsigned *buffer_out);
	/* A part of that, as separate memory, at a multiple of 256 bytes. It overlaps the whole. */
	bool (*part)(void *state, unsigned buffer, uint64_t offset_bytes, uint64_t bytes,
		     unsigned *part_out);
	/* Memory of the program, of the kind that this implementation copies best; NULL: there is
	 * none. */
	void *(*host)(void *state, uint64_t bytes);
	/* `from` must not change until the next read or sync. */
	bool (*write)(void *state, unsigned buffer, const void *from, uint64_t bytes);
	bool (*launch)(void *state, const struct layer_launch *launch);
	/* Waits until the contents are there. */
	bool (*read)(void *state, unsigned buffer, void *to, uint64_t bytes);
	bool (*sync)(void *state);
	/* The launches between the two are not run. They become a graph: a number from 0 on. */
	bool (*record_begin)(void *state);
	bool (*record_end)(void *state, unsigned *graph_out);
	bool (*graph)(void *state, unsigned graph);
	/* Memory of the device that other processes open. NULL: this implementation has none. */
	bool (*share)(void *state, uint64_t bytes, unsigned *buffer_out,
		      struct layer_shared *shared_out);
	bool (*open_shared)(void *state, const struct layer_shared *shared, unsigned *buffer_out);
	/* Called by the process that shares a buffer: another one may use its present contents
	 * now. */
	bool (*hand_on)(void *state, unsigned buffer);
	/* Called by the other process once it has received that: its next commands read those
	 * contents. */
	bool (*take)(void *state, unsigned buffer);
};

extern const struct layer_body layer_service, layer_service_gpu, layer_cuda, layer_opencl;

#endif
