#include "cuda/program/join.h"

#include "cuda/program/launch.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

#define LINK_LOG_BYTES 4096u

static bool can_link(const struct cuda_library *cu)
{
	return cu->cuLinkCreate && cu->cuLinkAddData && cu->cuLinkComplete && cu->cuLinkDestroy;
}

/* Adds all pieces, until the driver refuses one. */
static CUresult add_pieces(const struct cuda_library *cu, CUlinkState state,
			   const struct cuda_image *image)
{
	size_t at = 0, bytes = 0;

	for (unsigned number = 0;; number++) {
		CLEANUP(free_pointer) char *text = NULL;
		int error = cuda_image_piece(image->bytes, image->count, &at, &text, &bytes);
		if (error == -ENOENT)
			return CUDA_SUCCESS;
		if (error < 0)
			return error == -ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY
						: CUDA_ERROR_INVALID_IMAGE;
		/* The count includes the 0 at the end, as the driver requires. */
		CUresult result = cu->cuLinkAddData(state, CU_JIT_INPUT_PTX, text, bytes + 1,
						    "object", 0, NULL, NULL);
		if (result != CUDA_SUCCESS)
			return result;
	}
}

/* Keeps only the first line that is not empty. */
static void log_keep_first_line(char *log)
{
	char *from = log + strspn(log, " \t\r\n");

	memmove(log, from, strlen(from) + 1);
	log[strcspn(log, "\r\n")] = '\0';
}

int cuda_join_pieces(struct backend_device *device, const struct cuda_image *image,
		     CUmodule *module_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	char log[LINK_LOG_BYTES] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
	CUlinkState state = NULL;
	void *cubin = NULL;
	size_t bytes = 0;

	if (!can_link(cu))
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"this driver cannot link programs");
	CUresult result = cu->cuLinkCreate(2, options, values, &state);
	if (result == CUDA_SUCCESS)
		result = add_pieces(cu, state, image);
	if (result == CUDA_SUCCESS)
		result = cu->cuLinkComplete(state, &cubin, &bytes);
	/* The linker owns the cubin until it is destroyed. */
	if (result == CUDA_SUCCESS)
		result = cu->cuModuleLoadDataEx(module_out, cubin, 0, NULL, NULL);
	if (state)
		(void)cu->cuLinkDestroy(state);
	if (result == CUDA_SUCCESS)
		return 0;
	log[sizeof(log) - 1] = '\0';
	log_keep_first_line(log);
	/*
	 * There is no result code for a missing or duplicate symbol, and elsewhere the returned
	 * code means something worse. If the linker's log is not empty, such a symbol is the
	 * reason.
	 */
	int error = log[0] ? cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					      "the objects do not link: %.200s", log)
			   : cuda_fault(device, cu, result, fault_out, "cannot link the program");
	fault_out->native_code = (int32_t)result;
	return error;
}
