/* Events that other processes can wait for or record. They are no events of a lane's pool, because
 * the driver requires events of a special kind for this, without times. */
#include "cuda/lane/lane.h"
#include "status.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE_BYTES 64u

static_assert(sizeof(CUipcEventHandle) == HANDLE_BYTES, "the handle is the driver's");

static int event_share_make(struct backend_device *device, struct backend_event **event_out,
			    struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;

	if (!device->facts->ipc_events || !cuda->cuIpcGetEventHandle || !cuda->cuIpcOpenEventHandle)
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"the device has no events that processes could share");
	int error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	struct backend_event *event = calloc(1, sizeof(*event));
	if (!event)
		return cuda_no_memory(fault_out, "an event");
	event->device = device;
	*event_out = event;
	return 0;
}

int cuda_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	struct backend_event *event = NULL;
	CUipcEventHandle handle;

	int error = event_share_make(device, &event, fault_out);
	if (!event)
		return error;
	CUresult result =
		cuda->cuEventCreate(&event->event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	if (result != CUDA_SUCCESS)
		event->event = NULL;
	else
		result = cuda->cuIpcGetEventHandle(&handle, event->event);
	if (result != CUDA_SUCCESS) {
		cuda_event_free(event);
		return cuda_fault(device, cuda, result, fault_out, "cannot make a shared event");
	}
	memcpy(handle_out, &handle, HANDLE_BYTES);
	*event_out = event;
	return 0;
}

int cuda_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	struct backend_event *event = NULL;
	CUipcEventHandle native;

	int error = event_share_make(device, &event, fault_out);
	if (!event)
		return error;
	memcpy(&native, handle, HANDLE_BYTES);
	CUresult result = cuda->cuIpcOpenEventHandle(&event->event, native);
	if (result != CUDA_SUCCESS) {
		event->event = NULL;
		cuda_event_free(event);
		return cuda_fault(device, cuda, result, fault_out, "cannot open a shared event");
	}
	*event_out = event;
	return 0;
}

void cuda_event_free(struct backend_event *event)
{
	if (!event)
		return;
	(void)cuda_enter(event->device, NULL);
	if (event->event && !event->is_foreign)
		(void)event->device->backend->library.cuEventDestroy(event->event);
	free(event);
}

int cuda_event_record(struct backend_lane *lane, struct backend_event *event,
		      struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	int error = cuda_enter(lane->device, fault_out);

	if (error < 0)
		return error;
	cuda_lane_send(lane->state);
	CUresult result = cuda->cuEventRecord(event->event, lane->stream);
	return result == CUDA_SUCCESS ? 0
				      : cuda_fault(lane->device, cuda, result, fault_out,
						   "cannot record an event");
}

int cuda_event_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct backend_event *event = command->event;

	if (!event ||
	    (command->kind == BACKEND_COMMAND_EVENT_RECORD && event->device != lane->device))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"an event of another device");
	if (event->is_foreign && command->kind == BACKEND_COMMAND_EVENT_RECORD)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"an event of the application's is not recorded here");
	CUresult result = command->kind == BACKEND_COMMAND_EVENT_RECORD
				  ? cuda->cuEventRecord(event->event, lane->stream)
				  : cuda->cuStreamWaitEvent(lane->stream, event->event,
							    CU_EVENT_WAIT_DEFAULT);
	if (result != CUDA_SUCCESS)
		return cuda_fault(lane->device, cuda, result, fault_out,
				  command->kind == BACKEND_COMMAND_EVENT_RECORD
					  ? "cannot record a shared event"
				  : event->is_foreign
					  ? "cannot wait for an event of the application's"
					  : "cannot wait for a shared event");
	return 0;
}
