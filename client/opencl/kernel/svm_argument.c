/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory and USM as arguments of kernels. */
#include "kernel/kernel.h"

#include <string.h>

static bool context_has_usm(cl_context context)
{
	for (cl_uint i = 0; i < context->device_count; i++)
		if (device_has_usm(context->devices[i]))
			return true;
	return false;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel handle, cl_uint index,
							 const void *pointer)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	if (svm_context_capabilities(kernel->program->context) == 0)
		return CL_INVALID_OPERATION;
	if (index >= kernel->count)
		return CL_INVALID_ARG_INDEX;
	struct argument *argument = &kernel->arguments[index];
	if ((argument->kind != SYCL_ARGUMENT_GLOBAL && argument->kind != SYCL_ARGUMENT_UNKNOWN) ||
	    (pointer && !svm_find(kernel->program->context, pointer, NULL)))
		return CL_INVALID_ARG_VALUE;
	pthread_mutex_lock(&kernel->lock);
	argument_set_svm(argument, pointer);
	pthread_mutex_unlock(&kernel->lock);
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel handle, cl_uint index,
							      const void *pointer)
{
	struct sycl_usm_info info = SYCL_USM_INFO_INIT;
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	if (!context_has_usm(kernel->program->context))
		return CL_INVALID_OPERATION;
	if (index >= kernel->count)
		return CL_INVALID_ARG_INDEX;
	struct argument *argument = &kernel->arguments[index];
	if ((argument->kind != SYCL_ARGUMENT_GLOBAL && argument->kind != SYCL_ARGUMENT_UNKNOWN) ||
	    (pointer && !usm_find(kernel->program->context, pointer, &info)))
		return CL_INVALID_ARG_VALUE;
	pthread_mutex_lock(&kernel->lock);
	argument_set_svm(argument, pointer);
	pthread_mutex_unlock(&kernel->lock);
	return CL_SUCCESS;
}

static cl_int check_list(size_t size, const void *value)
{
	return (value != NULL) == (size > 0) && size % sizeof(void *) == 0 ? CL_SUCCESS
									   : CL_INVALID_VALUE;
}

/* Kernels reach all allocations of their context, so nothing has to be kept. */
static cl_int usm_exec_info(cl_context context, cl_kernel_exec_info what, size_t size,
			    const void *value)
{
	if (!context_has_usm(context))
		return CL_INVALID_OPERATION;
	if (what == CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL)
		return check_list(size, value);
	return value && size == sizeof(cl_bool) ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* Kernels reach all allocations of their context, so the list is only checked. */
CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel handle, cl_kernel_exec_info what,
						    size_t size, const void *value)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	cl_bool wanted = CL_FALSE;
	if (!kernel)
		return CL_INVALID_KERNEL;
	if (what >= CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL &&
	    what <= CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL)
		return usm_exec_info(kernel->program->context, what, size, value);
	if (svm_context_capabilities(kernel->program->context) == 0)
		return CL_INVALID_OPERATION;
	switch (what) {
	case CL_KERNEL_EXEC_INFO_SVM_PTRS:
		return check_list(size, value);
	case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
		if (!value || size != sizeof(wanted))
			return CL_INVALID_VALUE;
		memcpy(&wanted, value, sizeof(wanted));
		return wanted ? CL_INVALID_OPERATION : CL_SUCCESS;
	default:
		return CL_INVALID_VALUE;
	}
}
