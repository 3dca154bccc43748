/*
 * Declarations for tests of the execution model that hold on every backend. The same files are
 * linked with a service on fake devices (portable_fake.c) and with the embedded engine on a real
 * device (portable_embedded.c). Host tasks are controlled by the test here, so no backend needs
 * gates of its own.
 */
#ifndef SYCL_TESTS_PORTABLE_H
#define SYCL_TESTS_PORTABLE_H

#include "library/portable_engine.h"

#include <pthread.h>
#include <stdatomic.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* LONG_NS is far longer than anything here takes. SHORT_NS is long enough to wait for something
 * that must not happen meanwhile. */
#define LONG_NS  60000000000ull
#define SHORT_NS 20000000ull

enum { WORDS = 1024, WORDS_BYTES = WORDS * (int)sizeof(uint32_t) };

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)
#define REFUSED(call, code)                                                                        \
	do {                                                                                       \
		sycl_result refused_ = (call);                                                     \
		cr_assert(eq(int, refused_, (code)), "%s: %s", #call, sycl_result_name(refused_)); \
	} while (0)

/* The objects of a test: a connection without helper threads, and an out-of-order queue on its
 * first device. */
extern sycl_platform platform;
extern sycl_queue queue;
/* For .init and .fini. A test releases everything that it made itself. At the end the engine may
 * have nothing left. */
void portable_begin(void);
void portable_end(void);

/* Opens another connection to the same engine, with so many helper threads. */
sycl_platform portable_open(uint32_t helper_threads);
/* Returns a device by number, modulo how many there are. The caller releases it. */
sycl_device portable_device(sycl_platform of, uint32_t which);
sycl_queue portable_queue(sycl_platform of, uint32_t which, uint32_t properties);
/* A second queue of the context and the device of another. */
sycl_queue portable_beside(sycl_queue other, uint32_t properties);
/* fill_u32(destination, value), increment_u32(destination), copy_u32(destination, source), over
 * words. */
sycl_kernel portable_kernel(sycl_queue on, const char *name);

sycl_buffer words_buffer(sycl_platform of, uint32_t value);
/* Returns true if every word has this value, by a host accessor. */
bool words_are(sycl_buffer buffer, uint32_t value);

void run_fill(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
	      sycl_event *event_out);
void run_increment(sycl_queue on, sycl_kernel increment, sycl_buffer buffer, sycl_event *event_out);
/* `buffer` NULL: none. Depends on `after`, unless that is NULL. */
void run_task(sycl_queue on, sycl_host_task_function *function, void *user_data, sycl_buffer buffer,
	      sycl_access_mode mode, sycl_event after, sycl_event *event_out);

/* A gate at which host tasks wait. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool open;
	uint32_t entered; /* how many tasks came to it */
};
#define GATE_INIT                                                                                  \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0                      \
	}
void gate_open(struct gate *gate);
/* Waits until so many have come. */
void gate_await(struct gate *gate, uint32_t entered);
/* user_data: a struct gate. Waits until it is open. */
sycl_result gate_task(sycl_host_task task, void *user_data);
/* user_data: _Atomic uint32_t. */
sycl_result count_task(sycl_host_task task, void *user_data);

#endif
