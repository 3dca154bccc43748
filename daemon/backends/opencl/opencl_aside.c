#include "opencl_aside.h"

#include "opencl_clock.h"

cl_command_queue opencl_aside(struct backend_device *device, cl_int *code_out)
{
	if (!device->aside)
		device->aside = opencl_queue_create(device->cl, device->context, device->id, false, code_out);
	return device->aside;
}

void opencl_aside_close(struct backend_device *device)
{
	if (!device->aside)
		return;
	(void)device->cl->Finish(device->aside);
	(void)device->cl->ReleaseCommandQueue(device->aside);
	device->aside = NULL;
}

cl_int opencl_settle(struct backend_device *device, cl_mem buffer)
{
	cl_int code = CL_SUCCESS;
	char unread;

	if (device->facts->host_unified_memory)
		return CL_SUCCESS;
	cl_command_queue queue = opencl_aside(device, &code);
	return queue ? device->cl->EnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &unread, 0, NULL, NULL) : code;
}
