/* Sentences for the driver's results, and a record of the first result that ended a device. */
#include "cuda/driver/context.h"
#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The severity of a result. */
enum weight {
	ONE_CALL, /* only this request failed; later ones can succeed */
	DOUBTFUL, /* as STICKY if another call fails with the same result */
	/* Every later call of this process fails with the same result. Only a new process can use
	 * the device again. */
	STICKY,
};

struct meaning {
	CUresult result;
	enum weight weight;
	int32_t status;
	int error;
	const char *sentence; /* NULL: the driver's text suffices */
};

/* Sentences for readers without knowledge of the driver. Sorted by number. */
static const struct meaning meanings[] = {
	{CUDA_ERROR_INVALID_VALUE, ONE_CALL, STATUS_INVALID, EINVAL, NULL},
	{CUDA_ERROR_OUT_OF_MEMORY, ONE_CALL, STATUS_MEMORY_ALLOCATION, ENOMEM, NULL},
	{CUDA_ERROR_NOT_INITIALIZED, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the NVIDIA driver is not started"},
	{CUDA_ERROR_DEINITIALIZED, STICKY, STATUS_DEVICE_LOST, ENODEV,
	 "the NVIDIA driver is shutting down"},
	{CUDA_ERROR_STUB_LIBRARY, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "libcuda.so.1 is the toolkit's stub, which only links: no NVIDIA driver is installed"},
	{CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the NVIDIA driver is too old"},
	{CUDA_ERROR_DEVICE_UNAVAILABLE, ONE_CALL, STATUS_PLATFORM, EBUSY,
	 "the GPU is not available: its compute mode is prohibited, or exclusive while another process uses it"},
	{CUDA_ERROR_NO_DEVICE, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "no NVIDIA GPU is visible to this process"},
	{CUDA_ERROR_INVALID_DEVICE, ONE_CALL, STATUS_PLATFORM, EINVAL, NULL},
	{CUDA_ERROR_DEVICE_NOT_LICENSED, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the virtual GPU has no licence"},
	{CUDA_ERROR_INVALID_IMAGE, ONE_CALL, STATUS_BUILD, EINVAL,
	 "this is no PTX, cubin or fatbin"},
	{CUDA_ERROR_INVALID_CONTEXT, ONE_CALL, STATUS_RUNTIME, EIO, NULL},
	{CUDA_ERROR_NO_BINARY_FOR_GPU, ONE_CALL, STATUS_BUILD, EINVAL,
	 "the binary has no code for this GPU's compute capability"},
	{CUDA_ERROR_ECC_UNCORRECTABLE, STICKY, STATUS_DEVICE_LOST, EIO,
	 "the GPU's memory has an error that ECC could not correct"},
	{CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, ONE_CALL, STATUS_FEATURE_NOT_SUPPORTED, EOPNOTSUPP,
	 NULL},
	{CUDA_ERROR_INVALID_PTX, ONE_CALL, STATUS_BUILD, EINVAL, "the PTX does not compile"},
	{CUDA_ERROR_NVLINK_UNCORRECTABLE, STICKY, STATUS_DEVICE_LOST, EIO,
	 "NVLink had an error that could not be corrected"},
	{CUDA_ERROR_JIT_COMPILER_NOT_FOUND, ONE_CALL, STATUS_BUILD, EOPNOTSUPP,
	 "the driver's PTX compiler (libnvidia-ptxjitcompiler) is not installed"},
	{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ONE_CALL, STATUS_BUILD, EINVAL,
	 "the PTX is newer than the driver"},
	{CUDA_ERROR_JIT_COMPILATION_DISABLED, ONE_CALL, STATUS_BUILD, EOPNOTSUPP,
	 "the driver is set not to compile PTX"},
	{CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, ONE_CALL, STATUS_BUILD, EINVAL,
	 "the kernel waits for kernels that it launched, which this GPU does not support"},
	{CUDA_ERROR_CONTAINED, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel failed; the GPU contained the failure, but this process cannot use it any more"},
	{CUDA_ERROR_INVALID_SOURCE, ONE_CALL, STATUS_BUILD, EINVAL, NULL},
	{CUDA_ERROR_FILE_NOT_FOUND, ONE_CALL, STATUS_RUNTIME, ENOENT, NULL},
	{CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, ONE_CALL, STATUS_BUILD, EINVAL, NULL},
	{CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, ONE_CALL, STATUS_RUNTIME, EIO, NULL},
	{CUDA_ERROR_OPERATING_SYSTEM, ONE_CALL, STATUS_RUNTIME, EIO, NULL},
	{CUDA_ERROR_INVALID_HANDLE, ONE_CALL, STATUS_INVALID, EINVAL, NULL},
	{CUDA_ERROR_NOT_FOUND, ONE_CALL, STATUS_KERNEL, ENOENT, NULL},
	{CUDA_ERROR_NOT_READY, ONE_CALL, STATUS_RUNTIME, EAGAIN, NULL},
	{CUDA_ERROR_ILLEGAL_ADDRESS, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel read or wrote memory outside of its allocations (or its stack overflowed)"},
	{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ONE_CALL, STATUS_ND_RANGE, EINVAL,
	 "the work-group needs more registers or local memory than a compute unit has"},
	{CUDA_ERROR_LAUNCH_TIMEOUT, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel ran longer than the driver's watchdog allows"},
	{CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, ONE_CALL, STATUS_KERNEL, EINVAL, NULL},
	{CUDA_ERROR_CONTEXT_IS_DESTROYED, STICKY, STATUS_DEVICE_LOST, EIO, NULL},
	{CUDA_ERROR_ASSERT, STICKY, STATUS_DEVICE_LOST, EIO, "an assertion in a kernel failed"},
	{CUDA_ERROR_TOO_MANY_PEERS, ONE_CALL, STATUS_FEATURE_NOT_SUPPORTED, EOPNOTSUPP, NULL},
	{CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, ONE_CALL, STATUS_INVALID, EEXIST, NULL},
	{CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, ONE_CALL, STATUS_INVALID, EINVAL, NULL},
	{CUDA_ERROR_HARDWARE_STACK_ERROR, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel's stack overflowed or was damaged (see stack_bytes in sycld.conf)"},
	{CUDA_ERROR_ILLEGAL_INSTRUCTION, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel executed an invalid instruction or a trap"},
	{CUDA_ERROR_MISALIGNED_ADDRESS, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel used an address that is not a multiple of the size of what it read or wrote there"},
	{CUDA_ERROR_INVALID_ADDRESS_SPACE, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel used an address in an instruction for another address space"},
	{CUDA_ERROR_INVALID_PC, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel jumped to an address without code"},
	{CUDA_ERROR_LAUNCH_FAILED, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel failed: a trap, an invalid address, or a stack overflow (see stack_bytes in sycld.conf)"},
	{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, ONE_CALL, STATUS_ND_RANGE, EINVAL,
	 "more work-groups than can be on the GPU at one time, which a cooperative launch needs"},
	{CUDA_ERROR_TENSOR_MEMORY_LEAK, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a kernel left tensor memory allocated"},
	{CUDA_ERROR_NOT_PERMITTED, ONE_CALL, STATUS_RUNTIME, EPERM, NULL},
	{CUDA_ERROR_NOT_SUPPORTED, ONE_CALL, STATUS_FEATURE_NOT_SUPPORTED, EOPNOTSUPP, NULL},
	{CUDA_ERROR_SYSTEM_NOT_READY, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the GPUs are not set up yet (on a machine with NVSwitch: is the fabric manager running?)"},
	{CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the driver's library and its kernel module are of different versions: restart the machine or reload the "
	 "module"},
	{CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the driver's library is a compatibility package that does not serve this GPU"},
	{CUDA_ERROR_MPS_CONNECTION_FAILED, ONE_CALL, STATUS_PLATFORM, ENODEV,
	 "the MPS daemon does not answer"},
	{CUDA_ERROR_MPS_RPC_FAILURE, STICKY, STATUS_DEVICE_LOST, EIO,
	 "the MPS server does not answer any more"},
	{CUDA_ERROR_MPS_SERVER_NOT_READY, ONE_CALL, STATUS_PLATFORM, EBUSY,
	 "the MPS server takes no clients now: it recovers from a fault"},
	{CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, ONE_CALL, STATUS_PLATFORM, EBUSY,
	 "the MPS server has its maximum number of clients"},
	{CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, ONE_CALL, STATUS_PLATFORM, EBUSY,
	 "the MPS server has its maximum number of connections"},
	{CUDA_ERROR_MPS_CLIENT_TERMINATED, STICKY, STATUS_DEVICE_LOST, EIO,
	 "the MPS server ended this process' work"},
	{CUDA_ERROR_CDP_NOT_SUPPORTED, ONE_CALL, STATUS_KERNEL_NOT_SUPPORTED, EOPNOTSUPP,
	 "kernels that launch kernels are not supported here"},
	{CUDA_ERROR_CDP_VERSION_MISMATCH, ONE_CALL, STATUS_KERNEL_NOT_SUPPORTED, EOPNOTSUPP, NULL},
	{CUDA_ERROR_EXTERNAL_DEVICE, STICKY, STATUS_DEVICE_LOST, EIO,
	 "a device that the GPU waited for failed"},
	{CUDA_ERROR_INVALID_CLUSTER_SIZE, ONE_CALL, STATUS_ND_RANGE, EINVAL,
	 "the GPU has no room for such a cluster"},
	{CUDA_ERROR_KEY_ROTATION, DOUBTFUL, STATUS_RUNTIME, EIO, NULL},
	{CUDA_ERROR_UNKNOWN, DOUBTFUL, STATUS_RUNTIME, EIO, NULL},
};

static const struct meaning *cuda_find_meaning(CUresult result)
{
	static const struct meaning unknown = {CUDA_ERROR_UNKNOWN, DOUBTFUL, STATUS_RUNTIME, EIO,
					       NULL};
	size_t low = 0, high = sizeof(meanings) / sizeof(*meanings);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (meanings[middle].result < result)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sizeof(meanings) / sizeof(*meanings) && meanings[low].result == result
		       ? &meanings[low]
		       : &unknown;
}

bool cuda_result_is_sticky(CUresult result)
{
	return cuda_find_meaning(result)->weight == STICKY;
}

/* Makes a call that cannot fail by itself. On a lost GPU ("unknown error") every call fails. */
static bool every_call_fails(const struct cuda_library *library, CUresult result)
{
	size_t free_bytes, total_bytes;

	return library->cuMemGetInfo && library->cuMemGetInfo(&free_bytes, &total_bytes) == result;
}

/* The first fault is kept, because later ones only repeat it. */
static void mark_lost(struct backend_device *device, const struct backend_fault *fault)
{
	int alive = CUDA_ALIVE;

	if (!atomic_compare_exchange_strong(&device->lost, &alive, CUDA_BEING_LOST))
		return;
	device->lost_fault = *fault;
	atomic_store_explicit(&device->lost, CUDA_LOST, memory_order_release);
	/* The loader thread may have detected the loss, so the device thread reports commands in
	 * flight as lost. */
	if (device->wake)
		device->wake(device->token);
}

void cuda_lose(struct backend_device *device, struct backend_fault *fault)
{
	fault->status = STATUS_DEVICE_LOST;
	fault->device_lost = fault->process_lost = true;
	mark_lost(device, fault);
}

const char *cuda_failed_text(const struct backend_device *device)
{
	return device->facts && device->facts->mps
		       ? "the device failed, by a kernel of this process or of another client of MPS"
		       : "the device failed";
}

int cuda_fault(struct backend_device *device_or_null, const struct cuda_library *library,
	       CUresult result, struct backend_fault *fault_out, const char *what, ...)
{
	const struct meaning *meaning = cuda_find_meaning(result);
	struct backend_fault fault = {.status = meaning->status, .native_code = (int32_t)result};
	const char *name = NULL, *words = NULL;
	char said[BACKEND_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, what);
	/* clang-tidy 14 takes va_start for no initialisation on this target.
	 * NOLINTNEXTLINE(clang-analyzer-valist.*) */
	(void)vsnprintf(said, sizeof(said), what, arguments);
	va_end(arguments);
	/* Any later call returns a sticky fault, so the text does not name the call. */
	if (device_or_null && meaning->weight == STICKY)
		(void)snprintf(said, sizeof(said), "%s", cuda_failed_text(device_or_null));
	if (library->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
		name = "an error without a name";
	if (library->cuGetErrorString(result, &words) != CUDA_SUCCESS || !words)
		words = "not known to this driver";
	if (meaning->sentence)
		(void)snprintf(fault.text, sizeof(fault.text), "%.90s: %s (%s: %s)", said,
			       meaning->sentence, name, words);
	else
		(void)snprintf(fault.text, sizeof(fault.text), "%.150s: %s (%s)", said, words,
			       name);
	if (meaning->weight == STICKY ||
	    (meaning->weight == DOUBTFUL && device_or_null && every_call_fails(library, result))) {
		fault.status = STATUS_DEVICE_LOST;
		fault.device_lost = fault.process_lost = true;
		if (device_or_null)
			mark_lost(device_or_null, &fault);
	}
	if (fault_out)
		*fault_out = fault;
	return -meaning->error;
}

int cuda_fault_words(struct backend_fault *fault_out, int error, int32_t status, const char *format,
		     ...)
{
	struct backend_fault fault = {.status = status};
	va_list arguments;

	va_start(arguments, format);
	/* As above. NOLINTNEXTLINE(clang-analyzer-valist.*) */
	(void)vsnprintf(fault.text, sizeof(fault.text), format, arguments);
	va_end(arguments);
	if (fault_out)
		*fault_out = fault;
	return error;
}

int cuda_no_memory(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION, "no memory for %s",
				what);
}

int cuda_check_failed(struct backend_device *device, CUresult result,
		      struct backend_fault *fault_out, const char *what)
{
	return cuda_fault(device, &device->backend->library, result, fault_out, "%s", what);
}

const struct backend_fault *cuda_lost(const struct backend_device *device)
{
	return atomic_load_explicit(&device->lost, memory_order_acquire) == CUDA_LOST
		       ? &device->lost_fault
		       : NULL;
}
