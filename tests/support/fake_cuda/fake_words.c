/* Names of the results that this project handles. */
#include "fake.h"

static const struct {
	CUresult result;
	const char *name, *words;
} results[] = {
#define WORDS(result, words) {result, #result, words},
	/* clang-format off */
	WORDS(CUDA_SUCCESS, "no error")
	WORDS(CUDA_ERROR_INVALID_VALUE, "invalid argument")
	WORDS(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")
	WORDS(CUDA_ERROR_NOT_INITIALIZED, "initialization error")
	WORDS(CUDA_ERROR_DEINITIALIZED, "driver shutting down")
	WORDS(CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library")
	WORDS(CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable")
	WORDS(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")
	WORDS(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")
	WORDS(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")
	WORDS(CUDA_ERROR_INVALID_CONTEXT, "invalid device context")
	WORDS(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device")
	WORDS(CUDA_ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered")
	WORDS(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture")
	WORDS(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices")
	WORDS(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")
	WORDS(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain.")
	WORDS(CUDA_ERROR_CONTAINED, "Invalid access of peer GPU memory over nvlink or a hardware error")
	WORDS(CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid")
	WORDS(CUDA_ERROR_FILE_NOT_FOUND, "file not found")
	WORDS(CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS")
	WORDS(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")
	WORDS(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state")
	WORDS(CUDA_ERROR_NOT_FOUND, "named symbol not found")
	WORDS(CUDA_ERROR_NOT_READY, "device not ready")
	WORDS(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")
	WORDS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch")
	WORDS(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated")
	WORDS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled")
	WORDS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled")
	WORDS(CUDA_ERROR_ASSERT, "device-side assert triggered")
	WORDS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped")
	WORDS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region")
	WORDS(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error")
	WORDS(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered")
	WORDS(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")
	WORDS(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space")
	WORDS(CUDA_ERROR_INVALID_PC, "invalid program counter")
	WORDS(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")
	WORDS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch")
	WORDS(CUDA_ERROR_NOT_PERMITTED, "operation not permitted")
	WORDS(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")
	WORDS(CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized")
	WORDS(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system has unsupported display driver / cuda driver combination")
	WORDS(CUDA_ERROR_MPS_CONNECTION_FAILED, "MPS client failed to connect to the MPS control daemon or the MPS server")
	WORDS(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready to accept new MPS client requests")
	WORDS(CUDA_ERROR_INVALID_CLUSTER_SIZE, "cluster misconfiguration")
	WORDS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing")
	WORDS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture")
	WORDS(CUDA_ERROR_UNKNOWN, "unknown error")
/* clang-format on */
#undef WORDS
};

static CUresult find_result(CUresult result, const char **name_out, const char **words_out)
{
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		if (results[i].result != result)
			continue;
		if (name_out)
			*name_out = results[i].name;
		if (words_out)
			*words_out = results[i].words;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult result, const char **name_out)
{
	ENTER(NEED_NOTHING);
	*name_out = NULL;
	return find_result(result, name_out, NULL);
}

CUresult cuGetErrorString(CUresult result, const char **words_out)
{
	ENTER(NEED_NOTHING);
	*words_out = NULL;
	return find_result(result, NULL, words_out);
}
