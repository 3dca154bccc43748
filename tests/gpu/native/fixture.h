/*
 * An application that uses the driver itself beside the library: on this machine's GPUs, or with
 * the double that SYCLD_TEST_CUDA_LIBRARY names.
 */
#ifndef SYCL_TESTS_GPU_NATIVE_FIXTURE_H
#define SYCL_TESTS_GPU_NATIVE_FIXTURE_H

#include "order/fixture.h"

#include <cuda.h>

/* Returns a function of the driver that the engine uses. */
void *native_symbol(const char *name);
#define NATIVE_TEXT(name) #name
#define NATIVE_NAME(name) NATIVE_TEXT(name)
/* NATIVE(cuCtxCreate)(...): cuda.h adds a version to names, which is a part of the symbol. */
#define NATIVE(name) ((__typeof__(&(name)))native_symbol(NATIVE_NAME(name)))
#define NATIVE_MUST(call)                                                                          \
	do {                                                                                       \
		CUresult native_ = (call);                                                         \
		cr_assert_eq(native_, CUDA_SUCCESS, "%s: %d", #call, native_);                     \
	} while (0)

/*
 * A word that kernels and the program access, of a queue's context, and kernels that wait for it:
 * the gate. native_gate_end frees all of it.
 */
struct native_gate {
	sycl_queue queue;
	volatile uint32_t *word;
	sycl_kernel fill, increment;
};
void native_gate_begin(struct native_gate *gate, sycl_queue queue);
void native_gate_end(struct native_gate *gate);
void native_gate_set(const struct native_gate *gate, bool is_open);
/*
 * Fills a buffer of ORDER_ITEMS words when the gate is open; `queue` is of the gate's context. The
 * caller releases the event.
 */
sycl_event native_gated_fill(const struct native_gate *gate, sycl_queue queue, sycl_buffer buffer,
			     uint32_t value);
/* The same for ORDER_ITEMS words of USM, which only the event orders. */
sycl_event native_gated_fill_usm(const struct native_gate *gate, sycl_queue queue, uint32_t *words,
				 uint32_t value);
/* Adds 1 to each word. `event_out` may be NULL. */
void native_increment(const struct native_gate *gate, sycl_queue queue, sycl_buffer buffer,
		      sycl_event *event_out);
/*
 * The kernels' source, for tests that load it into the driver themselves: native_fill (word, out,
 * value, looks), native_increment (out).
 */
extern const char native_ptx[];

/* Expects that the event does not happen, however long the test waits. */
void native_expect_open(sycl_event event);

#endif
