/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory as arguments of kernels. */
#include "kernel/kernel.h"

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
							 const void *pointer)
{
	(void)index, (void)pointer;
	return FIND_KERNEL(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what,
						    size_t size, const void *value)
{
	(void)what, (void)size, (void)value;
	return FIND_KERNEL(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
