/* A service that uses a GPU through CUDA and through NVIDIA's OpenCL, and the processor through
 * PoCL, as far as they are installed. */
#ifndef SYCL_TESTS_GPU_PLATFORMS_FIXTURE_H
#define SYCL_TESTS_GPU_PLATFORMS_FIXTURE_H

#include "private_service.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdbool.h>
#include <syclclient.h>

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 64 };

#define MUST(call) cr_assert_eq((call), SYCL_SUCCESS, "%s: %s", #call, sycl_get_last_error_text())

struct platforms {
	struct private_service *service;
	sycl_platform connection;
	sycl_platform all[PLATFORMS_MAX];
	uint32_t count;
	sycl_platform cuda; /* one of `all` */
	sycl_device devices[DEVICES_MAX];
	uint32_t device_count; /* of CUDA */
	sycl_device other;     /* of another backend; NULL: there is none */
};

/*
 * Starts the service and connects. Skips the test if there are fewer than `devices` CUDA devices.
 * `library` replaces the system's driver if SYCLD_TEST_CUDA_LIBRARY names one.
 */
void platforms_begin(struct platforms *platforms, uint32_t devices);
void platforms_end(struct platforms *platforms);
const char *platforms_library(void);

/* Makes an in-order queue of a device, and a kernel "add" (y, a): y[i] += a. The caller releases
 * them. */
sycl_queue platforms_queue(sycl_context context, sycl_device device);
sycl_kernel platforms_kernel(sycl_queue queue);
/* Adds `value` to `words` words of the buffer. */
void platforms_add(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, uint32_t words,
		   uint32_t value, sycl_event after, sycl_event *event_out);
/*
 * Makes a kernel of one item, for a queue of CUDA. It runs until `word`, host USM of the queue's
 * context, is not 0. Then it adds 1 to the buffer's words, or 1000 if that took seconds.
 */
sycl_kernel platforms_hold_kernel(sycl_queue queue);
void platforms_hold(sycl_queue queue, sycl_kernel kernel, const uint32_t *word, sycl_buffer buffer,
		    sycl_event *event_out);

/* A host task of the queue that runs until platforms_gate_end. */
struct platforms_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open;
};
void platforms_gate_begin(struct platforms_gate *gate, sycl_queue queue, sycl_event *event_out);
/* Opens it. Wait for the event before the gate's memory ends. */
void platforms_gate_end(struct platforms_gate *gate);

/* Checks all of the buffer's words, after a wait. */
void platforms_expect(sycl_buffer buffer, uint32_t words, uint32_t value);

#endif
