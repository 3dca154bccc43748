/*
 * Parts that are made in a device's primary context before the device is opened (device/preload.c).
 * Each of these takes some 10 ms, and longer while the driver takes a failed process apart. The
 * part of the device that needs one takes it from here, or makes it where it is not here.
 */
#ifndef SYCL_BACKENDS_CUDA_AHEAD_H
#define SYCL_BACKENDS_CUDA_AHEAD_H

#include "cuda/driver/context.h"

#define CUDA_AHEAD_DEVICES_MAX 64u

/* Make these parts in the context, which is current, and keep them for device `index`. What cannot
 * be made is left out. Before any other of the backend's entries. */
void cuda_ahead_prepare(const struct backend *backend, uint32_t index, CUcontext context);
/* Frees the parts that no device has taken; with the context current. */
void cuda_ahead_drop(const struct cuda_library *cu, struct cuda_ahead *ahead);

/* The parts that were made in that context of device `index`. They are given once. Any thread,
 * after the last preload. */
void cuda_ahead_take(uint32_t index, CUcontext context, struct cuda_ahead *ahead_out);

#endif
