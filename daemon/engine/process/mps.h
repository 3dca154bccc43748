/* Keeps CUDA in an engine from joining an MPS server that another user has started. */
#ifndef SYCL_ENGINE_ENGINE_MPS_H
#define SYCL_ENGINE_ENGINE_MPS_H

/* CUDA's default folder, which any user can make first. */
#define ENGINE_MPS_FOLDER "/tmp/nvidia-mps"

/*
 * Called before CUDA is loaded and before there are threads. If CUDA_MPS_PIPE_DIRECTORY is set
 * nothing changes, as the operator has set it. Else `folder` counts only if it belongs to root or
 * to this process' user, and is no link. Otherwise CUDA gets an empty folder, and uses the GPUs
 * without MPS. 0 or -ENOMEM.
 */
int engine_mps_guard(const char *folder);

#endif
