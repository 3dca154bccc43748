/* The table of the fake backend, and its platform and devices as facts. */
#include "fake_internal.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_TEXT_BYTES 32

/* Bits of enum sycl_aspect: custom, emulated, host_debuggable, fp64, atomic64, online_compiler,
 * queue_profiling. */
#define FAKE_ASPECTS                                                                               \
	((1u << 3) | (1u << 4) | (1u << 5) | (1u << 7) | (1u << 8) | (1u << 10) | (1u << 12))
/* With BACKEND_FEATURE_USM: device, host and shared allocations; of the first device atomics in the
 * last two. */
#define FAKE_USM_ASPECTS        ((1u << 13) | (1u << 14) | (1u << 16))
#define FAKE_USM_ATOMIC_ASPECTS ((1u << 15) | (1u << 17))
#define FAKE_LINK_ASPECT        (1u << 11)
#define FAKE_GRAPH_ASPECT       (1u << 19)
#define FAKE_CONDITION_ASPECT   (1u << 20)
#define FAKE_DEVICE_TYPE_CUSTOM 4u /* DeviceType of command.proto */

struct backend {
	struct backend_platform_facts platform;
	struct backend_device_facts devices[FAKE_DEVICES_MAX];
	char names[FAKE_DEVICES_MAX][FAKE_TEXT_BYTES], keys[FAKE_DEVICES_MAX][FAKE_TEXT_BYTES];
	char *cache_directory; /* NULL: none */
};

const char *fake_cache_directory(const struct backend *backend)
{
	return backend ? backend->cache_directory
		       : NULL; /* devices may be used without a backend */
}

struct backend_device_facts *fake_facts(struct backend *backend, uint32_t index)
{
	return &backend->devices[index];
}

/* Facts are not const in the table; these never change. */
static char platform_name[] = "Fake platform", vendor[] = "sycld", version[] = "1.0",
	    profile[] = "FULL_PROFILE";
static char nothing[] = "", il_version[] = "SPIR-V_1.0 SPIR-V_1.2";

static int backend_refuse(enum fake_entry entry, struct backend_fault *fault_out)
{
	(void)pthread_mutex_lock(&fake_state.lock);
	bool fails = fake_scripted_locked(entry, FAKE_ANY_DEVICE, fault_out);
	(void)pthread_mutex_unlock(&fake_state.lock);
	return fails ? -ENODEV : 0;
}

static int fake_open(const struct backend_settings *settings, struct backend **backend_out,
		     struct backend_fault *fault_out)
{
	int result = backend_refuse(FAKE_OPEN, fault_out);
	if (result == 0 && settings->options && settings->options[0]) {
		fake_fault(fault_out, STATUS_INVALID, "the fake backend has no option \"%.100s\"",
			   settings->options[0]);
		result = -EINVAL;
	}
	if (result < 0)
		return result;
	struct backend *backend = calloc(1, sizeof(*backend));
	if (backend && settings->cache_directory)
		backend->cache_directory = strdup(settings->cache_directory);
	if (!backend || (settings->cache_directory && !backend->cache_directory)) {
		free(backend);
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the backend");
		return -ENOMEM;
	}
	(void)pthread_mutex_lock(&fake_state.lock);
	fake_state.counters.backends++;
	(void)pthread_mutex_unlock(&fake_state.lock);
	*backend_out = backend;
	return 0;
}

static void fake_close(struct backend *backend)
{
	if (!backend)
		return;
	(void)pthread_mutex_lock(&fake_state.lock);
	fake_state.counters.backends--;
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
		fake_state.slots[i].is_sub_device = false;
	fake_state.counters.sub_devices = 0;
	(void)pthread_mutex_unlock(&fake_state.lock);
	free(backend->cache_directory);
	free(backend);
}

/* The aspects and limits that follow from a device's features. The first device has more of them.
 */
static void describe_features(struct backend_device_facts *facts, uint32_t index)
{
	if (facts->features & BACKEND_FEATURE_USM)
		facts->aspects |= FAKE_USM_ASPECTS | (index ? 0 : FAKE_USM_ATOMIC_ASPECTS);
	if (facts->features & BACKEND_FEATURE_USM && index == 0)
		facts->l2_window_bytes = FAKE_L2_WINDOW_BYTES;
	if (facts->features & BACKEND_FEATURE_SPIRV)
		facts->il_version = il_version;
	if (facts->features & BACKEND_FEATURE_LINK)
		facts->aspects |= FAKE_LINK_ASPECT;
	if (facts->features & BACKEND_FEATURE_GRAPH_NATIVE)
		facts->aspects |= FAKE_GRAPH_ASPECT;
	if (facts->features & BACKEND_FEATURE_GRAPH_CONDITION)
		facts->aspects |= FAKE_CONDITION_ASPECT;
	fake_image_facts(facts);
}

static void describe_device(struct backend *backend, uint32_t index)
{
	(void)snprintf(backend->names[index], FAKE_TEXT_BYTES, "Fake device %u", index);
	(void)snprintf(backend->keys[index], FAKE_TEXT_BYTES, "fake-1-%u", index);
	struct backend_device_facts *facts = &backend->devices[index];
	uint32_t wanted_bits = fake_state.slots[index].options.base_align_bits,
		 align_bits = wanted_bits ? wanted_bits : 1024;
	uint64_t limit = fake_state.slots[index].options.memory_bytes;
	*facts = (struct backend_device_facts){
		.type = FAKE_DEVICE_TYPE_CUSTOM,
		.name = backend->names[index],
		.vendor = vendor,
		.version = version,
		.driver_version = version,
		.extensions = nothing,
		.builtin_kernels = nothing,
		.key = backend->keys[index],
		.max_compute_units = 1,
		.max_work_item_dimensions = 3,
		.max_clock_frequency_mhz = 1,
		.address_bits = 64,
		.max_work_item_sizes = {1024, 1024, 1024},
		.max_work_group_size = 1024,
		.max_mem_alloc_bytes = FAKE_ALLOCATION_BYTES_MAX,
		.global_mem_bytes = limit ? limit : 1ull << 32,
		.global_mem_cache_bytes = 1u << 20,
		.local_mem_bytes = 1u << 16,
		.max_constant_buffer_bytes = 1u << 16,
		.max_parameter_bytes = 1024,
		.profiling_timer_resolution_ns = 1,
		.global_mem_cache_line_bytes = 64,
		.mem_base_addr_align_bits = align_bits,
		.aspects = FAKE_ASPECTS,
		.context_set = fake_state.slots[index].options.context_set,
		.host_unified_memory = fake_state.slots[index].options.unified,
		.features = fake_state.slots[index].options.features,
		.preferred_lanes = fake_state.slots[index].options.preferred_lanes,
		.lane_copy_bytes = fake_state.slots[index].options.lane_copy_bytes,
		.little_endian = true,
		.available = true,
		/* The first has more than the others, so that a context of several shows what
		   all of them have. */
		.atomic_order_bits = BACKEND_ORDER_RELAXED | BACKEND_ORDER_ACQ_REL |
				     (index ? 0 : BACKEND_ORDER_SEQ_CST),
		.atomic_scope_bits = BACKEND_SCOPE_WORK_ITEM | BACKEND_SCOPE_DEVICE |
				     (index ? 0 : BACKEND_SCOPE_SYSTEM),
		.fence_order_bits = BACKEND_ORDER_RELAXED | (index ? 0 : BACKEND_ORDER_ACQUIRE),
		.fence_scope_bits =
			BACKEND_SCOPE_WORK_ITEM | (index ? 0 : BACKEND_SCOPE_WORK_GROUP),
	};
	fake_partition_facts(facts, fake_state.slots[index].options.units);
	describe_features(facts, index);
	for (uint32_t i = 0; i < 7; i++)
		facts->preferred_vector_widths[i] = facts->native_vector_widths[i] = 1;
}

static int fake_enumerate(struct backend *backend, struct backend_topology *topology_out,
			  struct backend_fault *fault_out)
{
	int result = backend_refuse(FAKE_ENUMERATE, fault_out);
	if (result < 0)
		return result;
	backend->platform = (struct backend_platform_facts){
		.kind = BACKEND_KIND_FAKE,
		.available = true,
		.name = platform_name,
		.vendor = vendor,
		.version = version,
		.profile = profile,
		.extensions = nothing,
		.unavailable_reason = nothing,
	};
	(void)pthread_mutex_lock(&fake_state.lock);
	uint32_t count = fake_state.device_count;
	for (uint32_t i = 0; i < count; i++)
		describe_device(backend, i);
	(void)pthread_mutex_unlock(&fake_state.lock);
	*topology_out = (struct backend_topology){
		.platforms = &backend->platform,
		.platform_count = 1,
		.devices = backend->devices,
		.device_count = count,
	};
	return 0;
}

const struct backend_ops backend_fake_ops = {
	.version = BACKEND_OPS_VERSION,
	.kind = BACKEND_KIND_FAKE,
	.name = "fake",
	.binary_format = 1,
	.open = fake_open,
	.close = fake_close,
	.enumerate = fake_enumerate,
	.build = fake_build,
	.warm = fake_warm,
	.compile = fake_compile,
	.link = fake_link,
	.sub_devices_create = fake_sub_devices_create,
	.sub_device_free = fake_sub_device_free,
	.device_open = fake_device_open,
	.device_close = fake_device_close,
	.lane_create = fake_lane_create,
	.quiet_wanted = fake_quiet_wanted,
	.quiet = fake_quiet,
	.latency_wanted = fake_latency_wanted,
	.l2_wanted = fake_l2_wanted,
	.latency_units = fake_latency_units,
	.lane_free = fake_lane_free,
	.memory_create = fake_memory_create,
	.memory_free = fake_memory_free,
	.image_create = fake_image_create,
	.memory_export = fake_memory_export,
	.memory_import = fake_memory_import,
	.host_register = fake_host_register,
	.host_unregister = fake_host_unregister,
	.usm_alloc = fake_usm_alloc,
	.usm_free = fake_usm_free,
	.event_create = fake_event_create,
	.event_open = fake_event_open,
	.event_free = fake_event_free,
	.graph_create = fake_graph_create,
	.graph_add = fake_graph_add,
	.graph_finish = fake_graph_finish,
	.graph_update = fake_graph_update,
	.graph_free = fake_graph_free,
	.program_load = fake_program_load,
	.program_add = fake_program_add,
	.program_kernels = fake_program_kernels,
	.program_free = fake_program_free,
	.program_variable = fake_program_variable,
	.kernel_create = fake_kernel_create,
	.kernel_facts = fake_kernel_facts,
	.kernel_free = fake_kernel_free,
	.kernel_occupancy = fake_kernel_occupancy,
	.submit = fake_submit,
	.has_room = fake_has_room,
	.submit_burst = fake_submit_burst,
	.row_make = fake_row_make,
	.row_set = fake_row_set,
	.row_submit = fake_row_submit,
	.row_free = fake_row_free,
	.flush = fake_flush,
	.progress = fake_progress,
};
