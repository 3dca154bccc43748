/* NVIDIA's Multi-Process Service, for its clients alone: in a folder of its own, ended afterwards.
 */
#ifndef SYCL_BENCH_MPS_H
#define SYCL_BENCH_MPS_H

#include "cleanup.h"
#include "process.h"

struct mps {
	char directory[64]; /* temporary */
	char pipes[80];     /* CUDA_MPS_PIPE_DIRECTORY of its clients */
	struct child control;
};

/* Starts it and waits until it answers. -ENOENT: it is not installed. */
int mps_start(struct mps **mps_out);
/* Ends the control program and its servers, whose clients must be gone. */
struct mps *mps_free(struct mps *mps);
DEFINE_CLEANUP(mps)

/* Is the control program there? */
bool mps_installed(void);

#endif
