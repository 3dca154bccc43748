#include "opencl/driver/aside.h"

#include "opencl/driver/device_clock.h"

static cl_command_queue aside_queue(struct backend_device *device, cl_command_queue *queue,
				    cl_int *code_out)
{
	if (!*queue)
		*queue = opencl_queue_create(device->cl, device->context, device->id, false,
					     code_out);
	return *queue;
}

static void close_queue(const struct opencl_library *cl, cl_command_queue *queue)
{
	if (!*queue)
		return;
	(void)cl->Finish(*queue);
	(void)cl->ReleaseCommandQueue(*queue);
	*queue = NULL;
}

void opencl_aside_close(struct backend_device *device)
{
	close_queue(device->cl, &device->settling);
}

cl_int opencl_aside_read(struct backend_device *device, cl_mem buffer, cl_event after, void *into,
			 size_t bytes)
{
	cl_int code = CL_SUCCESS;

	cl_command_queue queue = aside_queue(device, &device->settling, &code);
	return queue ? device->cl->EnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, into, 1,
						     &after, NULL)
		     : code;
}

cl_int opencl_settle(struct backend_device *device, cl_mem buffer)
{
	cl_int code = CL_SUCCESS;
	char unread;

	if (device->facts->host_unified_memory)
		return CL_SUCCESS;
	cl_command_queue queue = aside_queue(device, &device->settling, &code);
	return queue ? device->cl->EnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &unread, 0, NULL,
						     NULL)
		     : code;
}
