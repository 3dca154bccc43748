/* The fake backend with a device that supports images, beside one in the host's memory. */
#include "fake_control.h"
#include "targets/target.h"

static void prepare_image_target(void)
{
	const struct fake_device_options options = {.features = BACKEND_FEATURE_IMAGE,
						    .unified = true};

	fake_reset();
	fake_device_options(0, options);
}

const struct conformance_target conformance_target = {
	.ops = &backend_fake_ops,
	.prepare = prepare_image_target,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = "fill_image\ncopy_image\nmix_image\nsampler_of_image\nsampler_u32\nfill_u32\n",
	.has_offsets = true,
};
