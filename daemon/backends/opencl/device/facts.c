#include "opencl/device/facts.h"

#include "opencl/driver/aspects.h"
#include "opencl/driver/pocl.h"
#include "opencl/lane/command_buffer.h"
#include "opencl/memory/image.h"
#include "opencl/memory/image_list.h"
#include "opencl/program/model.h"
#include "opencl/driver/query.h"
#include "opencl/device/sub_device.h"
#include "opencl/memory/usm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* proto's DeviceType. */
enum device_type { DEVICE_CPU = 1, DEVICE_GPU = 2, DEVICE_ACCELERATOR = 3, DEVICE_CUSTOM = 4 };

static enum device_type device_type(uint64_t type)
{
	if (type & CL_DEVICE_TYPE_CPU)
		return DEVICE_CPU;
	if (type & CL_DEVICE_TYPE_GPU)
		return DEVICE_GPU;
	if (type & CL_DEVICE_TYPE_ACCELERATOR)
		return DEVICE_ACCELERATOR;
	return DEVICE_CUSTOM;
}

/* Queries about languages beside OpenCL C. The IL version is unknown to devices before 2.1, or
 * empty. */
static uint32_t build_features(const struct opencl_library *cl, cl_device_id device,
			       char **il_version_out)
{
	uint32_t features = 0;
	char *il = opencl_device_text(cl, device, CL_DEVICE_IL_VERSION);

	if (opencl_device_uint(cl, device, CL_DEVICE_COMPILER_AVAILABLE) &&
	    opencl_device_uint(cl, device, CL_DEVICE_LINKER_AVAILABLE))
		features |= BACKEND_FEATURE_LINK;
	if (il && strstr(il, "SPIR-V") && cl->CreateProgramWithIL) {
		features |= BACKEND_FEATURE_SPIRV;
		*il_version_out = il;
	} else {
		free(il);
	}
	return features;
}

/* True for PoCL's devices with threads of their own, where a call only puts a command into a list.
 * Other devices of PoCL run the command in the call, and what other drivers do is not known. */
static bool device_only_enqueues(const struct backend_device_facts *facts)
{
	return strncmp(facts->name, "pthread", 7) == 0 ||
	       (strncmp(facts->name, "cpu", 3) == 0 &&
		strncmp(facts->name, "cpu-minimal", 11) != 0);
}

static uint64_t device_aspects(const struct opencl_library *cl, cl_device_id device,
			       const struct backend_device_facts *facts)
{
	static const enum opencl_aspect by_type[] = {
		[DEVICE_CPU] = OPENCL_ASPECT_CPU,
		[DEVICE_GPU] = OPENCL_ASPECT_GPU,
		[DEVICE_ACCELERATOR] = OPENCL_ASPECT_ACCELERATOR,
		[DEVICE_CUSTOM] = OPENCL_ASPECT_CUSTOM,
	};
	uint64_t bits = opencl_extension_aspects(facts->extensions) | 1ull << by_type[facts->type];

	/* A core feature since OpenCL 1.2, and then reported without the extension. */
	if (facts->fp_config[2])
		bits |= 1ull << OPENCL_ASPECT_FP64;
	if (facts->image_formats)
		bits |= 1ull << OPENCL_ASPECT_IMAGE;
	if (opencl_device_uint(cl, device, CL_DEVICE_COMPILER_AVAILABLE))
		bits |= 1ull << OPENCL_ASPECT_ONLINE_COMPILER;
	if (opencl_device_uint(cl, device, CL_DEVICE_LINKER_AVAILABLE))
		bits |= 1ull << OPENCL_ASPECT_ONLINE_LINKER;
	if (opencl_device_ulong(cl, device, CL_DEVICE_QUEUE_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE)
		bits |= 1ull << OPENCL_ASPECT_QUEUE_PROFILING;
	return bits;
}

static void fill_limits(const struct opencl_library *cl, cl_device_id device,
			struct backend_device_facts *facts)
{
	size_t sizes[16] = {0};

	facts->max_compute_units = opencl_device_uint(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
	facts->max_work_item_dimensions =
		opencl_device_uint(cl, device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
	facts->max_clock_frequency_mhz =
		opencl_device_uint(cl, device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
	facts->address_bits = opencl_device_uint(cl, device, CL_DEVICE_ADDRESS_BITS);
	(void)cl->GetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL);
	for (int i = 0; i < 3; i++)
		facts->max_work_item_sizes[i] = sizes[2 - i];
	facts->max_work_group_size = opencl_device_size(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	facts->max_mem_alloc_bytes = opencl_device_ulong(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
	facts->global_mem_bytes = opencl_device_ulong(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE);
	facts->global_mem_cache_bytes =
		opencl_device_ulong(cl, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
	facts->global_mem_cache_line_bytes =
		opencl_device_uint(cl, device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
	facts->local_mem_bytes = opencl_device_ulong(cl, device, CL_DEVICE_LOCAL_MEM_SIZE);
	facts->max_constant_buffer_bytes =
		opencl_device_ulong(cl, device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
	facts->mem_base_addr_align_bits =
		opencl_device_uint(cl, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
	facts->max_parameter_bytes = opencl_device_size(cl, device, CL_DEVICE_MAX_PARAMETER_SIZE);
	facts->profiling_timer_resolution_ns =
		opencl_device_size(cl, device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
	facts->printf_buffer_bytes = opencl_device_size(cl, device, CL_DEVICE_PRINTF_BUFFER_SIZE);
	opencl_partition_fill(cl, device, facts);
}

static void fill_widths(const struct opencl_library *cl, cl_device_id device,
			struct backend_device_facts *facts)
{
	static const cl_device_info preferred[] = {
		CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR,  CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
		CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT,   CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
		CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
		CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF,
	};
	static const cl_device_info native[] = {
		CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR,  CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
		CL_DEVICE_NATIVE_VECTOR_WIDTH_INT,   CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
		CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE,
		CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
	};
	static const cl_device_info floats[] = {
		CL_DEVICE_HALF_FP_CONFIG, CL_DEVICE_SINGLE_FP_CONFIG, CL_DEVICE_DOUBLE_FP_CONFIG};

	for (int i = 0; i < 7; i++) {
		facts->preferred_vector_widths[i] = opencl_device_uint(cl, device, preferred[i]);
		facts->native_vector_widths[i] = opencl_device_uint(cl, device, native[i]);
	}
	for (int i = 0; i < 3; i++)
		facts->fp_config[i] = (uint32_t)opencl_device_ulong(cl, device, floats[i]);
}

/*
 * The key is the same for the same device and driver in every process, and for two equal devices.
 * So it has no index, and no fact that changes while the machine runs. The platform's version names
 * PoCL's compiler, the device's version its target.
 */
/* PoCL runs a linker for each kernel and work-group size. It needs none if its environment forbids
 * such kernels, because PoCL 3 then needs only what the build helper has built. Later versions were
 * not tried. What drivers of others do is not known. */
static bool pocl_starts_nothing(const char *version)
{
	const char *sizes = getenv("POCL_WORK_GROUP_SPECIALIZATION");
	return version && strstr(version, "PoCL 3.") &&
	       (opencl_pocl_links_elsewhere() || (sizes && !strcmp(sizes, "0")));
}

static char *device_make_key(const struct backend_platform_facts *platform,
			     const char *device_version, const struct backend_device_facts *facts)
{
	char *key = NULL;

	if (asprintf(&key, "%s|%s|%s|%s|%s", platform->name, platform->version, facts->name,
		     device_version, facts->driver_version) < 0)
		return NULL;
	return key;
}

static int opencl_fill_texts(const struct opencl_library *cl, cl_device_id device,
			     const struct backend_platform_facts *platform,
			     struct backend_device_facts *facts)
{
	char version[64];
	char *full_version = opencl_device_text(cl, device, CL_DEVICE_VERSION);

	facts->name = opencl_device_text(cl, device, CL_DEVICE_NAME);
	facts->vendor = opencl_device_text(cl, device, CL_DEVICE_VENDOR);
	facts->driver_version = opencl_device_text(cl, device, CL_DRIVER_VERSION);
	facts->extensions = opencl_device_text(cl, device, CL_DEVICE_EXTENSIONS);
	facts->builtin_kernels = opencl_device_text(cl, device, CL_DEVICE_BUILT_IN_KERNELS);
	if (full_version && facts->name && facts->driver_version) {
		opencl_version(full_version, platform->version, version, sizeof(version));
		facts->version = strdup(version);
		facts->key = device_make_key(platform, full_version, facts);
	}
	free(full_version);
	return facts->vendor && facts->extensions && facts->builtin_kernels && facts->version &&
			       facts->key
		       ? 0
		       : -ENOMEM;
}

int opencl_device_facts_fill(const struct opencl_library *cl, cl_device_id device,
			     uint32_t platform, const struct backend_platform_facts *platform_facts,
			     const char *folder, struct backend_device_facts *facts_out)
{
	struct backend_device_facts facts = {
		.platform = platform,
		.type = device_type(opencl_device_ulong(cl, device, CL_DEVICE_TYPE)),
		.vendor_id = opencl_device_uint(cl, device, CL_DEVICE_VENDOR_ID),
		.little_endian = opencl_device_uint(cl, device, CL_DEVICE_ENDIAN_LITTLE) != 0,
		.image_support = opencl_device_uint(cl, device, CL_DEVICE_IMAGE_SUPPORT) != 0,
		.error_correction =
			opencl_device_uint(cl, device, CL_DEVICE_ERROR_CORRECTION_SUPPORT) != 0,
		.available = opencl_device_uint(cl, device, CL_DEVICE_AVAILABLE) != 0,
	};

	int error = opencl_fill_texts(cl, device, platform_facts, &facts);
	if (error == 0)
		error = opencl_model_fill(cl, device, &facts);
	if (error < 0) {
		opencl_device_facts_free(&facts);
		*facts_out = (struct backend_device_facts){0};
		return error;
	}
	/* A GPU that shares the host's memory may still copy memory given by CL_MEM_USE_HOST_PTR. A
	 * CPU does not copy it. */
	facts.host_unified_memory =
		facts.type == DEVICE_CPU &&
		opencl_device_uint(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
	fill_limits(cl, device, &facts);
	fill_widths(cl, device, &facts);
	opencl_sub_groups_fill(cl, device, &facts);
	facts.image_formats = opencl_image_formats(cl, device, &facts);
	if (facts.image_formats != 0) {
		opencl_image_list_fill(cl, device, folder, &facts);
		facts.features |= BACKEND_FEATURE_IMAGE;
	}
	facts.features |= build_features(cl, device, &facts.il_version) | BACKEND_FEATURE_NATIVE;
	facts.aspects = device_aspects(cl, device, &facts);
	/* PoCL's kernels run on threads of this process, though PoCL does not report that they
	 * reach any memory. */
	bool is_pocl = strcmp(platform_facts->name, "Portable Computing Language") == 0;
	bool runs_here = facts.host_unified_memory && is_pocl;
	facts.needs_no_processes = strcmp(platform_facts->name, "NVIDIA CUDA") == 0 ||
				   (is_pocl && pocl_starts_nothing(platform_facts->version));
	if (is_pocl && device_only_enqueues(&facts))
		facts.features |= BACKEND_FEATURE_INLINE;
	opencl_usm_facts(cl, device, runs_here, &facts);
	opencl_command_buffer_facts(cl, device, &facts);
	*facts_out = facts;
	return 0;
}

void opencl_device_facts_free(struct backend_device_facts *facts)
{
	free(facts->name);
	free(facts->vendor);
	free(facts->version);
	free(facts->driver_version);
	free(facts->extensions);
	free(facts->builtin_kernels);
	free(facts->il_version);
	free(facts->key);
	free(facts->bus_id);
}
