#include "opencl/program/model.h"

#include "opencl/driver/aspects.h"
#include "opencl/driver/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Numbers of cl_khr_device_uuid, cl_khr_pci_bus_info and OpenCL 2.1: headers may be older. */
#define DEVICE_UUID                 0x106A
#define DEVICE_PCI_BUS_INFO         0x410F
#define DEVICE_MAX_NUM_SUB_GROUPS   0x105C
#define DEVICE_INDEPENDENT_PROGRESS 0x105D

uint32_t opencl_memory_orders(uint64_t capabilities)
{
	uint32_t orders = BACKEND_ORDER_RELAXED;

	if (capabilities & CL_DEVICE_ATOMIC_ORDER_ACQ_REL)
		orders |= BACKEND_ORDER_ACQUIRE | BACKEND_ORDER_RELEASE | BACKEND_ORDER_ACQ_REL;
	if (capabilities & CL_DEVICE_ATOMIC_ORDER_SEQ_CST)
		orders |= BACKEND_ORDER_SEQ_CST;
	return orders;
}

/* OpenCL has no scope of a sub-group in these bits; the work-group's scope includes it. */
uint32_t opencl_memory_scopes(uint64_t capabilities)
{
	uint32_t scopes =
		BACKEND_SCOPE_WORK_ITEM | BACKEND_SCOPE_SUB_GROUP | BACKEND_SCOPE_WORK_GROUP;

	if (capabilities & CL_DEVICE_ATOMIC_SCOPE_DEVICE)
		scopes |= BACKEND_SCOPE_DEVICE;
	if (capabilities & CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES)
		scopes |= BACKEND_SCOPE_DEVICE | BACKEND_SCOPE_SYSTEM;
	return scopes;
}

static void fill_orders(const struct opencl_library *cl, cl_device_id device,
			struct backend_device_facts *facts)
{
	uint64_t atomics = opencl_device_ulong(cl, device, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
	uint64_t fences = opencl_device_ulong(cl, device, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES);

	facts->atomic_order_bits = opencl_memory_orders(atomics);
	facts->atomic_scope_bits = opencl_memory_scopes(atomics);
	facts->fence_order_bits = opencl_memory_orders(fences);
	facts->fence_scope_bits = opencl_memory_scopes(fences);
}

static void fill_images(const struct opencl_library *cl, cl_device_id device,
			struct backend_device_facts *facts)
{
	static const cl_device_info sizes[] = {
		CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT,
		CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT,
		CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
	};

	if (!facts->image_support)
		return;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		facts->image_sizes[i] = opencl_device_size(cl, device, sizes[i]);
	facts->image_layered_sizes[0] = facts->image_sizes[0];
	facts->image_layered_sizes[1] = facts->image_sizes[1];
	facts->image_layered_sizes[2] =
		opencl_device_size(cl, device, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
	facts->max_read_image_args = opencl_device_uint(cl, device, CL_DEVICE_MAX_READ_IMAGE_ARGS);
	facts->max_write_image_args =
		opencl_device_uint(cl, device, CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
	facts->max_samplers = opencl_device_uint(cl, device, CL_DEVICE_MAX_SAMPLERS);
}

static void fill_few(const struct opencl_library *cl, cl_device_id device,
		     struct backend_device_facts *facts)
{
	facts->max_constant_args = opencl_device_uint(cl, device, CL_DEVICE_MAX_CONSTANT_ARGS);
	facts->global_mem_cache_type =
		opencl_device_uint(cl, device, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE);
	facts->local_mem_type = opencl_device_uint(cl, device, CL_DEVICE_LOCAL_MEM_TYPE);
	facts->execution_capabilities =
		(uint32_t)opencl_device_ulong(cl, device, CL_DEVICE_EXECUTION_CAPABILITIES);
	facts->max_sub_groups = opencl_device_uint(cl, device, DEVICE_MAX_NUM_SUB_GROUPS);
	facts->independent_progress =
		opencl_device_uint(cl, device, DEVICE_INDEPENDENT_PROGRESS) != 0;
}

static bool sub_group_sizes(const struct opencl_library *cl, cl_device_id device, size_t *sizes,
			    size_t most, size_t *count_out)
{
	size_t bytes = 0;

	/* If the list has no room for all sizes, the driver reports an error, and PoCL 5.0 has ten
	 * sizes. */
	if (cl->GetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, 0, NULL, &bytes) !=
		    CL_SUCCESS ||
	    bytes > most * sizeof(*sizes) ||
	    cl->GetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, bytes, sizes, NULL) !=
		    CL_SUCCESS)
		return false;
	*count_out = bytes / sizeof(*sizes);
	return true;
}

void opencl_sub_groups_fill(const struct opencl_library *cl, cl_device_id device,
			    struct backend_device_facts *facts)
{
	enum { ROOM = sizeof(facts->sub_group_sizes) / sizeof(*facts->sub_group_sizes) };
	size_t sizes[64], count = 0;

	/* Since OpenCL 3.0 they are a feature of the language, and some drivers no longer name the
	 * extension: Intel's names its own. */
	const bool has_functions = opencl_has_extension(facts->extensions, "cl_khr_subgroups") ||
				   opencl_has_extension(facts->extensions, "cl_intel_subgroups");
	facts->sub_group_size_count = 0;
	if (has_functions &&
	    opencl_has_extension(facts->extensions, "cl_intel_required_subgroup_size") &&
	    facts->max_sub_groups > 0)
		(void)sub_group_sizes(cl, device, sizes, sizeof(sizes) / sizeof(*sizes), &count);
	for (size_t i = 0; i < count && i < ROOM; i++)
		if (sizes[i] > 0 && sizes[i] <= UINT32_MAX)
			facts->sub_group_sizes[facts->sub_group_size_count++] = (uint32_t)sizes[i];
	if (facts->sub_group_size_count > 0)
		return;
	facts->max_sub_groups = 0;
	facts->independent_progress = false;
}

static int model_fill_identity(const struct opencl_library *cl, cl_device_id device,
			       struct backend_device_facts *facts)
{
	struct {
		cl_uint domain, bus, device, function;
	} place = {0};

	if (opencl_has_extension(facts->extensions, "cl_khr_device_uuid") &&
	    cl->GetDeviceInfo(device, DEVICE_UUID, sizeof(facts->uuid), facts->uuid, NULL) !=
		    CL_SUCCESS)
		memset(facts->uuid, 0, sizeof(facts->uuid));
	if (!opencl_has_extension(facts->extensions, "cl_khr_pci_bus_info") ||
	    cl->GetDeviceInfo(device, DEVICE_PCI_BUS_INFO, sizeof(place), &place, NULL) !=
		    CL_SUCCESS)
		return 0;
	/* The form is that of the CUDA driver, so that the same GPU has the same text. */
	if (asprintf(&facts->bus_id, "%04X:%02X:%02X.%X", place.domain, place.bus, place.device,
		     place.function) < 0) {
		facts->bus_id = NULL;
		return -ENOMEM;
	}
	return 0;
}

int opencl_model_fill(const struct opencl_library *cl, cl_device_id device,
		      struct backend_device_facts *facts)
{
	fill_orders(cl, device, facts);
	fill_images(cl, device, facts);
	fill_few(cl, device, facts);
	return model_fill_identity(cl, device, facts);
}
