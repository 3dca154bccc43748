/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: how they are made, their queries and their ends. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

static void program_destroy(struct object *object)
{
	cl_program program = (cl_program)object;
	if (program->bundle)
		(void)sycl_kernel_bundle_release(program->bundle);
	for (cl_uint i = 0; i < program->device_count && program->builds && program->devices; i++) {
		free(program->builds[i].log);
		free(program->builds[i].options);
		device_unuse(program->devices[i]);
	}
	parts_clear(&program->parts);
	pthread_mutex_destroy(&program->lock);
	object_unuse(&program->context->head);
	free(program->builds);
	free(program->devices);
	free(program->source);
	free(program->il);
	free(program->module);
	free(program);
}

/* Takes the source. */
cl_program program_make(cl_context context, cl_uint count, const cl_device_id *devices,
			char *source, size_t bytes, cl_int *code_out)
{
	cl_program program = calloc(1, sizeof(*program));
	if (!program || !source) {
		free(program);
		free(source);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	program->context = context;
	program->source = source;
	program->source_bytes = bytes;
	pthread_mutex_init(&program->lock, NULL);
	object_use(&context->head);
	program->devices = calloc(count, sizeof(cl_device_id));
	program->builds = calloc(count, sizeof(*program->builds));
	if (!program->devices || !program->builds) {
		program_destroy(&program->head);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	for (cl_uint i = 0; i < count; i++) {
		program->devices[i] = devices[i];
		program->builds[i].device = devices[i];
		program->builds[i].status = CL_BUILD_NONE;
		device_use(devices[i]);
	}
	program->device_count = count;
	object_publish(&program->head, OBJECT_PROGRAM, program_destroy);
	return made(program, CL_SUCCESS, code_out);
}

/* Returns all strings as one, which the caller frees. A length of 0, or no lengths: up to the 0.
 * NULL: there is no memory for so much. */
char *program_join_sources(cl_uint count, const char **strings, const size_t *lengths,
			   size_t *bytes_out)
{
	size_t all = 1, at = 0;
	for (cl_uint i = 0; i < count; i++)
		if (__builtin_add_overflow(
			    all, lengths && lengths[i] ? lengths[i] : strlen(strings[i]), &all))
			return NULL;
	char *joined = malloc(all);
	all--;
	for (cl_uint i = 0; joined && i < count; i++) {
		size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
		memcpy(joined + at, strings[i], length);
		at += length;
	}
	if (joined)
		joined[all] = 0;
	*bytes_out = all;
	return joined;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context handle, cl_uint count,
							      const char **strings,
							      const size_t *lengths,
							      cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	size_t bytes = 0;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (count == 0 || !strings)
		return made(NULL, CL_INVALID_VALUE, code_out);
	for (cl_uint i = 0; i < count; i++)
		if (!strings[i])
			return made(NULL, CL_INVALID_VALUE, code_out);
	char *source = program_join_sources(count, strings, lengths, &bytes);
	return program_make(context, context->device_count, context->devices, source, bytes,
			    code_out);
}

/* No device reports a built-in kernel, so any name is one that a device lacks. */
CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context handle,
								      cl_uint count,
								      const cl_device_id *devices,
								      const char *names,
								      cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (count == 0 || !devices || !names)
		return made(NULL, CL_INVALID_VALUE, code_out);
	for (cl_uint i = 0; i < count; i++) {
		cl_device_id device = FIND_DEVICE(devices[i]);
		if (!device || !context_has_device(context, device))
			return made(NULL, CL_INVALID_DEVICE, code_out);
	}
	return made(NULL, CL_INVALID_VALUE, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainProgram(cl_program program)
{
	return object_retain(program, OBJECT_PROGRAM) ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
	return object_release(program, OBJECT_PROGRAM) ? CL_SUCCESS : CL_INVALID_PROGRAM;
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramReleaseCallback(
	cl_program handle, void(CL_CALLBACK *notify)(cl_program, void *), void *user_data)
{
	(void)user_data;
	if (!FIND_PROGRAM(handle))
		return CL_INVALID_PROGRAM;
	return notify ? CL_INVALID_OPERATION : CL_INVALID_VALUE;
}

static cl_int answer_kernels(cl_program program, cl_program_info what, struct answer answer)
{
	uint32_t count = 0;
	size_t bytes = 1;
	const char *name = NULL;
	if (!program->bundle || program->is_object)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	(void)sycl_kernel_bundle_get_kernel_count(program->bundle, &count);
	if (what == CL_PROGRAM_NUM_KERNELS)
		return answer_size(answer, count);
	for (uint32_t i = 0; i < count; i++)
		if (sycl_kernel_bundle_get_kernel_name(program->bundle, i, &name) == SYCL_SUCCESS)
			bytes += strlen(name) + 1;
	char *names = calloc(1, bytes);
	if (!names)
		return CL_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		if (sycl_kernel_bundle_get_kernel_name(program->bundle, i, &name) == SYCL_SUCCESS) {
			text_append(names, bytes, ";", name);
		}
	cl_int code = answer_text(answer, names);
	free(names);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program handle, cl_program_info what,
						 size_t size, void *value, size_t *bytes_out)
{
	cl_program program = FIND_PROGRAM(handle);
	if (!program)
		return CL_INVALID_PROGRAM;
	switch (what) {
	case CL_PROGRAM_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&program->head));
	case CL_PROGRAM_CONTEXT:
		return answer_handle(ANSWER, program->context);
	case CL_PROGRAM_NUM_DEVICES:
		return answer_uint(ANSWER, program->device_count);
	case CL_PROGRAM_DEVICES:
		return answer_bytes(ANSWER, program->devices,
				    program->device_count * sizeof(cl_device_id));
	case CL_PROGRAM_SOURCE:
		return answer_text(ANSWER, program->is_binary ? "" : program->source);
	case CL_PROGRAM_BINARY_SIZES:
	case CL_PROGRAM_BINARIES:
		return program_answer_binaries(program, what, ANSWER);
	case CL_PROGRAM_NUM_KERNELS:
	case CL_PROGRAM_KERNEL_NAMES:
		return answer_kernels(program, what, ANSWER);
	case CL_PROGRAM_IL:
		return answer_bytes(ANSWER, program->il, program->il_bytes);
	case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
	case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
		return answer_uint(ANSWER, CL_FALSE);
	default:
		return CL_INVALID_VALUE;
	}
}
