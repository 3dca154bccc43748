/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes. No device reports them. */
#include "memory/memory.h"

CL_API_ENTRY cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags,
					     cl_uint packet_bytes, cl_uint packets,
					     const cl_pipe_properties *properties, cl_int *code_out)
{
	(void)flags, (void)packet_bytes, (void)packets, (void)properties;
	return made(NULL, FIND_CONTEXT(context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT,
		    code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info what, size_t size,
					      void *value, size_t *bytes_out)
{
	(void)pipe, (void)what, (void)size, (void)value, (void)bytes_out;
	return CL_INVALID_MEM_OBJECT;
}
