/* The driver's results as sentences, and the loss of a device. */
#ifndef SYCL_BACKENDS_CUDA_FAULT_H
#define SYCL_BACKENDS_CUDA_FAULT_H

#include "backend.h"
#include "cuda/driver/library.h"

/*
 * Describes a CUresult in words. `what` precedes the driver's own text: "cannot allocate 4096
 * bytes". If an open device has failed, the text begins with "the device failed", whichever call
 * detects it. The status follows from the result (out of memory: MEMORY_ALLOCATION; argument:
 * INVALID; ...). Sticky results (700, 702, 710, 714 - 719, 226, 911 and the like) mark the device
 * lost: device_lost and process_lost. Returns a negative errno.
 */
int cuda_fault(struct backend_device *device_or_null, const struct cuda_library *library,
	       CUresult result, struct backend_fault *fault_out, const char *what, ...)
	__attribute__((cold, format(printf, 5, 6)));
/* As cuda_fault, for a result that may be a success: then 0. */
int cuda_check_failed(struct backend_device *device, CUresult result,
		      struct backend_fault *fault_out, const char *what) __attribute__((cold));
static inline int cuda_check(struct backend_device *device, CUresult result,
			     struct backend_fault *fault_out, const char *what)
{
	return result == CUDA_SUCCESS ? 0 : cuda_check_failed(device, result, fault_out, what);
}
bool cuda_result_is_sticky(CUresult result);

/* Makes a fault of words only, without a CUresult. Returns `error`, a negative errno, for `return
 * cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "...")`. */
int cuda_fault_words(struct backend_fault *fault_out, int error, int32_t status, const char *format,
		     ...) __attribute__((cold, format(printf, 4, 5)));
/* Makes the fault for missing host memory for `what` ("a lane"). Returns -ENOMEM. */
__attribute__((cold)) int cuda_no_memory(struct backend_fault *fault_out, const char *what);
/* Returns the fault that ended the device, valid while the device is open; NULL: the device works.
 * Any thread. */
const struct backend_fault *cuda_lost(const struct backend_device *device);
/* How a text begins that says so of an open device. The faults of MPS' clients reach all of them.
 */
const char *cuda_failed_text(const struct backend_device *device);
/* Marks the device lost with this fault, whatever its result. Commands in flight may never end. Any
 * thread. */
__attribute__((cold)) void cuda_lose(struct backend_device *device, struct backend_fault *fault);

#endif
