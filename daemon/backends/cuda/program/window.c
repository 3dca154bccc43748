/*
 * Finds the address of shared memory in the generic address space. A kernel that was not written
 * for this service takes local memory as a plain pointer (E15). So the pointer's value must be
 * known before the launch. The value is the start of the window, which is the same for every kernel
 * of a context, plus the offset inside the window. Only a kernel can find the start.
 */
#include "cuda/program/program.h"

#include <string.h>

/* The kernel has dynamic memory and no static one before it. It writes the memory's address in
 * shared memory and its generic address. */
static const char window_source[] = ".version 6.0\n"
				    ".target sm_50\n"
				    ".address_size 64\n"
				    ".extern .shared .align 16 .b8 dynamic[];\n"
				    ".visible .entry sycl_shared_window(.param .u64 place)\n"
				    "{\n"
				    "\t.reg .b64 %r<4>;\n"
				    "\tld.param.u64 %r0, [place];\n"
				    "\tcvta.to.global.u64 %r1, %r0;\n"
				    "\tmov.u64 %r2, dynamic;\n"
				    "\tcvta.shared.u64 %r3, %r2;\n"
				    "\tst.global.u64 [%r1], %r2;\n"
				    "\tst.global.u64 [%r1+8], %r3;\n"
				    "\tret;\n"
				    "}\n";

static CUresult run_window_kernel(const struct cuda_library *cu, CUfunction function,
				  CUstream stream, CUdeviceptr place, uint64_t answer[2])
{
	void *parameters[] = {&place};
	CUresult result = cu->cuMemsetD8Async(place, 0, 16, stream);

	if (result == CUDA_SUCCESS)
		result = cu->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 16, stream, parameters,
					    NULL);
	if (result == CUDA_SUCCESS)
		result = cu->cuMemcpyDtoHAsync(answer, place, 16, stream);
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamSynchronize(stream);
	return result;
}

void cuda_window_find(const struct cuda_library *cu, struct cuda_window *window_out)
{
	CUmodule module = NULL;
	CUfunction function = NULL;
	CUstream stream = NULL;
	CUdeviceptr place = 0;
	uint64_t answer[2] = {0};

	CUresult result = cu->cuModuleLoadDataEx(&module, window_source, 0, NULL, NULL);
	if (result == CUDA_SUCCESS)
		result = cu->cuModuleGetFunction(&function, module, "sycl_shared_window");
	if (result == CUDA_SUCCESS)
		result = cu->cuMemAlloc(&place, sizeof(answer));
	if (result == CUDA_SUCCESS)
		result = cu->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
	if (result == CUDA_SUCCESS)
		result = run_window_kernel(cu, function, stream, place, answer);
	/* A generic address must not be 0, and must not be below the address in shared memory. */
	if (result == CUDA_SUCCESS && answer[1] != 0 && answer[1] >= answer[0])
		*window_out = (struct cuda_window){true, .generic_base = answer[1],
						   .shared_base = answer[0]};
	if (stream)
		(void)cu->cuStreamDestroy(stream);
	if (place)
		(void)cu->cuMemFree(place);
	if (module)
		(void)cu->cuModuleUnload(module);
}
