/*
 * What is made in a device's primary context before anybody opens the device (cuda_preload.c),
 * beside the context. Each of these takes some 10 ms, and longer while the driver takes a failed
 * process apart. The part of the device that needs one takes it from here, or makes it where it is
 * not here.
 */
#ifndef SYCL_BACKENDS_CUDA_AHEAD_H
#define SYCL_BACKENDS_CUDA_AHEAD_H

#include "cuda/driver/library.h"

#include <stdbool.h>
#include <stdint.h>

#define CUDA_WORDS_BYTES                                                                           \
	((size_t)1025 * 64) /* completion words of all lanes, and one more (cuda_lane.h) */
#define CUDA_STAGING_BYTES ((size_t)16 << 20) /* slots for transfers (cuda_staging.h) */

/* Where dynamic shared memory begins in a kernel that has no static one (cuda_window.c). The same
 * in all of a context. */
struct cuda_window {
	bool is_known;
	uint64_t generic_base, shared_base;
};

struct cuda_ahead {
	CUmodule own;       /* kernels of the backend's own; NULL: not made */
	CUmodule condition; /* the one of conditional nodes; NULL: not made */
	struct cuda_window window;
	void *words, *slots; /* pinned; NULL: not made */
};

/* All below with the context current. What cannot be made is left out. */
void cuda_ahead_make(const struct cuda_library *cu, struct cuda_ahead *ahead_out);
/* What nobody has taken. */
void cuda_ahead_drop(const struct cuda_library *cu, struct cuda_ahead *ahead);

/* cuda_preload.c: what was made in that context of device `index`, once. Any thread, after the last
 * preload. */
void cuda_ahead_take(uint32_t index, CUcontext context, struct cuda_ahead *ahead_out);

/* cuda_chain.c: NULL: it cannot be loaded. */
CUmodule cuda_own_load(const struct cuda_library *cu);
/* cuda_graph_condition.c: NULL: it cannot be loaded, or the driver has no such nodes. */
CUmodule cuda_condition_load(const struct cuda_library *cu);
/* cuda_window.c: ask a tiny kernel. Failing is no fault: local memory for native kernels is refused
 * then. */
void cuda_window_find(const struct cuda_library *cu, struct cuda_window *window_out);
/* cuda_lane.c, cuda_staging.c: pinned. */
CUresult cuda_words_pin(const struct cuda_library *cu, void **words_out);
CUresult cuda_slots_pin(const struct cuda_library *cu, void **slots_out);

#endif
