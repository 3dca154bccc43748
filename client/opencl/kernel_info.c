/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of kernels. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads "name(1,2,3)" and writes it with the numbers turned round. Returns false for other texts.
 */
static bool turn_attribute(const char *text, char *turned, size_t room)
{
	unsigned long numbers[3];
	const char *open = strchr(text, '(');
	char *at = open ? (char *)(uintptr_t)open : NULL;
	for (int i = 0; at && i < 3; i++) {
		numbers[i] = strtoul(at + 1, &at, 10);
		if (*at != (i < 2 ? ',' : ')'))
			return false;
	}
	if (!at)
		return false;
	(void)snprintf(turned, room, "%.*s(%lu,%lu,%lu%s", (int)(open - text), text, numbers[2],
		       numbers[1], numbers[0], at);
	return true;
}

/* Attributes name sizes in SYCL's order; OpenCL's is the reverse. */
static cl_int answer_attributes(cl_kernel kernel, struct answer answer)
{
	char text[1024] = "", turned[1100];
	if (kernel->program->is_binary)
		return answer_text(answer, "");
	(void)sycl_kernel_get_info(kernel->sycl, SYCL_KERNEL_INFO_ATTRIBUTES, sizeof(text), text,
				   NULL);
	return answer_text(answer, turn_attribute(text, turned, sizeof(turned)) ? turned : text);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelInfo(cl_kernel handle, cl_kernel_info what, size_t size,
						void *value, size_t *bytes_out)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	switch (what) {
	case CL_KERNEL_FUNCTION_NAME:
		return answer_text(ANSWER, kernel->name);
	case CL_KERNEL_NUM_ARGS:
		return answer_uint(ANSWER, kernel->count);
	case CL_KERNEL_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&kernel->head));
	case CL_KERNEL_CONTEXT:
		return answer_handle(ANSWER, kernel->program->context);
	case CL_KERNEL_PROGRAM:
		return answer_handle(ANSWER, kernel->program);
	case CL_KERNEL_ATTRIBUTES:
		return answer_attributes(kernel, ANSWER);
	default:
		return CL_INVALID_VALUE;
	}
}

static uint64_t kernel_fact(cl_kernel kernel, cl_device_id device, sycl_kernel_info info)
{
	uint64_t number = 0;
	(void)sycl_kernel_get_device_info(kernel->sycl, device->sycl, info, sizeof(number), &number,
					  NULL);
	return number;
}

/* The kernel's own local memory and that of its arguments. */
static cl_ulong local_bytes(cl_kernel kernel, cl_device_id device)
{
	cl_ulong bytes = kernel_fact(kernel, device, SYCL_KERNEL_INFO_LOCAL_MEM_BYTES);
	pthread_mutex_lock(&kernel->lock);
	for (cl_uint i = 0; i < kernel->count; i++)
		if (kernel->arguments[i].kind == SYCL_ARGUMENT_LOCAL)
			bytes += kernel->arguments[i].set_bytes;
	pthread_mutex_unlock(&kernel->lock);
	return bytes;
}

static cl_int answer_compiled_size(cl_kernel kernel, cl_device_id device, struct answer answer)
{
	uint64_t ours[3] = {0, 0, 0};
	(void)sycl_kernel_get_device_info(kernel->sycl, device->sycl,
					  SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE, sizeof(ours),
					  ours, NULL);
	const size_t theirs[3] = {ours[2], ours[1], ours[0]};
	return answer_bytes(answer, theirs, sizeof(theirs));
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel handle,
							 cl_device_id handle_of_device,
							 cl_kernel_work_group_info what,
							 size_t size, void *value,
							 size_t *bytes_out)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	cl_device_id device = handle_of_device;
	if (!device && kernel->program->device_count == 1)
		device = kernel->program->devices[0];
	device = FIND_DEVICE(device);
	if (!device || !program_build_of(kernel->program, device))
		return CL_INVALID_DEVICE;
	switch (what) {
	case CL_KERNEL_WORK_GROUP_SIZE:
		return answer_size(ANSWER,
				   kernel_fact(kernel, device, SYCL_KERNEL_INFO_WORK_GROUP_SIZE));
	case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
		return answer_compiled_size(kernel, device, ANSWER);
	case CL_KERNEL_LOCAL_MEM_SIZE:
		return answer_ulong(ANSWER, local_bytes(kernel, device));
	case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return answer_size(
			ANSWER, kernel_fact(kernel, device,
					    SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
	case CL_KERNEL_PRIVATE_MEM_SIZE:
		return answer_ulong(
			ANSWER, kernel_fact(kernel, device, SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES));
	default: /* the global size is only for built-in kernels and custom devices */
		return CL_INVALID_VALUE;
	}
}

/* The driver reports no sub-groups yet. */
CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
							cl_kernel_sub_group_info what,
							size_t input_size, const void *input,
							size_t size, void *value, size_t *bytes_out)
{
	(void)device, (void)what, (void)input_size, (void)input, (void)size, (void)value;
	(void)bytes_out;
	return FIND_KERNEL(kernel) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}
