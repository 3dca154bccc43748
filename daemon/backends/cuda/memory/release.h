/* Which release of the driver this is: "580.159.04, CUDA 13.0". Its library gives only the second
 * half. */
#ifndef SYCL_BACKENDS_CUDA_RELEASE_H
#define SYCL_BACKENDS_CUDA_RELEASE_H

#define CUDA_RELEASE_BYTES 96
#define CUDA_RELEASE_ROOT  ""

/*
 * The release of the driver from the kernel module's files below `root` ("" for the machine's own):
 * /sys/module/nvidia/version, or the text of /proc/driver/nvidia/version. Without them only the
 * library's `driver_version` (13000). Reads files.
 */
void cuda_release(const char *root, int driver_version, char text_out[CUDA_RELEASE_BYTES]);

#endif
