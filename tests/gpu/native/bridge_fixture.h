/*
 * A service of the test on this machine's GPUs, or on the double that SYCLD_TEST_CUDA_LIBRARY
 * names. Its client has its own CUDA context.
 */
#ifndef SYCL_TESTS_GPU_BRIDGE_FIXTURE_H
#define SYCL_TESTS_GPU_BRIDGE_FIXTURE_H

#include "native/fixture.h"
#include "processes/common.h"

#include <stdatomic.h>

enum { BRIDGE_BYTES = ORDER_ITEMS * (int)sizeof(uint32_t) };

struct bridge_test {
	struct private_service *service;
	sycl_platform connection;
	sycl_device devices[ORDER_DEVICES_MAX];
	uint32_t device_count;
	sycl_queue queue;        /* out of order, on device 0 */
	struct native_gate gate; /* of the service's kernels */
	/* Of the program: its primary context on device 0, which is not current. */
	CUcontext context;
	CUmodule module;
	CUfunction fill, increment;
	volatile uint32_t *word; /* native_fill of the program waits for this: 0 */
	CUdeviceptr word_address;
};

/* Skips the test if there is no such driver. */
struct private_service *bridge_service(void);
/* `helpers`: helper threads of the connection. */
void bridge_connect(struct bridge_test *test, struct private_service *service, uint32_t helpers);
/* Fills in the connection's CUDA devices, which the caller releases. bridge_connect calls it. */
void bridge_find_devices(struct bridge_test *test);
void bridge_disconnect(struct bridge_test *test);
/* Begins or ends both. */
void bridge_begin(struct bridge_test *test, uint32_t helpers);
void bridge_end(struct bridge_test *test);

/* Checks a count of this process, with the double. */
void bridge_expect_no_misuse(void);

/* ORDER_ITEMS words, not written yet, on device 0. */
sycl_buffer bridge_buffer(const struct bridge_test *test, sycl_share_kind kind);

/* The work of a test's function, and the values that it got. */
struct bridge_work {
	const struct bridge_test *test;
	bool fills; /* native_fill behind `word`, with `value`; otherwise native_increment */
	bool wild;  /* ... at an invalid address */
	uint32_t value;
	sycl_result result;
	atomic_uint calls, ends;
	uint64_t device, context, queue, graph, memory, offset;
	uint32_t has_graph;
	sycl_result graph_result;
	CUcontext current;
};
/* Submits a native command with the buffer as accessor 0, `offset` words behind its beginning;
 * `event_out` may be NULL. */
sycl_result bridge_submit(sycl_queue queue, struct bridge_work *work, sycl_buffer buffer,
			  uint32_t offset, sycl_event *event_out);
sycl_native_command_function bridge_function;
sycl_user_data_destroy bridge_ended;

/* Waits until the function was called that often. */
void bridge_await_calls(struct bridge_work *work, uint32_t calls);
/* Waits for it, and expects success. */
void bridge_finish(sycl_event event);

/* Starts a process that the kernel kills with this one. Returns 0 in the new process. */
pid_t bridge_fork_client(void);
/* Runs a fill and an increment on another buffer, and expects their result. */
void bridge_expect_others_work(const struct bridge_test *test);

#endif
