/* The frames of TR9: their kernels in order, and the same computation on the host. */
#ifndef SYCL_BENCH_REAL_FRAMES_H
#define SYCL_BENCH_REAL_FRAMES_H

#include "real/program.h"

enum { FRAMES_SIZES = 3, FRAMES_SIDE_MAX = 1024, FRAMES_INPUTS = 2 };

/* Kernel i reads buffer i and writes the next one. */
enum frames_kernel { FRAMES_BLUR, FRAMES_EDGES, FRAMES_HALF, FRAMES_KERNELS };
enum { FRAMES_IN, FRAMES_BLURRED, FRAMES_OUTLINED, FRAMES_OUT, FRAMES_BUFFERS };

extern const struct layer_source frames_source;

/* Pixels of a frame's side; a pixel is a word. The output has half the side. */
uint32_t frames_side(enum real_scale scale, unsigned size);
const char *frames_size_name(unsigned size);
struct layer_launch frames_launch(enum frames_kernel kernel, const unsigned buffers[FRAMES_BUFFERS],
				  uint32_t side);

/* Fills one of FRAMES_INPUTS frames. */
void frames_fill(uint32_t *in, unsigned number, uint32_t side);
/* Computes the output; one thread of a process at a time. */
void frames_expect(const uint32_t *in, uint32_t *expected_out, uint32_t side);

#endif
