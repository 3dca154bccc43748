/* Keeps CUDA in an engine from joining an MPS server that another user has started. */
#ifndef SYCL_ENGINE_ENGINE_MPS_H
#define SYCL_ENGINE_ENGINE_MPS_H

/* CUDA's default folder, which any user can make first. */
#define ENGINE_MPS_FOLDER "/tmp/nvidia-mps"

/*
 * Before CUDA is loaded and before there are threads. Where CUDA_MPS_PIPE_DIRECTORY is set nothing
 * changes: that is the word of whoever runs the service. Else `folder` counts only if it is root's
 * or this process' user's own, and no link: otherwise CUDA gets a folder where there is nothing,
 * and uses the GPUs without MPS. 0 or -ENOMEM.
 */
int engine_mps_guard(const char *folder);

#endif
