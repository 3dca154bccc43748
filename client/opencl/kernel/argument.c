/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of kernels. */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* Forgets the value. What the kernel declares stays. */
void argument_clear(struct argument *argument)
{
	free(argument->value);
	argument->value = NULL;
	argument->memory = NULL;
	argument->svm = NULL;
	argument->set_bytes = 0;
	argument->is_set = false;
}

static cl_int set_value(struct argument *argument, size_t bytes, const void *value)
{
	if (argument->is_set && argument->value && argument->set_bytes == bytes) {
		memcpy(argument->value, value, bytes);
		return CL_SUCCESS;
	}
	void *copy = malloc(bytes);
	if (!copy)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(copy, value, bytes);
	argument_clear(argument);
	argument->value = copy;
	argument->set_bytes = bytes;
	argument->is_set = true;
	return CL_SUCCESS;
}

/* A kernel keeps no buffer alive: OpenCL leaves that to the program. A launch looks the handle up.
 */
static void set_memory(struct argument *argument, cl_mem memory)
{
	argument_clear(argument);
	argument->memory = memory;
	argument->is_set = true;
}

void argument_set_svm(struct argument *argument, const void *pointer)
{
	argument_clear(argument);
	argument->svm = pointer;
	argument->is_set = true;
}

static void set_local(struct argument *argument, size_t bytes)
{
	argument_clear(argument);
	argument->set_bytes = bytes;
	argument->is_set = true;
}

static cl_int set_sampler(cl_kernel kernel, struct argument *argument, size_t bytes,
			  const void *value)
{
	cl_sampler sampler = NULL;
	if (!value)
		return CL_INVALID_SAMPLER;
	if (bytes != sizeof(cl_sampler))
		return CL_INVALID_ARG_SIZE;
	memcpy(&sampler, value, sizeof(cl_sampler));
	if (!FIND_SAMPLER(sampler) || sampler->context != kernel->program->context)
		return CL_INVALID_SAMPLER;
	argument_clear(argument);
	argument->sampler = sampler->sycl;
	argument->is_set = true;
	return CL_SUCCESS;
}

static cl_int set_image(cl_kernel kernel, struct argument *argument, size_t bytes,
			const void *value)
{
	cl_mem image = NULL;
	if (bytes != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	if (value)
		memcpy(&image, value, sizeof(cl_mem));
	if (!image || !FIND_MEMORY(image) || !memory_is_image(image) ||
	    image->context != kernel->program->context)
		return CL_INVALID_MEM_OBJECT;
	if ((argument->is_const && image->flags & CL_MEM_WRITE_ONLY) ||
	    (!argument->is_const && image->flags & CL_MEM_READ_ONLY))
		return CL_INVALID_ARG_VALUE;
	set_memory(argument, image);
	return CL_SUCCESS;
}

cl_int argument_copy(struct argument *to, const struct argument *from)
{
	if (!from->is_set)
		return CL_SUCCESS;
	if (from->kind == SYCL_ARGUMENT_SAMPLER) {
		argument_clear(to);
		to->sampler = from->sampler;
		to->is_set = true;
		return CL_SUCCESS;
	}
	if (from->value)
		return set_value(to, from->set_bytes, from->value);
	if (from->set_bytes > 0)
		set_local(to, from->set_bytes);
	else if (from->svm)
		argument_set_svm(to, from->svm);
	else
		set_memory(to, from->memory);
	return CL_SUCCESS;
}

static cl_int set_global(cl_kernel kernel, struct argument *argument, size_t bytes,
			 const void *value)
{
	cl_mem memory = NULL;
	if (bytes != sizeof(cl_mem))
		return CL_INVALID_ARG_SIZE;
	if (value)
		memcpy(&memory, value, sizeof(cl_mem));
	if (memory && (!FIND_MEMORY(memory) || memory->type != CL_MEM_OBJECT_BUFFER ||
		       memory->context != kernel->program->context))
		return CL_INVALID_MEM_OBJECT;
	set_memory(argument, memory);
	return CL_SUCCESS;
}

/* Some drivers keep no facts of a linked program's arguments. A value that is the handle of a
 * buffer is then taken for one: no other value of eight bytes is likely to be the address of a
 * buffer. */
static sycl_argument_kind guessed_kind(size_t bytes, const void *value)
{
	void *handle = NULL;
	if (!value)
		return SYCL_ARGUMENT_LOCAL;
	if (bytes != sizeof(handle))
		return SYCL_ARGUMENT_VALUE;
	memcpy(&handle, value, sizeof(handle));
	return FIND_MEMORY(handle) ? SYCL_ARGUMENT_GLOBAL : SYCL_ARGUMENT_VALUE;
}

/* No device of the program takes a larger value, even if it is not known what the kernel takes. */
static size_t largest_value(cl_kernel kernel)
{
	size_t most = 0;
	for (cl_uint i = 0; i < kernel->program->device_count; i++) {
		size_t bytes = kernel->program->devices[i]->max_parameter_bytes;
		most = bytes > most ? bytes : most;
	}
	return most;
}

static cl_int set_any(cl_kernel kernel, struct argument *argument, size_t bytes, const void *value)
{
	sycl_argument_kind kind = argument->kind;
	if (kind == SYCL_ARGUMENT_UNKNOWN)
		kind = guessed_kind(bytes, value);
	switch (kind) {
	case SYCL_ARGUMENT_GLOBAL:
		return set_global(kernel, argument, bytes, value);
	case SYCL_ARGUMENT_LOCAL:
		if (value)
			return CL_INVALID_ARG_VALUE;
		if (bytes == 0)
			return CL_INVALID_ARG_SIZE;
		set_local(argument, bytes);
		return CL_SUCCESS;
	case SYCL_ARGUMENT_IMAGE:
		return set_image(kernel, argument, bytes, value);
	case SYCL_ARGUMENT_SAMPLER:
		return set_sampler(kernel, argument, bytes, value);
	default:
		if (!value)
			return CL_INVALID_ARG_VALUE;
		if (bytes == 0 || (argument->bytes && bytes != argument->bytes) ||
		    (!argument->bytes && bytes > largest_value(kernel)))
			return CL_INVALID_ARG_SIZE;
		return set_value(argument, bytes, value);
	}
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel handle, cl_uint index, size_t bytes,
					       const void *value)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	if (index >= kernel->count)
		return CL_INVALID_ARG_INDEX;
	pthread_mutex_lock(&kernel->lock);
	cl_int code = set_any(kernel, &kernel->arguments[index], bytes, value);
	pthread_mutex_unlock(&kernel->lock);
	return code;
}

static cl_int answer_argument_text(cl_kernel kernel, cl_uint index, sycl_argument_info info,
				   struct answer answer)
{
	char text[1024] = "";
	if (sycl_kernel_get_argument_info(kernel->sycl, index, info, sizeof(text), text, NULL) !=
		    SYCL_SUCCESS ||
	    !*text)
		return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
	return answer_text(answer, text);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel handle, cl_uint index,
						   cl_kernel_arg_info what, size_t size,
						   void *value, size_t *bytes_out)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	if (!kernel)
		return CL_INVALID_KERNEL;
	if (index >= kernel->count)
		return CL_INVALID_ARG_INDEX;
	const struct argument *argument = &kernel->arguments[index];
	switch (what) {
	case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
		return answer_uint(ANSWER, argument->address);
	case CL_KERNEL_ARG_ACCESS_QUALIFIER:
		return answer_uint(ANSWER, argument->access);
	case CL_KERNEL_ARG_TYPE_NAME:
		return answer_argument_text(kernel, index, SYCL_ARGUMENT_INFO_TYPE_NAME, ANSWER);
	case CL_KERNEL_ARG_NAME:
		return answer_argument_text(kernel, index, SYCL_ARGUMENT_INFO_NAME, ANSWER);
	case CL_KERNEL_ARG_TYPE_QUALIFIER:
		return answer_ulong(ANSWER, argument->qualifiers);
	default:
		return CL_INVALID_VALUE;
	}
}
