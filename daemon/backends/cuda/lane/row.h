/*
 * A row of launches, and perhaps a small read behind them, that the engine sends again and again:
 * prepared once, and again only where its values have changed. A lane collects it as it collects a
 * graph that is a short row of kernels (series.h). The row holds its kernels, and each command in
 * flight holds the row.
 */
#ifndef SYCL_BACKENDS_CUDA_ROW_H
#define SYCL_BACKENDS_CUDA_ROW_H

#include "cuda/lane/series.h"

struct backend_row {
	struct backend_device *device;
	uint32_t references; /* the engine's, and one of each command in flight */
	uint32_t set;        /* a bit for each launch that was set */
	struct cuda_series series;
};

#endif
