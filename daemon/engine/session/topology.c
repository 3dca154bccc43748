#include "session/topology.h"

#include <pthread.h>
#include <stdint.h>

#define VECTOR_TYPES  7u
#define FP_TYPES      3u
#define IMAGE_SIZES   6u
#define LAYERED_SIZES 3u
#define UUID_BYTES    16u

/* Memory that was not allocated as USM is not accepted as an argument (E22), whatever the device
 * supports. */
#define ASPECT_USM_SYSTEM (1ull << 18)
#define ASPECTS_USM                                                                                \
	(TOPOLOGY_ASPECT_USM_DEVICE | TOPOLOGY_ASPECT_USM_HOST | TOPOLOGY_ASPECT_USM_ATOMIC_HOST | \
	 TOPOLOGY_ASPECT_USM_SHARED | TOPOLOGY_ASPECT_USM_ATOMIC_SHARED)

struct topology {
	Sycl__V1__Topology message;
	Sycl__V1__PlatformFacts *platforms;
	Sycl__V1__PlatformFacts **platform_list;
	Sycl__V1__DeviceFacts *devices;
	Sycl__V1__DeviceFacts **device_list;
};

static char *text_or_empty(char *from)
{
	return from ? from : (char *)(uintptr_t)protobuf_c_empty_string;
}

static void fill_platform(Sycl__V1__PlatformFacts *out, uint32_t index,
			  const struct scheduler_platform_info *info)
{
	const struct backend_platform_facts *facts = info->facts;
	sycl__v1__platform_facts__init(out);
	out->platform = index;
	out->backend = (Sycl__V1__Backend)facts->kind;
	out->name = text_or_empty(facts->name);
	out->vendor = text_or_empty(facts->vendor);
	out->version = text_or_empty(facts->version);
	out->profile = text_or_empty(facts->profile);
	out->extensions = text_or_empty(facts->extensions);
	out->available = facts->available;
	out->unavailable_reason = text_or_empty(facts->unavailable_reason);
}

static void fill_sizes(Sycl__V1__DeviceFacts *out, const struct backend_device_facts *facts)
{
	out->max_work_group_size = facts->max_work_group_size;
	out->max_mem_alloc_bytes = facts->max_mem_alloc_bytes;
	out->global_mem_bytes = facts->global_mem_bytes;
	out->global_mem_cache_bytes = facts->global_mem_cache_bytes;
	out->global_mem_cache_line_bytes = facts->global_mem_cache_line_bytes;
	out->local_mem_bytes = facts->local_mem_bytes;
	out->max_constant_buffer_bytes = facts->max_constant_buffer_bytes;
	out->mem_base_addr_align_bits = facts->mem_base_addr_align_bits;
	out->max_parameter_bytes = facts->max_parameter_bytes;
	out->profiling_timer_resolution_ns = facts->profiling_timer_resolution_ns;
	out->printf_buffer_bytes = facts->printf_buffer_bytes;
}

/* The lists point into the facts, which exist as long as the scheduler. */
static void fill_lists(Sycl__V1__DeviceFacts *out, const struct backend_device_facts *facts)
{
	out->n_max_work_item_sizes = 3;
	out->max_work_item_sizes = (uint64_t *)(uintptr_t)facts->max_work_item_sizes;
	out->n_sub_group_sizes = facts->sub_group_size_count;
	out->sub_group_sizes = (uint32_t *)(uintptr_t)facts->sub_group_sizes;
	out->n_preferred_vector_widths = VECTOR_TYPES;
	out->preferred_vector_widths = (uint64_t *)(uintptr_t)facts->preferred_vector_widths;
	out->n_native_vector_widths = VECTOR_TYPES;
	out->native_vector_widths = (uint64_t *)(uintptr_t)facts->native_vector_widths;
	out->n_fp_config = FP_TYPES;
	out->fp_config = (uint32_t *)(uintptr_t)facts->fp_config;
	out->n_image_sizes = facts->image_support ? IMAGE_SIZES : 0;
	out->image_sizes = (uint64_t *)(uintptr_t)facts->image_sizes;
	out->n_image_layered_sizes = facts->image_layered_sizes[2] > 0 ? LAYERED_SIZES : 0;
	out->image_layered_sizes = (uint64_t *)(uintptr_t)facts->image_layered_sizes;
}

static bool bytes_are_zero(const uint8_t *bytes, size_t count)
{
	size_t i = 0;
	while (i < count && bytes[i] == 0)
		i++;
	return i == count;
}

static void topology_fill_identity(Sycl__V1__DeviceFacts *out,
				   const struct backend_device_facts *facts, bool in_process)
{
	out->uuid.data = (uint8_t *)(uintptr_t)facts->uuid;
	out->uuid.len = bytes_are_zero(facts->uuid, UUID_BYTES) ? 0 : UUID_BYTES;
	out->bus_id = text_or_empty(facts->bus_id);
	out->mode = text_or_empty(facts->mode);
	out->unavailable_reason = text_or_empty(facts->unavailable_reason);
	out->features = facts->features;
	/* For a client in another process this is pinned memory, which does not migrate. */
	if (!in_process)
		out->features &= ~(uint32_t)BACKEND_FEATURE_USM_MIGRATES;
}

/* Memory orders and scopes (G7 - G10), and properties of cores that few programs query. */
static void fill_model(Sycl__V1__DeviceFacts *out, const struct backend_device_facts *facts)
{
	out->atomic_orders = facts->atomic_order_bits;
	out->atomic_scopes = facts->atomic_scope_bits;
	out->fence_orders = facts->fence_order_bits;
	out->fence_scopes = facts->fence_scope_bits;
	out->max_sub_groups = facts->max_sub_groups;
	out->independent_progress = facts->independent_progress;
	out->max_read_image_args = facts->max_read_image_args;
	out->max_write_image_args = facts->max_write_image_args;
	out->max_samplers = facts->max_samplers;
	out->l2_window_bytes = facts->l2_window_bytes;
	out->image_formats = facts->image_formats;
	out->n_general_image_formats = facts->general_image_format_count;
	out->general_image_formats = (uint32_t *)(uintptr_t)facts->general_image_formats;
	out->max_read_write_image_args = facts->max_read_write_image_args;
	out->image_view_pitch_pixels = facts->image_view_pitch_pixels;
	out->image_view_base_pixels = facts->image_view_base_pixels;
	out->max_constant_args = facts->max_constant_args;
	out->global_mem_cache_type = facts->global_mem_cache_type;
	out->local_mem_type = facts->local_mem_type;
	out->execution_capabilities = facts->execution_capabilities;
}

uint64_t topology_aspects(const struct backend_device_facts *facts, bool in_process)
{
	uint64_t usm = facts->features & BACKEND_FEATURE_USM ? facts->aspects & ASPECTS_USM : 0;
	uint64_t others = facts->aspects & ~(ASPECTS_USM | ASPECT_USM_SYSTEM);
	if (in_process)
		return others | usm;
	/* For a client in another process both kinds are host memory that it shares with the
	 * engine. Atomics there have the properties of host memory. */
	bool has_host =
		usm & TOPOLOGY_ASPECT_USM_HOST && facts->features & BACKEND_FEATURE_HOST_ADDRESS;
	bool has_atomics = has_host && usm & TOPOLOGY_ASPECT_USM_ATOMIC_HOST;
	return others | (usm & TOPOLOGY_ASPECT_USM_DEVICE) |
	       (has_host ? TOPOLOGY_ASPECT_USM_HOST | TOPOLOGY_ASPECT_USM_SHARED : 0) |
	       (has_atomics ? TOPOLOGY_ASPECT_USM_ATOMIC_HOST | TOPOLOGY_ASPECT_USM_ATOMIC_SHARED
			    : 0);
}

void topology_describe(Sycl__V1__DeviceFacts *out, uint32_t index,
		       const struct scheduler_device_info *info, bool in_process)
{
	const struct backend_device_facts *facts = info->facts;
	sycl__v1__device_facts__init(out);
	out->device = index;
	out->platform = info->platform;
	out->backend_index = info->backend_index;
	out->type = (Sycl__V1__DeviceType)facts->type;
	out->name = text_or_empty(facts->name);
	out->vendor = text_or_empty(facts->vendor);
	out->version = text_or_empty(facts->version);
	out->driver_version = text_or_empty(facts->driver_version);
	out->extensions = text_or_empty(facts->extensions);
	out->builtin_kernels = text_or_empty(facts->builtin_kernels);
	out->il_version = text_or_empty(facts->il_version);
	out->vendor_id = facts->vendor_id;
	out->max_compute_units = facts->max_compute_units;
	out->max_work_item_dimensions = facts->max_work_item_dimensions;
	out->max_clock_frequency_mhz = facts->max_clock_frequency_mhz;
	out->address_bits = facts->address_bits;
	out->aspects = topology_aspects(facts, in_process);
	out->host_unified_memory = facts->host_unified_memory;
	out->little_endian = facts->little_endian;
	out->image_support = facts->image_support;
	out->available = facts->available;
	out->partition_max_sub_devices = facts->partition_max_sub_devices;
	out->partition_properties = facts->partition_properties;
	out->partition_affinity_domains = facts->partition_domains;
	out->partition_type = facts->partition_type;
	out->partition_type_affinity_domain = facts->partition_domain;
	out->error_correction = facts->error_correction;
	fill_sizes(out, facts);
	fill_lists(out, facts);
	topology_fill_identity(out, facts, in_process);
	fill_model(out, facts);
}

int topology_discover(struct scheduler *scheduler,
		      const struct scheduler_platform_info **platforms_out,
		      uint32_t *platform_count_out,
		      const struct scheduler_device_info **devices_out, uint32_t *device_count_out)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	(void)pthread_mutex_lock(&turn);
	int r = scheduler_discover(scheduler, platforms_out, platform_count_out, devices_out,
				   device_count_out);
	(void)pthread_mutex_unlock(&turn);
	return r;
}

int topology_create(struct scheduler *scheduler, bool in_process, struct topology **topology_out)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count, listed = 0;
	int r = topology_discover(scheduler, &platforms, &platform_count, &devices, &device_count);
	if (r < 0)
		return r;
	CLEANUP(topology_cleanup) struct topology *topology = calloc(1, sizeof(*topology));
	if (!topology)
		return -ENOMEM;
	/* One entry more than needed, so that an empty list is not mistaken for a failed
	 * allocation. */
	topology->platforms = calloc(platform_count + 1, sizeof(*topology->platforms));
	topology->platform_list = calloc(platform_count + 1, sizeof(Sycl__V1__PlatformFacts *));
	topology->devices = calloc(device_count + 1, sizeof(*topology->devices));
	topology->device_list = calloc(device_count + 1, sizeof(Sycl__V1__DeviceFacts *));
	if (!topology->platforms || !topology->platform_list || !topology->devices ||
	    !topology->device_list)
		return -ENOMEM;
	for (uint32_t i = 0; i < platform_count; i++) {
		fill_platform(&topology->platforms[i], i, &platforms[i]);
		topology->platform_list[i] = &topology->platforms[i];
	}
	for (uint32_t i = 0; i < device_count; i++) {
		if (devices[i].is_hidden)
			continue;
		topology_describe(&topology->devices[listed], i, &devices[i], in_process);
		topology->device_list[listed] = &topology->devices[listed];
		listed++;
	}
	sycl__v1__topology__init(&topology->message);
	topology->message.n_platforms = platform_count;
	topology->message.platforms = topology->platform_list;
	topology->message.n_devices = listed;
	topology->message.devices = topology->device_list;
	*topology_out = TAKE(topology);
	return 0;
}

struct topology *topology_free(struct topology *topology)
{
	if (!topology)
		return NULL;
	free(topology->platforms);
	free((void *)topology->platform_list);
	free(topology->devices);
	free((void *)topology->device_list);
	free(topology);
	return NULL;
}

Sycl__V1__Topology *topology_message(struct topology *topology)
{
	return &topology->message;
}
