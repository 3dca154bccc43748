#include "opencl/driver/device_root.h"

#define PARENTS_MAX 16u /* limit for parts of parts */

static uint32_t opencl_device_index(const struct backend *backend, cl_device_id id)
{
	uint32_t i = 0;
	while (i < backend->device_count && backend->device_ids[i] != id)
		i++;
	return i;
}

uint32_t opencl_device_root(const struct backend *backend, cl_device_id id)
{
	uint32_t index = opencl_device_index(backend, id);
	for (uint32_t i = 0; id && index == backend->device_count && i < PARENTS_MAX; i++) {
		cl_device_id parent = NULL;
		if (backend->cl.GetDeviceInfo(id, CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id),
					      &parent, NULL) != CL_SUCCESS)
			break;
		id = parent;
		index = opencl_device_index(backend, id);
	}
	return index;
}
