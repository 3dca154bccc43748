/* The attributes of a GPU, in SYCL's terms. The queries of the driver make no context. */
#ifndef SYCL_BACKENDS_CUDA_ATTRIBUTES_H
#define SYCL_BACKENDS_CUDA_ATTRIBUTES_H

#include "cuda/device/device.h"

/* All of facts but `device` and `uuid`, which are given. An attribute that the driver does not have
 * is 0. */
void cuda_attributes_read(const struct cuda_library *cuda, struct cuda_device_facts *facts);

/* The facts of backend.h, except texts and identity. `memory_bytes`: of the whole device. */
void cuda_attributes_fill(const struct cuda_library *cuda, const struct cuda_device_facts *from,
			  uint64_t memory_bytes, struct backend_device_facts *facts);

/*
 * device/image_facts.c: the device's facts about images, and the feature; nothing if the driver
 * lacks a function.
 */
void cuda_image_facts_fill(const struct cuda_library *library, CUdevice device,
			   struct backend_device_facts *facts);

#endif
