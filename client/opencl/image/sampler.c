/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers. */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

static void sampler_destroy(struct object *object)
{
	cl_sampler sampler = (cl_sampler)object;
	object_unuse(&sampler->context->head);
	free(sampler);
}

static bool read_addressing(cl_addressing_mode mode, sycl_addressing_mode *out)
{
	switch (mode) {
	case CL_ADDRESS_NONE:
		*out = SYCL_ADDRESSING_NONE;
		return true;
	case CL_ADDRESS_CLAMP_TO_EDGE:
		*out = SYCL_ADDRESSING_CLAMP_TO_EDGE;
		return true;
	case CL_ADDRESS_CLAMP:
		*out = SYCL_ADDRESSING_CLAMP;
		return true;
	case CL_ADDRESS_REPEAT:
		*out = SYCL_ADDRESSING_REPEAT;
		return true;
	case CL_ADDRESS_MIRRORED_REPEAT:
		*out = SYCL_ADDRESSING_MIRRORED_REPEAT;
		return true;
	default:
		return false;
	}
}

struct wish {
	cl_bool normalized;
	cl_addressing_mode addressing;
	cl_filter_mode filter;
};

static cl_int sampler_make(cl_context context, const struct wish *wish, cl_sampler *sampler_out)
{
	sycl_addressing_mode addressing = SYCL_ADDRESSING_NONE;
	bool has_images = false;
	for (cl_uint i = 0; i < context->device_count; i++)
		has_images |= image_device_has_any(context->devices[i]);
	if (!has_images)
		return CL_INVALID_OPERATION;
	if (wish->normalized > CL_TRUE || !read_addressing(wish->addressing, &addressing) ||
	    (wish->filter != CL_FILTER_NEAREST && wish->filter != CL_FILTER_LINEAR))
		return CL_INVALID_VALUE;
	cl_sampler sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return CL_OUT_OF_HOST_MEMORY;
	sampler->context = context;
	sampler->normalized = wish->normalized;
	sampler->addressing = wish->addressing;
	sampler->filter = wish->filter;
	sampler->sycl = sycl_sampler_create(
		addressing,
		wish->normalized ? SYCL_COORDINATE_NORMALIZED : SYCL_COORDINATE_UNNORMALIZED,
		wish->filter == CL_FILTER_LINEAR ? SYCL_FILTERING_LINEAR : SYCL_FILTERING_NEAREST);
	object_use(&context->head);
	object_publish(&sampler->head, OBJECT_SAMPLER, sampler_destroy);
	*sampler_out = sampler;
	return CL_SUCCESS;
}

enum { PROPERTIES_MAX = 9 };

/* Each property at most once; what is left out has its default. */
static cl_int read_properties(const cl_sampler_properties *properties, struct wish *wish,
			      size_t *count_out)
{
	unsigned seen = 0;
	size_t at = 0;
	*count_out = 0;
	if (!properties)
		return CL_SUCCESS;
	for (; properties[at]; at += 2) {
		unsigned bit = 0;
		switch (properties[at]) {
		case CL_SAMPLER_NORMALIZED_COORDS:
			bit = 1;
			wish->normalized = (cl_bool)properties[at + 1];
			break;
		case CL_SAMPLER_ADDRESSING_MODE:
			bit = 2;
			wish->addressing = (cl_addressing_mode)properties[at + 1];
			break;
		case CL_SAMPLER_FILTER_MODE:
			bit = 4;
			wish->filter = (cl_filter_mode)properties[at + 1];
			break;
		default:
			return CL_INVALID_VALUE;
		}
		if (seen & bit)
			return CL_INVALID_VALUE;
		seen |= bit;
	}
	*count_out = at + 1;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(
	cl_context handle, const cl_sampler_properties *properties, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	struct wish wish = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
	cl_sampler sampler = NULL;
	size_t count = 0;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_int code = read_properties(properties, &wish, &count);
	if (code == CL_SUCCESS)
		code = sampler_make(context, &wish, &sampler);
	if (code == CL_SUCCESS && count <= PROPERTIES_MAX) {
		if (count > 0)
			memcpy(sampler->properties, properties, count * sizeof(*properties));
		sampler->properties_bytes = count * sizeof(*properties);
	}
	return made(sampler, code, code_out);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context handle, cl_bool normalized,
						    cl_addressing_mode addressing,
						    cl_filter_mode filter, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	const struct wish wish = {normalized, addressing, filter};
	cl_sampler sampler = NULL;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_int code = sampler_make(context, &wish, &sampler);
	return made(sampler, code, code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
	return object_retain(sampler, OBJECT_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
	return object_release(sampler, OBJECT_SAMPLER) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler handle, cl_sampler_info what,
						 size_t size, void *value, size_t *bytes_out)
{
	cl_sampler sampler = FIND_SAMPLER(handle);
	if (!sampler)
		return CL_INVALID_SAMPLER;
	switch (what) {
	case CL_SAMPLER_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&sampler->head));
	case CL_SAMPLER_CONTEXT:
		return answer_handle(ANSWER, sampler->context);
	case CL_SAMPLER_NORMALIZED_COORDS:
		return answer_uint(ANSWER, sampler->normalized);
	case CL_SAMPLER_ADDRESSING_MODE:
		return answer_uint(ANSWER, sampler->addressing);
	case CL_SAMPLER_FILTER_MODE:
		return answer_uint(ANSWER, sampler->filter);
	case CL_SAMPLER_PROPERTIES:
		return answer_bytes(ANSWER, sampler->properties, sampler->properties_bytes);
	default:
		return CL_INVALID_VALUE;
	}
}
