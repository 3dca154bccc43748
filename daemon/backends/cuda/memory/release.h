/* The release of the driver: "580.159.04, CUDA 13.0". The driver's library gives only the second
 * half. */
#ifndef SYCL_BACKENDS_CUDA_RELEASE_H
#define SYCL_BACKENDS_CUDA_RELEASE_H

#define CUDA_RELEASE_BYTES 96
#define CUDA_RELEASE_ROOT  ""

/*
 * Finds the driver's release in the kernel module's files below `root` ("" for the machine's own).
 * The files are /sys/module/nvidia/version and /proc/driver/nvidia/version. Without them, the text
 * has only the library's `driver_version` (13000). Reads files.
 */
void cuda_release(const char *root, int driver_version, char text_out[CUDA_RELEASE_BYTES]);

#endif
