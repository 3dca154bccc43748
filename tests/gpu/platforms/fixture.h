/* A service that sees a GPU through CUDA, through NVIDIA's OpenCL, and the processor through PoCL,
 * whatever of them is here. */
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
 * Starts the service and connects; skips the test where fewer than `devices` CUDA devices are
 * there. `library`: instead of the system's driver where SYCLD_TEST_CUDA_LIBRARY names one.
 */
void platforms_begin(struct platforms *platforms, uint32_t devices);
void platforms_end(struct platforms *platforms);
const char *platforms_library(void);

/* An in-order queue of a device, and a kernel "add" (y, a): y[i] += a. The caller's to release. */
sycl_queue platforms_queue(sycl_context context, sycl_device device);
sycl_kernel platforms_kernel(sycl_queue queue);
/* Add `value` to `words` words of the buffer. */
void platforms_add(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, uint32_t words,
		   uint32_t value, sycl_event after, sycl_event *event_out);
/*
 * A kernel of one item, for a queue of CUDA: it runs until `word`, host USM of the queue's context,
 * is not 0. Then it adds 1 to the buffer's words, or 1000 if that took seconds.
 */
sycl_kernel platforms_hold_kernel(sycl_queue queue);
void platforms_hold(sycl_queue queue, sycl_kernel kernel, const uint32_t *word, sycl_buffer buffer,
		    sycl_event *event_out);

/* A host task of the queue that goes on until platforms_gate_end. */
struct platforms_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_open;
};
void platforms_gate_begin(struct platforms_gate *gate, sycl_queue queue, sycl_event *event_out);
/* Opens it; before the gate's memory ends, wait for the event. */
void platforms_gate_end(struct platforms_gate *gate);

/* All of the buffer's words, waited for. */
void platforms_expect(sycl_buffer buffer, uint32_t words, uint32_t value);

#endif
