/* The embedded engine on this machine's GPUs, or on the double of their driver that
 * SYCLD_TEST_CUDA_LIBRARY names. */
#ifndef SYCL_TESTS_GPU_ORDER_FIXTURE_H
#define SYCL_TESTS_GPU_ORDER_FIXTURE_H

#include <criterion/criterion.h>
#include <stdbool.h>
#include <syclclient.h>

enum { ORDER_DEVICES_MAX = 16, ORDER_ITEMS = 64, ORDER_BUFFERS = 5, ORDER_LOGS = 3 };

/* How often kernels that wait for each other poll memory before they give up: seconds on a GPU. */
#define ORDER_LOOKS (1u << 24)

#define MUST(call)                                                                                 \
	cr_assert_eq((call), SYCL_SUCCESS, "%s: %s\n%s", #call, sycl_get_last_error_text(),        \
		     sycl_get_build_log())

struct order {
	sycl_platform connection;
	sycl_device devices[ORDER_DEVICES_MAX]; /* of CUDA */
	uint32_t device_count;
	sycl_context context; /* of as many of them as the test requested */
};

/*
 * Opens the engine with these options of the CUDA backend ("cuda:lanes=4", separated by blanks; "":
 * none), and a context of the first `devices` GPUs. Skips the test if there are fewer.
 */
void order_begin(struct order *order, const char *options, uint32_t devices);
void order_end(struct order *order);
/* For a test that must not run beside other processes (--jobs): call it first. Other tests wait in
 * order_begin until this one ends. */
void order_alone(void);
/* The double's library; NULL: a real driver. */
const char *order_library(void);
/* CUdevice_attribute `attribute` of device 0, as the driver reports it. Call it after
 * order_begin. */
int order_attribute(int attribute);

/* The caller releases it. `device`: an index. */
sycl_queue order_queue(const struct order *order, uint32_t device, bool in_order);
sycl_kernel order_kernel(sycl_queue queue, const char *name);
/* ORDER_ITEMS words, all 0. */
sycl_buffer order_buffer(const struct order *order, sycl_queue queue);
/* Device USM, all 0; sycl_free. */
void *order_memory(sycl_queue queue, uint64_t size_bytes);
/* Waits for the queue, then copies USM to the program. */
void order_fetch(sycl_queue queue, void *to, const void *from, uint64_t size_bytes);

/*
 * For each item i: to[i] = to[i] * 31 + from[i] + value; log[i] = log[i] * 31 + to[i]. Kernel
 * "chain". The log is USM, which orders nothing. `after` (NULL: nothing) is a requisite; event_out
 * may be NULL.
 */
struct order_step {
	uint32_t to, from, log, value;
};
void order_submit(sycl_queue queue, sycl_kernel chain, const sycl_buffer *buffers,
		  uint32_t *const *logs, const struct order_step *step, sycl_event after,
		  sycl_event *event_out);

/* The values that the steps so far make of words that were 0: all items are alike. */
struct order_model {
	uint32_t buffers[ORDER_BUFFERS], logs[ORDER_LOGS];
};
void order_model_step(struct order_model *model, const struct order_step *step);
/* Returns the next step of a sequence, which depends only on the seed. */
struct order_step order_random_step(unsigned *seed);
/* Checks all words of the buffer after a wait; those of the log after the queue. */
void order_expect(sycl_buffer buffer, uint32_t value);
void order_expect_log(sycl_queue queue, const uint32_t *log, uint32_t value);

#endif
