/* NVIDIA's Multi-Process Service for only these clients: in a separate folder, ended afterwards. */
#ifndef SYCL_BENCH_MPS_H
#define SYCL_BENCH_MPS_H

#include "cleanup.h"
#include "process.h"

struct mps {
	char directory[64]; /* temporary */
	char pipes[80];     /* CUDA_MPS_PIPE_DIRECTORY of its clients */
	struct child control;
};

/* Starts it and waits until it answers; `users`: one server has clients of several users. -ENOENT:
 * it is not installed. */
int mps_start(bool users, struct mps **mps_out);
/* Ends the control program and its servers. Their clients must have ended. */
struct mps *mps_free(struct mps *mps);
DEFINE_CLEANUP(mps)

/* Returns true if the control program exists. */
bool mps_installed(void);

#endif
