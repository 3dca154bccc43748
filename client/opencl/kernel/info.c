/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of kernels. */
#include "kernel/kernel.h"

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

/* The library's attributes name sizes in SYCL's order; OpenCL's is the reverse. */
static cl_int answer_attributes(cl_kernel kernel, struct answer answer)
{
	char text[1024] = "", turned[1100];
	if (kernel->program->is_binary)
		return answer_text(answer, "");
	pthread_mutex_lock(&kernel->program->lock);
	char *written = attributes_of(&kernel->program->parts, kernel->name);
	pthread_mutex_unlock(&kernel->program->lock);
	if (written && *written) {
		cl_int code = answer_text(answer, written);
		free(written);
		return code;
	}
	free(written);
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

/* The same for facts of 32 bits. */
static uint32_t kernel_word(cl_kernel kernel, cl_device_id device, sycl_kernel_info info)
{
	uint32_t word = 0;
	(void)sycl_kernel_get_device_info(kernel->sycl, device->sycl, info, sizeof(word), &word,
					  NULL);
	return word;
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

/* The device that a query means: NULL is the only one of the program. */
static cl_int kernel_device(cl_kernel kernel, cl_device_id handle, cl_device_id *device_out)
{
	if (!handle && kernel->program->device_count == 1)
		handle = kernel->program->devices[0];
	cl_device_id device = FIND_DEVICE(handle);
	if (!device || !program_build_of(kernel->program, device))
		return CL_INVALID_DEVICE;
	*device_out = device;
	return CL_SUCCESS;
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
	cl_device_id device = NULL;
	cl_int code = kernel_device(kernel, handle_of_device, &device);
	if (code != CL_SUCCESS)
		return code;
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

/* Numbers of sub-groups and their sizes, for a work-group of a program's choice. */
struct sub_groups {
	size_t size, max_groups, required; /* size 0: the device has none */
	size_t required_size;              /* 0: any */
	size_t max_items;                  /* of a work-group of this kernel */
};

static size_t product_of(const size_t *sizes, size_t dimensions)
{
	size_t product = 1;
	for (size_t i = 0; i < dimensions; i++)
		if (__builtin_mul_overflow(product, sizes[i], &product))
			return SIZE_MAX;
	return product;
}

/* A work-group with that many sub-groups, in the first dimension. Zeroes: there is none. */
static cl_int answer_local_size(const struct sub_groups *groups, size_t wanted,
				struct answer answer)
{
	const size_t dimensions = answer.room / sizeof(size_t);
	size_t sizes[3] = {0, 0, 0};
	if (answer.value && (dimensions < 1 || dimensions > 3 || answer.room % sizeof(size_t) != 0))
		return CL_INVALID_VALUE;
	if (wanted > 0 && wanted <= groups->max_groups &&
	    wanted * groups->size <= groups->max_items) {
		sizes[0] = wanted * groups->size;
		sizes[1] = sizes[2] = 1;
	}
	return answer_bytes(answer, sizes, answer.value ? answer.room : sizeof(sizes));
}

static cl_int answer_sub_groups(const struct sub_groups *groups, cl_kernel_sub_group_info what,
				size_t input_bytes, const void *input, struct answer answer)
{
	size_t sizes[3] = {0, 0, 0}, dimensions = 0;
	bool has_input = what != CL_KERNEL_MAX_NUM_SUB_GROUPS &&
			 what != CL_KERNEL_COMPILE_NUM_SUB_GROUPS &&
			 what != CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL;
	if (has_input) {
		dimensions = input_bytes / sizeof(size_t);
		if (!input || dimensions < 1 || dimensions > 3 || input_bytes % sizeof(size_t) != 0)
			return CL_INVALID_VALUE;
		memcpy(sizes, input, input_bytes);
	}
	const size_t items = product_of(sizes, dimensions);
	switch (what) {
	case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
		return answer_size(answer, items < groups->size ? items : groups->size);
	case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
		return answer_size(answer, items / groups->size + (items % groups->size != 0));
	case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
		return dimensions == 1 ? answer_local_size(groups, sizes[0], answer)
				       : CL_INVALID_VALUE;
	case CL_KERNEL_MAX_NUM_SUB_GROUPS:
		return answer_size(answer, groups->max_groups);
	case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
		return answer_size(answer, groups->required);
	case CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL:
		return answer_size(answer, groups->required_size);
	default:
		return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel handle,
							cl_device_id handle_of_device,
							cl_kernel_sub_group_info what,
							size_t input_bytes, const void *input,
							size_t size, void *value, size_t *bytes_out)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	cl_device_id device = NULL;
	if (!kernel)
		return CL_INVALID_KERNEL;
	cl_int code = kernel_device(kernel, handle_of_device, &device);
	if (code != CL_SUCCESS)
		return code;
	const struct sub_groups groups = {
		.size = kernel_word(kernel, device, SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE),
		.max_groups = kernel_word(kernel, device, SYCL_KERNEL_INFO_MAX_NUM_SUB_GROUPS),
		.required = kernel_word(kernel, device, SYCL_KERNEL_INFO_COMPILE_NUM_SUB_GROUPS),
		.required_size =
			kernel_word(kernel, device, SYCL_KERNEL_INFO_COMPILE_SUB_GROUP_SIZE),
		.max_items = kernel_fact(kernel, device, SYCL_KERNEL_INFO_WORK_GROUP_SIZE),
	};
	if (groups.size == 0 || groups.max_groups == 0)
		return CL_INVALID_OPERATION;
	return answer_sub_groups(&groups, what, input_bytes, input, ANSWER);
}
