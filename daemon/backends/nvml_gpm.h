/*
 * The SM occupancy of a device, by the part of NVML that is called GPM (NVIDIA GPUs since Hopper):
 * warps that the device holds, in relation to the most that it can hold. It is an average between
 * two samples. One thread at a time; the functions' addresses and samples are kept for good.
 */
#ifndef SYCL_BACKEND_NVML_GPM_H
#define SYCL_BACKEND_NVML_GPM_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the functions in the opened library, which may not have them. */
void nvml_gpm_find(void *library);

/*
 * The device (its handle of NVML) since the last call. If that was long ago, or there was none, the
 * call waits for 150 ms, because two samples need a time between them. False: the device, its
 * driver or this user's rights do not have it.
 */
bool nvml_gpm_occupancy(void *device, uint32_t *permille_out);

#endif
