/* The table of this backend. */
#include "opencl/lane/begin.h"
#include "opencl/program/binary.h"
#include "opencl/device/device.h"
#include "opencl/lane/graph.h"
#include "opencl/memory/image.h"
#include "opencl/program/kernel.h"
#include "opencl/lane/lane.h"
#include "opencl/driver/leaving.h"
#include "opencl/program/link.h"
#include "opencl/lane/native.h"
#include "opencl/program/native_program.h"
#include "opencl/device/platforms.h"
#include "opencl/program/program.h"
#include "opencl/device/sub_device.h"
#include "opencl/lane/submit.h"
#include "opencl/memory/usm.h"
#include "opencl/driver/watch.h"
#include "opencl/program/warm.h"
#include "portable_dimensions.h"

const struct backend_ops backend_opencl_ops = {
	.version = BACKEND_OPS_VERSION,
	.kind = BACKEND_KIND_OPENCL,
	.name = "opencl",
	.binary_format = OPENCL_BINARY_FORMAT,
	.prepare = opencl_prepare,
	.open = opencl_open,
	.close = opencl_close,
	.enumerate = opencl_enumerate,
	.build = opencl_build,
	.warm = opencl_warm,
	.dimensions_asked = portable_dimensions_guess,
	.build_dimensions = opencl_build_dimensions,
	.compile = opencl_compile,
	.link = opencl_link,
	.sub_devices_create = opencl_sub_devices_create,
	.sub_device_take = opencl_sub_device_take,
	.sub_device_free = opencl_sub_device_free,
	.device_open = opencl_device_open,
	.device_close = opencl_device_close,
	.lane_create = opencl_lane_create,
	.lane_free = opencl_lane_free,
	.memory_create = opencl_memory_create,
	.memory_free = opencl_memory_free,
	.image_create = opencl_image_create,
	.usm_alloc = opencl_usm_alloc,
	.usm_free = opencl_usm_free,
	.native_get = opencl_native_get,
	.native_devices = opencl_native_devices,
	.native_describe = opencl_native_describe,
	.device_open_native = opencl_native_device_open,
	.native_make = opencl_native_make,
	.native_program = opencl_native_program,
	.event_watch = opencl_event_watch,
	.event_free = opencl_event_free,
	.graph_create = opencl_graph_create,
	.graph_add = opencl_graph_add,
	.graph_finish = opencl_graph_finish,
	.graph_free = opencl_graph_free,
	.program_load = opencl_program_load,
	.program_add = opencl_program_add,
	.program_kernels = opencl_program_kernels,
	.program_free = opencl_program_drop,
	.kernel_create = opencl_kernel_create,
	.kernel_facts = opencl_kernel_facts,
	.kernel_free = opencl_kernel_drop,
	.submit = opencl_submit,
	.flush = opencl_flush,
	.progress = opencl_progress,
	.begun = opencl_begun,
	.quiet_wanted = opencl_quiet_wanted,
	.quiet = opencl_quiet,
};
