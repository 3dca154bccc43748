/* The fake backend as a device that reports no completions, so it must be polled. */
#include "fake_control.h"
#include "targets/fake_native.h"

static void prepare_polled_target(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++) {
		const struct fake_device_options options = {
			.unified = i == 1, .bursts = true, .features = FAKE_FEATURES_ALL};
		fake_device_options(i, options);
	}
}

const struct conformance_target conformance_target = {
	.ops = &backend_fake_ops,
	.prepare = prepare_polled_target,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = "fill_u32\nlinear_id_u32\nincrement_u32\nadd_u32\ncopy_u32\nmix_u32\n",
	.has_offsets = true,
	.native_set = target_fake_native_set,
};
