/* The fake backend: it must satisfy the contract with which all other tests work. */
#include "fake_control.h"
#include "targets/fake_native.h"

static void prepare_fake_target(void)
{
	const struct fake_device_options unified = {.unified = true};
	const struct fake_device_options graphs = {
		.bursts = true,
		.features = BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE |
			    BACKEND_FEATURE_GRAPH_NATIVE | BACKEND_FEATURE_GRAPH_SWITCH |
			    BACKEND_FEATURE_GRAPH_CONDITION,
	};

	fake_reset();
	fake_device_options(0, graphs);
	fake_device_options(1, unified);
}

const struct conformance_target conformance_target = {
	.ops = &backend_fake_ops,
	.prepare = prepare_fake_target,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = "fill_u32\nlinear_id_u32\nincrement_u32\nadd_u32\ncopy_u32\nmix_u32\n",
	.has_offsets = true,
	.native_set = target_fake_native_set,
};
