/*
 * D18: which calls may wait for devices, and that no other call does. Every function of the library
 * is called here while a gate holds the device and a host task, or is listed as one that waits. A
 * call that does not return ends the program.
 */
#ifndef SYCL_TESTS_CLIENT_BLOCKING_H
#define SYCL_TESTS_CLIENT_BLOCKING_H

#include "library/portable.h"

/* The objects that are made before the gate is closed. */
struct gated {
	sycl_platform platform;
	sycl_device device;
	sycl_context context;
	sycl_queue queue, other;
	sycl_kernel_bundle bundle;
	sycl_kernel fill, increment;
	sycl_buffer held,
		idle;     /* `held`: a host task at the gate writes it, and groups wait for it */
	sycl_event event; /* of a group that waits */
	struct gate gate;
};

/* The first takes the name of the function that is called next; the second reports that it
 * returned. */
void call_begin(const char *function);
void call_end(void);

/* Any result is accepted, as long as the call returns. */
#define CALL(function, ...)                                                                        \
	__extension__({                                                                            \
		call_begin(#function);                                                             \
		__typeof__(function(__VA_ARGS__)) called_ = function(__VA_ARGS__);                 \
		call_end();                                                                        \
		called_;                                                                           \
	})
#define CALL_MUST(function, ...)                                                                   \
	do {                                                                                       \
		sycl_result called_must_ = CALL(function, __VA_ARGS__);                            \
		cr_assert(eq(int, called_must_, 0), "%s: %s", #function,                           \
			  sycl_get_last_error_text());                                             \
	} while (0)

/* Groups of calls, each in one of the files client_blocking_*.c. */
void call_platforms(const struct gated *gated);
void call_queues(const struct gated *gated);
void call_events(const struct gated *gated);
void call_buffers(const struct gated *gated);
void call_shares(const struct gated *gated);
void call_handlers(const struct gated *gated);
void call_copies(const struct gated *gated);
void call_usm(const struct gated *gated);
void call_images(const struct gated *gated);
void call_kernels(const struct gated *gated);
void call_graphs(const struct gated *gated);
void call_natives(const struct gated *gated);

#endif
