#include "opencl/memory/sampler.h"

#include "image_sample.h"
#include "opencl/driver/fault.h"
#include "status.h"

#include <errno.h>

static cl_addressing_mode opencl_native_addressing(const struct backend_sampler *sampler)
{
	static const cl_addressing_mode modes[] = {
		[IMAGE_ADDRESSING_MIRRORED_REPEAT] = CL_ADDRESS_MIRRORED_REPEAT,
		[IMAGE_ADDRESSING_REPEAT] = CL_ADDRESS_REPEAT,
		[IMAGE_ADDRESSING_CLAMP_TO_EDGE] = CL_ADDRESS_CLAMP_TO_EDGE,
		[IMAGE_ADDRESSING_CLAMP] = CL_ADDRESS_CLAMP,
	};
	const struct image_sampler meant = {(enum image_addressing)sampler->addressing,
					    sampler->normalised, sampler->linear};

	return modes[image_addressing_effective(&meant)];
}

int opencl_sampler_get(struct backend_device *device, const struct backend_sampler *sampler,
		       cl_sampler *sampler_out, struct backend_fault *fault_out)
{
	uint32_t mode = (uint32_t)sampler->addressing;
	cl_int code = CL_SUCCESS;

	if (mode < BACKEND_ADDRESSING_MIRRORED_REPEAT || mode > BACKEND_ADDRESSING_NONE) {
		opencl_fault_words(fault_out, STATUS_INVALID, "there is no addressing mode %u",
				   mode);
		return -EINVAL;
	}
	if (!device->cl->CreateSampler) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "the OpenCL library has no samplers");
		return -ENOTSUP;
	}
	cl_sampler *kept =
		&device->samplers[(mode - 1) * 4 + sampler->normalised * 2u + sampler->linear];
	if (!*kept) {
		*kept = device->cl->CreateSampler(
			device->context, sampler->normalised ? CL_TRUE : CL_FALSE,
			opencl_native_addressing(sampler),
			sampler->linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
		if (!*kept)
			return opencl_fault_code(fault_out, code, "make a sampler");
	}
	*sampler_out = *kept;
	return 0;
}

void opencl_samplers_close(struct backend_device *device)
{
	for (uint32_t i = 0; i < OPENCL_SAMPLERS; i++)
		if (device->samplers[i])
			(void)device->cl->ReleaseSampler(device->samplers[i]);
}
