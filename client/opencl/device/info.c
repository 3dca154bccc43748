/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a device: most are the library's answers in OpenCL's types. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form { UINT, BOOL = UINT, ULONG, SIZE = ULONG, TEXT, SIZES, WIDTH, NATIVE_WIDTH, FP };

static const struct row {
	cl_device_info theirs;
	enum form form;
	sycl_device_info ours;
	int index; /* in an array of the library */
} rows[] = {
	{CL_DEVICE_VENDOR_ID, UINT, SYCL_DEVICE_INFO_VENDOR_ID, 0},
	{CL_DEVICE_MAX_COMPUTE_UNITS, UINT, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS, 0},
	{CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, UINT, SYCL_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS, 0},
	{CL_DEVICE_MAX_WORK_ITEM_SIZES, SIZES, SYCL_DEVICE_INFO_MAX_WORK_ITEM_SIZES, 0},
	{CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE, SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, 0},
	{CL_DEVICE_MAX_CLOCK_FREQUENCY, UINT, SYCL_DEVICE_INFO_MAX_CLOCK_FREQUENCY_MHZ, 0},
	{CL_DEVICE_ADDRESS_BITS, UINT, SYCL_DEVICE_INFO_ADDRESS_BITS, 0},
	{CL_DEVICE_MAX_MEM_ALLOC_SIZE, ULONG, SYCL_DEVICE_INFO_MAX_MEM_ALLOC_BYTES, 0},
	{CL_DEVICE_GLOBAL_MEM_SIZE, ULONG, SYCL_DEVICE_INFO_GLOBAL_MEM_BYTES, 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, ULONG, SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_BYTES, 0},
	{CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, UINT, SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_LINE_BYTES,
	 0},
	{CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, UINT, SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE, 0},
	{CL_DEVICE_LOCAL_MEM_SIZE, ULONG, SYCL_DEVICE_INFO_LOCAL_MEM_BYTES, 0},
	{CL_DEVICE_LOCAL_MEM_TYPE, UINT, SYCL_DEVICE_INFO_LOCAL_MEM_TYPE, 0},
	{CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, ULONG, SYCL_DEVICE_INFO_MAX_CONSTANT_BUFFER_BYTES, 0},
	{CL_DEVICE_MAX_CONSTANT_ARGS, UINT, SYCL_DEVICE_INFO_MAX_CONSTANT_ARGS, 0},
	{CL_DEVICE_MEM_BASE_ADDR_ALIGN, UINT, SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS, 0},
	{CL_DEVICE_MAX_PARAMETER_SIZE, SIZE, SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES, 0},
	{CL_DEVICE_PROFILING_TIMER_RESOLUTION, SIZE, SYCL_DEVICE_INFO_PROFILING_TIMER_RESOLUTION_NS,
	 0},
	{CL_DEVICE_NAME, TEXT, SYCL_DEVICE_INFO_NAME, 0},
	{CL_DEVICE_VENDOR, TEXT, SYCL_DEVICE_INFO_VENDOR, 0},
	{CL_DRIVER_VERSION, TEXT, SYCL_DEVICE_INFO_DRIVER_VERSION, 0},
	{CL_DEVICE_PROFILE, TEXT, SYCL_DEVICE_INFO_PROFILE, 0},
	{CL_DEVICE_HOST_UNIFIED_MEMORY, BOOL, SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY, 0},
	{CL_DEVICE_ENDIAN_LITTLE, BOOL, SYCL_DEVICE_INFO_IS_LITTLE_ENDIAN, 0},
	{CL_DEVICE_AVAILABLE, BOOL, SYCL_DEVICE_INFO_IS_AVAILABLE, 0},
	{CL_DEVICE_COMPILER_AVAILABLE, BOOL, SYCL_DEVICE_INFO_IS_COMPILER_AVAILABLE, 0},
	{CL_DEVICE_LINKER_AVAILABLE, BOOL, SYCL_DEVICE_INFO_IS_LINKER_AVAILABLE, 0},
	{CL_DEVICE_ERROR_CORRECTION_SUPPORT, BOOL, SYCL_DEVICE_INFO_ERROR_CORRECTION, 0},
	{CL_DEVICE_PRINTF_BUFFER_SIZE, SIZE, SYCL_DEVICE_INFO_PRINTF_BUFFER_BYTES, 0},
	{CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, BOOL, SYCL_DEVICE_INFO_PREFERRED_INTEROP_USER_SYNC,
	 0},
	{CL_DEVICE_PARTITION_MAX_SUB_DEVICES, UINT, SYCL_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES, 0},
	{CL_DEVICE_MAX_NUM_SUB_GROUPS, UINT, SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS, 0},
	{CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, BOOL,
	 SYCL_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 0},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS,
	 1},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 2},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 3},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS,
	 4},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS,
	 5},
	{CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, WIDTH, SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS, 6},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 0},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 1},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 2},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 3},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 4},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 5},
	{CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, WIDTH, SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS, 6},
	{CL_DEVICE_HALF_FP_CONFIG, FP, SYCL_DEVICE_INFO_FP_CONFIG, 0},
	{CL_DEVICE_SINGLE_FP_CONFIG, FP, SYCL_DEVICE_INFO_FP_CONFIG, 1},
	{CL_DEVICE_DOUBLE_FP_CONFIG, FP, SYCL_DEVICE_INFO_FP_CONFIG, 2},
	{CL_DEVICE_MAX_READ_IMAGE_ARGS, UINT, SYCL_DEVICE_INFO_MAX_READ_IMAGE_ARGS, 0},
	{CL_DEVICE_MAX_WRITE_IMAGE_ARGS, UINT, SYCL_DEVICE_INFO_MAX_WRITE_IMAGE_ARGS, 0},
	{CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, UINT, SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS, 0},
	{CL_DEVICE_IMAGE2D_MAX_WIDTH, SIZE, SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH, 0},
	{CL_DEVICE_IMAGE2D_MAX_HEIGHT, SIZE, SYCL_DEVICE_INFO_IMAGE2D_MAX_HEIGHT, 0},
	{CL_DEVICE_IMAGE3D_MAX_WIDTH, SIZE, SYCL_DEVICE_INFO_IMAGE3D_MAX_WIDTH, 0},
	{CL_DEVICE_IMAGE3D_MAX_HEIGHT, SIZE, SYCL_DEVICE_INFO_IMAGE3D_MAX_HEIGHT, 0},
	{CL_DEVICE_IMAGE3D_MAX_DEPTH, SIZE, SYCL_DEVICE_INFO_IMAGE3D_MAX_DEPTH, 0},
	{CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, SIZE, SYCL_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE, 0},
	{CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, SIZE, SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS, 0},
	{CL_DEVICE_IMAGE_PITCH_ALIGNMENT, UINT, SYCL_DEVICE_INFO_IMAGE_VIEW_PITCH_PIXELS, 0},
	{CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, UINT, SYCL_DEVICE_INFO_IMAGE_VIEW_BASE_PIXELS, 0},
	{CL_DEVICE_MAX_SAMPLERS, UINT, SYCL_DEVICE_INFO_MAX_SAMPLERS, 0},
};

/* Queries whose answer does not depend on the device, because the driver decides. */
static const struct fixed {
	cl_device_info what;
	bool wide; /* 8 bytes; otherwise 4 */
	cl_ulong number;
} fixed[] = {
	{CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, false, 128},
	{CL_DEVICE_EXECUTION_CAPABILITIES, true, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL},
	{CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, true,
	 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE},
	{CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, true, 0},
	{CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, false, 0},
	{CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, false, 0},
	{CL_DEVICE_MAX_ON_DEVICE_QUEUES, false, 0},
	{CL_DEVICE_MAX_ON_DEVICE_EVENTS, false, 0},
	{CL_DEVICE_MAX_PIPE_ARGS, false, 0},
	{CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, false, 0},
	{CL_DEVICE_PIPE_MAX_PACKET_SIZE, false, 0},
	{CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, false, 0},
	{CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, false, 0},
	{CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, false, 0},
	{CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, true, 0},
	{CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, true, 0},
	{CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, false, CL_FALSE},
	{CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, false, CL_FALSE},
	{CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, false, CL_FALSE},
	{CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, true, 0},
	{CL_DEVICE_PIPE_SUPPORT, false, CL_FALSE},
	{CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, true, 1},
	{CL_DEVICE_NUMERIC_VERSION, false, CL_MAKE_VERSION(3, 0, 0)},
	{CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, true,
	 CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR |
		 CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR},
	{CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, true, 0},
	{CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, false, CL_MAKE_VERSION(1, 2, 0)},
	{CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, true,
	 CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
	{CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, true,
	 CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
		 CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
};

/* Shared USM lies at one address in the program and in the engine, in the same pages. Memory that
 * the driver did not allocate is never shared. */
cl_device_svm_capabilities device_svm_capabilities(cl_device_id device)
{
	uint64_t aspects = 0;
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_ASPECTS, sizeof(aspects),
				   &aspects, NULL);
	if (!(aspects & UINT64_C(1) << SYCL_ASPECT_USM_SHARED_ALLOCATIONS))
		return 0;
	if (!(aspects & UINT64_C(1) << SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS))
		return CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
	return CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER |
	       CL_DEVICE_SVM_ATOMICS;
}

/* What the driver itself has for every device. */
static const cl_name_version own[] = {
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_create_command_queue"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
	{CL_MAKE_VERSION(0, 9, 0), "cl_khr_command_buffer"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_priority_hints"},
};

/* Extensions of a device that the driver passes on: those of the language alone. */
static const char *const passed[] = {
	"cl_khr_byte_addressable_store",
	"cl_khr_global_int32_base_atomics",
	"cl_khr_global_int32_extended_atomics",
	"cl_khr_local_int32_base_atomics",
	"cl_khr_local_int32_extended_atomics",
	"cl_khr_int64_base_atomics",
	"cl_khr_int64_extended_atomics",
	"cl_khr_fp64",
	"cl_khr_fp16",
	"cl_khr_3d_image_writes",
	"cl_khr_depth_images",
	"cl_khr_subgroups",
	"cl_khr_subgroup_extended_types",
	"cl_khr_subgroup_non_uniform_vote",
	"cl_khr_subgroup_ballot",
	"cl_khr_subgroup_non_uniform_arithmetic",
	"cl_khr_subgroup_shuffle",
	"cl_khr_subgroup_shuffle_relative",
	"cl_khr_subgroup_clustered_reduce",
	"cl_khr_expect_assume",
	"cl_khr_extended_bit_ops",
	"cl_nv_compiler_options",
	"cl_nv_pragma_unroll",
};
enum { OWN = sizeof(own) / sizeof(*own), PASSED = sizeof(passed) / sizeof(*passed) };

static bool is_passed(const char *word)
{
	for (size_t i = 0; i < PASSED; i++)
		if (strcmp(word, passed[i]) == 0)
			return true;
	return false;
}

/* The driver's own, and those of the device that it passes on. Each once. Returns how many. */
static size_t extensions_of(cl_device_id device, cl_name_version table[OWN + PASSED])
{
	char all[16384] = "", *rest = NULL;
	size_t count = OWN;
	memcpy(table, own, sizeof(own));
	if (sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_EXTENSIONS, sizeof(all), all,
				 NULL) != SYCL_SUCCESS)
		return count;
	for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (!is_passed(word) || count == OWN + PASSED)
			continue;
		table[count].version = CL_MAKE_VERSION(1, 0, 0);
		(void)snprintf(table[count].name, sizeof(table[count].name), "%s", word);
		count++;
	}
	return count;
}

static cl_int answer_extensions(cl_device_id device, bool versions, struct answer answer)
{
	cl_name_version table[OWN + PASSED];
	char text[sizeof(table)] = "";
	memset(table, 0, sizeof(table));
	size_t count = extensions_of(device, table);
	if (versions)
		return answer_bytes(answer, table, count * sizeof(*table));
	for (size_t i = 0; i < count; i++)
		text_append(text, sizeof(text), " ", table[i].name);
	return answer_text(answer, text);
}

static cl_int answer_row(cl_device_id device, const struct row *row, struct answer answer)
{
	union {
		uint32_t words[3];
		uint64_t longs[7];
		char text[16384];
	} facts;
	memset(&facts, 0, sizeof(facts.longs));
	facts.text[0] = 0;
	if (sycl_device_get_info(device->sycl, row->ours, sizeof(facts), &facts, NULL) !=
	    SYCL_SUCCESS)
		memset(&facts, 0, sizeof(facts.longs));
	switch (row->form) {
	case UINT:
		return answer_uint(answer, facts.words[0]);
	case ULONG:
		return answer_ulong(answer, facts.longs[0]);
	case SIZES:
		return answer_bytes(answer, device->max_items, sizeof(device->max_items));
	case WIDTH:
		return answer_uint(answer, (cl_uint)facts.longs[row->index]);
	case FP:
		return answer_ulong(answer, facts.words[row->index]);
	default:
		return answer_text(answer, facts.text);
	}
}

static cl_int answer_names(cl_device_info what, struct answer answer)
{
	static const cl_name_version c_versions[] = {
		{CL_MAKE_VERSION(1, 0, 0), "OpenCL C"},
		{CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
		{CL_MAKE_VERSION(1, 2, 0), "OpenCL C"},
		{CL_MAKE_VERSION(3, 0, 0), "OpenCL C"},
	};
	switch (what) {
	case CL_DEVICE_VERSION:
		return answer_text(answer, "OpenCL 3.0 sycld");
	case CL_DEVICE_OPENCL_C_VERSION:
		return answer_text(answer, "OpenCL C 1.2 sycld");
	case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
		return answer_bytes(answer, c_versions, sizeof(c_versions));
	case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
	case CL_DEVICE_BUILT_IN_KERNELS: /* the library runs none of the device's */
	case CL_DEVICE_IL_VERSION:
		return answer_text(answer, "");
	default: /* IL and built-in kernels with version, features of OpenCL C */
		return answer_bytes(answer, NULL, 0);
	}
}

static cl_int answer_division(cl_device_id device, cl_device_info what, struct answer answer)
{
	static const cl_device_partition_property theirs[] = {
		0, CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS,
		CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN};
	cl_device_partition_property list[8] = {0};
	cl_ulong domains = 0;
	uint32_t ours[8] = {0};
	size_t bytes = 0, count = 0;
	if (what == CL_DEVICE_PARTITION_TYPE)
		return answer_bytes(answer, device->partition, device->partition_bytes);
	if (what == CL_DEVICE_PARTITION_PROPERTIES) {
		(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_PARTITION_PROPERTIES,
					   sizeof(ours), ours, &bytes);
		for (size_t i = 0; i < bytes / sizeof(*ours); i++)
			if (ours[i] > 0 && ours[i] < 4)
				list[count++] = theirs[ours[i]];
		return answer_bytes(answer, list, (count ? count : 1) * sizeof(*list));
	}
	(void)sycl_device_get_info(device->sycl, SYCL_DEVICE_INFO_PARTITION_AFFINITY_DOMAINS,
				   sizeof(ours), ours, &bytes);
	for (size_t i = 0; i < bytes / sizeof(*ours); i++)
		if (ours[i] > 0 && ours[i] < 7)
			domains |= 1u << (ours[i] - 1);
	return answer_ulong(answer, domains);
}

cl_int device_info(cl_device_id device, cl_device_info what, struct answer answer)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].theirs == what)
			return answer_row(device, &rows[i], answer);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (fixed[i].what == what)
			return fixed[i].wide ? answer_ulong(answer, fixed[i].number)
					     : answer_uint(answer, (cl_uint)fixed[i].number);
	switch (what) {
	case CL_DEVICE_TYPE:
		return answer_ulong(answer, device->type);
	case CL_DEVICE_PLATFORM:
		return answer_handle(answer, device->platform);
	case CL_DEVICE_SVM_CAPABILITIES:
		return answer_ulong(answer, device_svm_capabilities(device));
	case CL_DEVICE_IMAGE_SUPPORT:
		return answer_uint(answer, image_device_has_any(device));
	case CL_DEVICE_PARENT_DEVICE:
		return answer_handle(answer, device->parent);
	case CL_DEVICE_REFERENCE_COUNT:
		return answer_uint(answer, device->parent ? object_references(&device->head) : 1);
	case CL_DEVICE_EXTENSIONS:
		return answer_extensions(device, false, answer);
	case CL_DEVICE_EXTENSIONS_WITH_VERSION:
		return answer_extensions(device, true, answer);
	case CL_DEVICE_PARTITION_PROPERTIES:
	case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
	case CL_DEVICE_PARTITION_TYPE:
		return answer_division(device, what, answer);
	case CL_DEVICE_VERSION:
	case CL_DEVICE_OPENCL_C_VERSION:
	case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
	case CL_DEVICE_OPENCL_C_FEATURES:
	case CL_DEVICE_ILS_WITH_VERSION:
	case CL_DEVICE_BUILT_IN_KERNELS:
	case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
	case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
	case CL_DEVICE_IL_VERSION:
		return answer_names(what, answer);
	default:
		return CL_INVALID_VALUE;
	}
}
