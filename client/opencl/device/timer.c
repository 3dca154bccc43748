/* SPDX-License-Identifier: Apache-2.0 */
/* Timers of the host. A timer of a device beside them needs a query that the library lacks. */
#include "device/device.h"

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_out,
							cl_ulong *host_out)
{
	(void)device_out;
	(void)host_out;
	return FIND_DEVICE(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host_out)
{
	(void)host_out;
	return FIND_DEVICE(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}
