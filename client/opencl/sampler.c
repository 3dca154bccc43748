/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers. They need images, which no device reports yet. */
#include "driver.h"

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(
	cl_context context, const cl_sampler_properties *properties, cl_int *code_out)
{
	(void)properties;
	return made(NULL, FIND_CONTEXT(context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT,
		    code_out);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
						    cl_addressing_mode addressing,
						    cl_filter_mode filter, cl_int *code_out)
{
	(void)normalized, (void)addressing, (void)filter;
	return clCreateSamplerWithProperties(context, NULL, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
	return object_retain(sampler, OBJECT_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
	return object_release(sampler, OBJECT_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info what,
						 size_t size, void *value, size_t *bytes_out)
{
	(void)sampler, (void)what, (void)size, (void)value, (void)bytes_out;
	return CL_INVALID_SAMPLER;
}
