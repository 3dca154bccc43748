/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: how they are made, copied and ended. */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

static void count_kernel(cl_program program, int change)
{
	pthread_mutex_lock(&program->lock);
	program->kernel_count = (uint32_t)((int)program->kernel_count + change);
	pthread_mutex_unlock(&program->lock);
}

static void kernel_destroy(struct object *object)
{
	cl_kernel kernel = (cl_kernel)object;
	for (cl_uint i = 0; i < kernel->count && kernel->arguments; i++)
		argument_clear(&kernel->arguments[i]);
	if (kernel->sycl)
		(void)sycl_kernel_release(kernel->sycl);
	pthread_mutex_destroy(&kernel->lock);
	count_kernel(kernel->program, -1);
	object_unuse(&kernel->program->head);
	free(kernel->arguments);
	free(kernel->facts);
	free(kernel->name);
	free(kernel);
}

static uint32_t argument_fact(sycl_kernel kernel, uint32_t index, sycl_argument_info info)
{
	uint32_t word = 0;
	(void)sycl_kernel_get_argument_info(kernel, index, info, sizeof(word), &word, NULL);
	return word;
}

static cl_kernel_arg_type_qualifier qualifiers_of(uint32_t ours)
{
	static const struct {
		uint32_t ours;
		cl_kernel_arg_type_qualifier theirs;
	} bits[] = {{SYCL_ARGUMENT_QUALIFIER_CONST, CL_KERNEL_ARG_TYPE_CONST},
		    {SYCL_ARGUMENT_QUALIFIER_RESTRICT, CL_KERNEL_ARG_TYPE_RESTRICT},
		    {SYCL_ARGUMENT_QUALIFIER_VOLATILE, CL_KERNEL_ARG_TYPE_VOLATILE},
		    {SYCL_ARGUMENT_QUALIFIER_PIPE, CL_KERNEL_ARG_TYPE_PIPE}};
	cl_kernel_arg_type_qualifier theirs = CL_KERNEL_ARG_TYPE_NONE;
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		if (ours & bits[i].ours)
			theirs |= bits[i].theirs;
	return theirs;
}

static void describe_argument(cl_kernel kernel, uint32_t index)
{
	static const cl_kernel_arg_address_qualifier spaces[] = {
		CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_PRIVATE,
		CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT,
		CL_KERNEL_ARG_ADDRESS_LOCAL};
	static const cl_kernel_arg_access_qualifier accesses[] = {
		CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_READ_ONLY,
		CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ACCESS_READ_WRITE};
	struct argument *argument = &kernel->arguments[index];
	uint32_t space = argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_ADDRESS_SPACE);
	argument->kind =
		(sycl_argument_kind)argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_KIND);
	argument->bytes = argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_SIZE_BYTES);
	argument->is_const = argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_IS_CONST) != 0;
	argument->address = spaces[space < 5 ? space : 0];
	argument->qualifiers =
		qualifiers_of(argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_QUALIFIERS));
	uint32_t access = argument_fact(kernel->sycl, index, SYCL_ARGUMENT_INFO_ACCESS);
	argument->access = accesses[access < 4 ? access : 0];
}

/* Takes the library's kernel. */
static cl_kernel kernel_make(cl_program program, sycl_kernel sycl, const char *name,
			     cl_int *code_out)
{
	uint32_t count = 0;
	cl_kernel kernel = calloc(1, sizeof(*kernel));
	if (!kernel) {
		(void)sycl_kernel_release(sycl);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	kernel->program = program;
	kernel->sycl = sycl;
	kernel->name = strdup(name);
	pthread_mutex_init(&kernel->lock, NULL);
	object_use(&program->head);
	count_kernel(program, 1);
	(void)sycl_kernel_get_info(sycl, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(count), &count, NULL);
	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	kernel->facts = calloc(program->device_count, sizeof(*kernel->facts));
	if (!kernel->arguments || !kernel->facts || !kernel->name) {
		kernel_destroy(&kernel->head);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	kernel->count = count;
	for (uint32_t i = 0; i < count; i++)
		describe_argument(kernel, i);
	object_publish(&kernel->head, OBJECT_KERNEL, kernel_destroy);
	return made(kernel, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program handle, const char *name,
						  cl_int *code_out)
{
	cl_program program = FIND_PROGRAM(handle);
	sycl_kernel sycl = NULL;
	if (!program)
		return made(NULL, CL_INVALID_PROGRAM, code_out);
	if (!name)
		return made(NULL, CL_INVALID_VALUE, code_out);
	if (!program->bundle || program->is_object)
		return made(NULL, CL_INVALID_PROGRAM_EXECUTABLE, code_out);
	sycl_result r = sycl_kernel_create(program->bundle, name, &sycl);
	if (r != SYCL_SUCCESS)
		return made(NULL, r == SYCL_ERROR_INVALID ? CL_INVALID_KERNEL_NAME : code_of(r),
			    code_out);
	return kernel_make(program, sycl, name, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program handle, cl_uint capacity,
							 cl_kernel *out, cl_uint *count_out)
{
	cl_program program = FIND_PROGRAM(handle);
	const char *name = NULL;
	uint32_t count = 0;
	cl_int code = CL_SUCCESS;
	if (!program)
		return CL_INVALID_PROGRAM;
	if (!program->bundle || program->is_object ||
	    sycl_kernel_bundle_get_kernel_count(program->bundle, &count) != SYCL_SUCCESS)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	if (out && capacity < count)
		return CL_INVALID_VALUE;
	for (uint32_t i = 0; out && i < count; i++) {
		(void)sycl_kernel_bundle_get_kernel_name(program->bundle, i, &name);
		out[i] = clCreateKernel(handle, name, &code);
		while (code != CL_SUCCESS && i > 0)
			(void)clReleaseKernel(out[--i]);
		if (code != CL_SUCCESS)
			return code;
	}
	if (count_out)
		*count_out = count;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
	return object_retain(kernel, OBJECT_KERNEL) ? CL_SUCCESS : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
	return object_release(kernel, OBJECT_KERNEL) ? CL_SUCCESS : CL_INVALID_KERNEL;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel handle, cl_int *code_out)
{
	cl_kernel kernel = FIND_KERNEL(handle);
	cl_int code = CL_SUCCESS;
	if (!kernel)
		return made(NULL, CL_INVALID_KERNEL, code_out);
	(void)sycl_kernel_retain(kernel->sycl);
	cl_kernel copy = kernel_make(kernel->program, kernel->sycl, kernel->name, code_out);
	if (!copy)
		return NULL;
	pthread_mutex_lock(&kernel->lock);
	for (cl_uint i = 0; i < kernel->count && code == CL_SUCCESS; i++)
		code = argument_copy(&copy->arguments[i], &kernel->arguments[i]);
	pthread_mutex_unlock(&kernel->lock);
	if (code != CL_SUCCESS) {
		(void)clReleaseKernel(copy);
		return made(NULL, code, code_out);
	}
	return copy;
}
