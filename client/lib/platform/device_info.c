/* Every info query of a device: a table of where the answer lies, and the few that follow from
 * something else. */
#include "platform/topology.h"

#include "device_features.h"

#include <stddef.h>
#include <string.h>

enum answer_kind {
	ANSWER_NONE = 0,
	ANSWER_U32,
	ANSWER_U64,
	ANSWER_BOOL,
	ANSWER_TEXT,
	ANSWER_U64S,
	ANSWER_U32S,
	ANSWER_U64_OF, /* one entry of a list: `count` is its index */
	ANSWER_ASPECT, /* true if the device has the aspect `count` */
};

struct answer {
	size_t offset;
	size_t count_offset; /* for lists: the offset of the number of entries */
	enum answer_kind kind;
	uint32_t count; /* for lists: the fixed number of entries; 0: all entries that there are */
};

#define FIELD(kind, field)                                                                         \
	{                                                                                          \
		offsetof(Sycl__V1__DeviceFacts, field), 0, ANSWER_##kind, 0                        \
	}
#define LIST(kind, field, count)                                                                   \
	{                                                                                          \
		offsetof(Sycl__V1__DeviceFacts, field),                                            \
			offsetof(Sycl__V1__DeviceFacts, n_##field), ANSWER_##kind, count           \
	}
#define ASPECT(aspect)                                                                             \
	{                                                                                          \
		offsetof(Sycl__V1__DeviceFacts, aspects), 0, ANSWER_ASPECT, aspect                 \
	}

static const struct answer answers[] = {
	[SYCL_DEVICE_INFO_TYPE] = FIELD(U32, type),
	[SYCL_DEVICE_INFO_VENDOR_ID] = FIELD(U32, vendor_id),
	[SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS] = FIELD(U32, max_compute_units),
	[SYCL_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS] = FIELD(U32, max_work_item_dimensions),
	[SYCL_DEVICE_INFO_MAX_WORK_ITEM_SIZES] = LIST(U64S, max_work_item_sizes, 3),
	[SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE] = FIELD(U64, max_work_group_size),
	[SYCL_DEVICE_INFO_MAX_CLOCK_FREQUENCY_MHZ] = FIELD(U32, max_clock_frequency_mhz),
	[SYCL_DEVICE_INFO_ADDRESS_BITS] = FIELD(U32, address_bits),
	[SYCL_DEVICE_INFO_MAX_MEM_ALLOC_BYTES] = FIELD(U64, max_mem_alloc_bytes),
	[SYCL_DEVICE_INFO_GLOBAL_MEM_BYTES] = FIELD(U64, global_mem_bytes),
	[SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_BYTES] = FIELD(U64, global_mem_cache_bytes),
	[SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_LINE_BYTES] = FIELD(U32, global_mem_cache_line_bytes),
	[SYCL_DEVICE_INFO_LOCAL_MEM_BYTES] = FIELD(U64, local_mem_bytes),
	[SYCL_DEVICE_INFO_MAX_CONSTANT_BUFFER_BYTES] = FIELD(U64, max_constant_buffer_bytes),
	[SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS] = FIELD(U32, mem_base_addr_align_bits),
	[SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES] = FIELD(U64, max_parameter_bytes),
	[SYCL_DEVICE_INFO_PROFILING_TIMER_RESOLUTION_NS] =
		FIELD(U64, profiling_timer_resolution_ns),
	[SYCL_DEVICE_INFO_NAME] = FIELD(TEXT, name),
	[SYCL_DEVICE_INFO_VENDOR] = FIELD(TEXT, vendor),
	[SYCL_DEVICE_INFO_VERSION] = FIELD(TEXT, version),
	[SYCL_DEVICE_INFO_DRIVER_VERSION] = FIELD(TEXT, driver_version),
	[SYCL_DEVICE_INFO_EXTENSIONS] = FIELD(TEXT, extensions),
	[SYCL_DEVICE_INFO_BUILTIN_KERNELS] = FIELD(TEXT, builtin_kernels),
	[SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY] = FIELD(BOOL, host_unified_memory),
	[SYCL_DEVICE_INFO_IS_LITTLE_ENDIAN] = FIELD(BOOL, little_endian),
	[SYCL_DEVICE_INFO_IS_AVAILABLE] = FIELD(BOOL, available),
	[SYCL_DEVICE_INFO_SUB_GROUP_SIZES] = LIST(U32S, sub_group_sizes, 0),
	[SYCL_DEVICE_INFO_ERROR_CORRECTION] = FIELD(BOOL, error_correction),
	[SYCL_DEVICE_INFO_PRINTF_BUFFER_BYTES] = FIELD(U64, printf_buffer_bytes),
	[SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS] = LIST(U64S, preferred_vector_widths, 7),
	[SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS] = LIST(U64S, native_vector_widths, 7),
	[SYCL_DEVICE_INFO_FP_CONFIG] = LIST(U32S, fp_config, 3),
	[SYCL_DEVICE_INFO_ASPECTS] = FIELD(U64, aspects),
	[SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS] = FIELD(U32, atomic_orders),
	[SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES] = FIELD(U32, atomic_scopes),
	[SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS] = FIELD(U32, fence_orders),
	[SYCL_DEVICE_INFO_ATOMIC_FENCE_SCOPES] = FIELD(U32, fence_scopes),
	[SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS] = FIELD(U32, max_sub_groups),
	[SYCL_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS] =
		FIELD(BOOL, independent_progress),
	[SYCL_DEVICE_INFO_PCI_ADDRESS] = FIELD(TEXT, bus_id),
	[SYCL_DEVICE_INFO_MODE] = FIELD(TEXT, mode),
	[SYCL_DEVICE_INFO_UNAVAILABLE_REASON] = FIELD(TEXT, unavailable_reason),
	[SYCL_DEVICE_INFO_IMAGE_SUPPORT] = FIELD(U32, image_support),
	[SYCL_DEVICE_INFO_MAX_READ_IMAGE_ARGS] = FIELD(U32, max_read_image_args),
	[SYCL_DEVICE_INFO_MAX_WRITE_IMAGE_ARGS] = FIELD(U32, max_write_image_args),
	[SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH] = LIST(U64_OF, image_sizes, 0),
	[SYCL_DEVICE_INFO_IMAGE2D_MAX_HEIGHT] = LIST(U64_OF, image_sizes, 1),
	[SYCL_DEVICE_INFO_IMAGE3D_MAX_WIDTH] = LIST(U64_OF, image_sizes, 2),
	[SYCL_DEVICE_INFO_IMAGE3D_MAX_HEIGHT] = LIST(U64_OF, image_sizes, 3),
	[SYCL_DEVICE_INFO_IMAGE3D_MAX_DEPTH] = LIST(U64_OF, image_sizes, 4),
	[SYCL_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE] = LIST(U64_OF, image_sizes, 5),
	[SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_WIDTH] = LIST(U64_OF, image_layered_sizes, 0),
	[SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_HEIGHT] = LIST(U64_OF, image_layered_sizes, 1),
	[SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS] = LIST(U64_OF, image_layered_sizes, 2),
	[SYCL_DEVICE_INFO_MAX_SAMPLERS] = FIELD(U32, max_samplers),
	[SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE] = FIELD(U32, global_mem_cache_type),
	[SYCL_DEVICE_INFO_LOCAL_MEM_TYPE] = FIELD(U32, local_mem_type),
	[SYCL_DEVICE_INFO_MAX_CONSTANT_ARGS] = FIELD(U32, max_constant_args),
	[SYCL_DEVICE_INFO_EXECUTION_CAPABILITIES] = FIELD(U32, execution_capabilities),
	[SYCL_DEVICE_INFO_IS_COMPILER_AVAILABLE] = ASPECT(SYCL_ASPECT_ONLINE_COMPILER),
	[SYCL_DEVICE_INFO_IS_LINKER_AVAILABLE] = ASPECT(SYCL_ASPECT_ONLINE_LINKER),
	[SYCL_DEVICE_INFO_QUEUE_PROFILING] = ASPECT(SYCL_ASPECT_QUEUE_PROFILING),
	[SYCL_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES] = FIELD(U32, partition_max_sub_devices),
	[SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY] = FIELD(U32, partition_type),
	[SYCL_DEVICE_INFO_PARTITION_TYPE_AFFINITY_DOMAIN] =
		FIELD(U32, partition_type_affinity_domain),
	[SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS] = FIELD(U32, max_read_write_image_args),
	[SYCL_DEVICE_INFO_IMAGE_VIEW_PITCH_PIXELS] = FIELD(U32, image_view_pitch_pixels),
	[SYCL_DEVICE_INFO_IMAGE_VIEW_BASE_PIXELS] = FIELD(U32, image_view_base_pixels),
	[SYCL_DEVICE_INFO_IL_VERSION] = FIELD(TEXT, il_version),
	[SYCL_DEVICE_INFO_L2_WINDOW_BYTES] = FIELD(U64, l2_window_bytes),
};

/* A list that the service sent too short has zeros at its end. */
static sycl_result give_list(const void *items, size_t item_bytes, size_t have, uint32_t want,
			     size_t bytes, void *value, size_t *bytes_out)
{
	uint64_t padded[8] = {0};
	if (want == 0)
		return info_give(items, have * item_bytes, bytes, value, bytes_out);
	for (size_t i = 0; i < want && i < have; i++) {
		for (size_t b = 0; b < item_bytes; b++)
			((uint8_t *)padded)[i * item_bytes + b] =
				((const uint8_t *)items)[i * item_bytes + b];
	}
	return info_give(padded, want * item_bytes, bytes, value, bytes_out);
}

/* The numbers of the bits that are set. */
static sycl_result give_bits(uint32_t bits, size_t bytes, void *value, size_t *bytes_out)
{
	uint32_t numbers[32], count = 0;
	for (uint32_t i = 0; i < 32; i++)
		if (bits >> i & 1)
			numbers[count++] = i;
	return info_give(numbers, count * sizeof(numbers[0]), bytes, value, bytes_out);
}

/* Answers for aspects of the platform, and for aspects that no device of this library has.
 * *known_out: the query was one of these. */
static sycl_result give_other(const struct device *device, sycl_device_info info, size_t bytes,
			      void *value, size_t *bytes_out, bool *known_out)
{
	const struct topology *topology = NULL;
	sycl_result result = topology_get(device->object.connection, &topology);
	if (result)
		return result;
	uint32_t platform = topology_platform_of(topology, device->facts), number = 0;
	static const Sycl__V1__PlatformFacts none = SYCL__V1__PLATFORM_FACTS__INIT;
	const Sycl__V1__PlatformFacts *facts =
		platform < topology->platform_count ? topology->platforms[platform] : &none;
	const ProtobufCBinaryData *uuid = &device->facts->uuid;
	uint8_t sixteen[16] = {0};
	*known_out = true;
	switch (info) {
	case SYCL_DEVICE_INFO_BACKEND:
		number = (uint32_t)facts->backend;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_UUID:
		if (uuid->len == sizeof(sixteen))
			memcpy(sixteen, uuid->data, sizeof(sixteen));
		return info_give(sixteen, sizeof(sixteen), bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_PROFILE:
		return info_give_text(facts->profile, bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_BACKEND_VERSION:
		return info_give_text(facts->version, bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_PARTITION_PROPERTIES:
		return give_bits(device->facts->partition_properties, bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_PARTITION_AFFINITY_DOMAINS:
		return give_bits(device->facts->partition_affinity_domains, bytes, value,
				 bytes_out);
	case SYCL_DEVICE_INFO_USM_SHARED_MIGRATES:
		number = (device->facts->features & DEVICE_FEATURE_USM_MIGRATES) != 0;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	case SYCL_DEVICE_INFO_PREFERRED_INTEROP_USER_SYNC: /* nothing is shared with other
							      interfaces */
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	default:
		*known_out = false;
		return SYCL_SUCCESS;
	}
}

SYCL_API sycl_result sycl_device_get_info(sycl_device handle, sycl_device_info info, size_t bytes,
					  void *value, size_t *bytes_out)
{
	PIN(device, device, handle);
	uint32_t number = 0;
	uint64_t large = 0;
	bool known = false;
	sycl_result result = give_other(device, info, bytes, value, bytes_out, &known);
	if (result || known)
		return result;
	struct answer answer = {0, 0, ANSWER_NONE, 0};
	if ((size_t)info < sizeof(answers) / sizeof(*answers))
		answer = answers[info];
	const uint8_t *at = (const uint8_t *)device->facts + answer.offset;
	size_t have =
		answer.count_offset
			? *(const size_t *)((const uint8_t *)device->facts + answer.count_offset)
			: 0;
	switch (answer.kind) {
	case ANSWER_U32:
		return info_give(at, sizeof(uint32_t), bytes, value, bytes_out);
	case ANSWER_U64:
		return info_give(at, sizeof(uint64_t), bytes, value, bytes_out);
	case ANSWER_BOOL:
		number = *(const protobuf_c_boolean *)at ? 1 : 0;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	case ANSWER_TEXT:
		return info_give_text(*(char *const *)at, bytes, value, bytes_out);
	case ANSWER_U64S:
		return give_list(*(uint64_t *const *)at, sizeof(uint64_t), have, answer.count,
				 bytes, value, bytes_out);
	case ANSWER_U32S:
		return give_list(*(uint32_t *const *)at, sizeof(uint32_t), have, answer.count,
				 bytes, value, bytes_out);
	case ANSWER_U64_OF:
		large = answer.count < have ? (*(uint64_t *const *)at)[answer.count] : 0;
		return info_give(&large, sizeof(large), bytes, value, bytes_out);
	case ANSWER_ASPECT:
		number = (uint32_t)(*(const uint64_t *)at >> answer.count) & 1;
		return info_give(&number, sizeof(number), bytes, value, bytes_out);
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no device info", (int)info);
	}
}
