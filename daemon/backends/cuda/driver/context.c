/*
 * A device's context, which functions make current before they use it. It is the device's primary
 * context in this process, retained when the device is opened. Or it is a context that the
 * application has made and keeps.
 */
#include "cuda/driver/context.h"

/* The opening of a device that this thread entered last. A context's address may occur again, this
 * number does not. */
static _Thread_local uint64_t entered;
static _Atomic uint64_t openings;

/*
 * The application may capture one of its streams in this process. In some modes a capture forbids
 * calls that could wait to all threads. The engine's threads wait on other streams, and must
 * continue (K20).
 */
static void relax_capture_mode(const struct cuda_library *cu)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (cu->cuThreadExchangeStreamCaptureMode)
		(void)cu->cuThreadExchangeStreamCaptureMode(&mode);
}

int cuda_enter(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;

	if (entered == device->opening)
		return 0;
	CUresult result = cu->cuCtxSetCurrent(device->context);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot make the context current");
	relax_capture_mode(cu);
	entered = device->opening;
	return 0;
}

int cuda_enter_again(struct backend_device *device, struct backend_fault *fault_out)
{
	entered = 0;
	return cuda_enter(device, fault_out);
}

void cuda_leave(struct backend_device *device)
{
	(void)device->backend->library.cuCtxSetCurrent(NULL);
	entered = 0;
}

uint64_t cuda_opening_next(void)
{
	return atomic_fetch_add(&openings, 1) + 1;
}

/* Makes a thread that waits for the device sleep instead of spin. Flags are set only before the
 * context is active; an active context belongs to someone else. */
static CUresult set_context_flags(const struct cuda_library *cu, CUdevice device)
{
	unsigned flags = 0;
	int is_active = 0;

	CUresult result = cu->cuDevicePrimaryCtxGetState(device, &flags, &is_active);
	if (result == CUDA_SUCCESS && !is_active)
		result = cu->cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC);
	return result;
}

CUresult cuda_context_retain(const struct cuda_library *cu, CUdevice device, CUcontext *context_out,
			     const char **what_out)
{
	const char *what = "cannot set up the context";
	CUcontext context = NULL;

	CUresult result = set_context_flags(cu, device);
	if (result == CUDA_SUCCESS) {
		what = "cannot open the device";
		result = cu->cuDevicePrimaryCtxRetain(&context, device);
	}
	if (result == CUDA_SUCCESS)
		*context_out = context;
	else
		*what_out = what;
	return result;
}
