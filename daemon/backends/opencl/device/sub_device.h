/*
 * Parts of devices (clCreateSubDevices), made here or by the application. Each part is a device
 * with its own number, behind those of enumerate, and holds one reference of OpenCL's. The
 * functions are entries of backend_ops.
 */
#ifndef SYCL_BACKENDS_OPENCL_SUB_DEVICE_H
#define SYCL_BACKENDS_OPENCL_SUB_DEVICE_H

#include "opencl/driver/objects.h"

int opencl_sub_devices_create(struct backend *backend, uint32_t device,
			      const struct backend_division *division, uint32_t capacity,
			      struct backend_sub_device *sub_devices_out, uint32_t *count_out,
			      struct backend_fault *fault_out);
int opencl_sub_device_take(struct backend *backend, uint64_t native,
			   struct backend_sub_device *sub_device_out,
			   struct backend_fault *fault_out);
void opencl_sub_device_free(struct backend *backend, uint32_t sub_device);

/* Finds a device by its number, of enumerate or of a part. False: there is no such device. The
 * number may not be freed meanwhile. */
bool opencl_device_find(const struct backend *backend, uint32_t number, cl_device_id *id_out,
			const struct backend_device_facts **facts_out);
/* Called by opencl_close: releases all sub-devices that are left. */
void opencl_sub_devices_close(struct backend *backend);

/* Fills in a device's facts about its division. */
void opencl_partition_fill(const struct opencl_library *cl, cl_device_id id,
			   struct backend_device_facts *facts);

#endif
