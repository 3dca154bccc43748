/* The folder by which CUDA finds the daemon of NVIDIA's Multi-Process Service (MPS). */
#ifndef SYCL_SHARED_MPS_FOLDER_H
#define SYCL_SHARED_MPS_FOLDER_H

#include <stdbool.h>

/* CUDA's variable with the folder's path. */
#define MPS_FOLDER_VARIABLE "CUDA_MPS_PIPE_DIRECTORY"
/* A path that no process can create: CUDA uses the GPUs without MPS. */
#define MPS_FOLDER_NONE "/proc/self/no-mps"
/* The longest path, with its end: sockets in the folder have paths of at most 108 bytes. */
#define MPS_FOLDER_BYTES 80

/*
 * True for a folder, not a link, that belongs to root or to this process' user. Another owner can
 * pretend to be the daemon. In a sticky parent, as /tmp is, no other user can replace the folder
 * afterwards; a folder that is missing now could be made by any user later. Any thread.
 */
bool mps_folder_is_trusted(const char *folder);

#endif
