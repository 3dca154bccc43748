/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are made of a SPIR-V module. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context handle, const void *il,
							  size_t bytes, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	bool any = false;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	for (cl_uint i = 0; i < context->device_count; i++)
		any = any || device_takes_il(context->devices[i]);
	if (!any)
		return made(NULL, CL_INVALID_OPERATION, code_out);
	if (!il || !module_is_good(il, bytes))
		return made(NULL, CL_INVALID_VALUE, code_out);
	cl_program program = program_make(context, context->device_count, context->devices,
					  strdup(""), 0, code_out);
	if (!program)
		return NULL;
	program->il = malloc(bytes);
	program->module = malloc(bytes);
	if (!program->il || !program->module) {
		(void)clReleaseProgram(program);
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	}
	memcpy(program->il, il, bytes);
	memcpy(program->module, il, bytes);
	program->il_bytes = bytes;
	return program;
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program handle, cl_uint id,
								   size_t bytes, const void *value)
{
	cl_program program = FIND_PROGRAM(handle);
	bool any = false;
	if (!program)
		return CL_INVALID_PROGRAM;
	for (cl_uint i = 0; i < program->device_count; i++)
		any = any || device_takes_il(program->devices[i]);
	if (!any)
		return CL_INVALID_OPERATION;
	if (!program->module)
		return CL_INVALID_PROGRAM;
	if (!value)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&program->lock);
	cl_int code = module_set_constant(program->module, program->il_bytes, id, bytes, value);
	pthread_mutex_unlock(&program->lock);
	return code;
}
