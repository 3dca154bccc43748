#include "opencl/device/platforms.h"

#include "opencl/program/build.h"
#include "opencl/device/facts.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/query.h"
#include "opencl/driver/signals.h"
#include "opencl/device/sub_device.h"
#include "status.h"
#include "vendor_environment.h"

void opencl_prepare(const struct backend_settings *settings)
{
	opencl_library_prepare(settings->cache_directory);
}

int opencl_open(const struct backend_settings *settings, struct backend **backend_out,
		struct backend_fault *fault_out)
{
	cl_uint count = 0;
	if (settings->options && settings->options[0]) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the OpenCL backend has no option \"%.100s\"",
				   settings->options[0]);
		return -EINVAL;
	}
	struct backend *backend = calloc(1, sizeof(*backend));
	if (!backend)
		return opencl_no_memory(fault_out, "the OpenCL backend");

	int error = opencl_library_open(settings->cache_directory, &backend->cl, fault_out);
	if (error < 0) {
		free(backend);
		return error;
	}
	/* Platforms are only counted: a query of devices would start threads of the driver. */
	if (backend->cl.GetPlatformIDs(0, NULL, &count) != CL_SUCCESS || count == 0) {
		opencl_fault_words(fault_out, STATUS_PLATFORM,
				   "the OpenCL library finds no driver");
		free(backend);
		return -ENODEV;
	}
	backend->facts_folder = vendor_cache_folder(settings->cache_directory, "opencl");
	*backend_out = backend;
	return 0;
}

static void free_facts(struct backend *backend)
{
	for (uint32_t i = 0; i < backend->platform_count; i++) {
		struct backend_platform_facts *platform = &backend->platforms[i];
		free(platform->name);
		free(platform->vendor);
		free(platform->version);
		free(platform->profile);
		free(platform->extensions);
	}
	for (uint32_t i = 0; i < backend->device_count; i++)
		opencl_device_facts_free(&backend->devices[i]);
	free(backend->platforms);
	free(backend->devices);
	free(backend->device_ids);
	backend->platforms = NULL;
	backend->devices = NULL;
	backend->device_ids = NULL;
	backend->platform_count = backend->device_count = 0;
}

void opencl_close(struct backend *backend)
{
	if (!backend)
		return;
	opencl_build_close(backend);
	opencl_sub_devices_close(backend);
	free_facts(backend);
	free(backend->facts_folder);
	free(backend);
}

/* Make room for `count` more devices. */
static int grow_devices(struct backend *backend, cl_uint count)
{
	size_t total = (size_t)backend->device_count + count;
	struct backend_device_facts *devices =
		reallocarray(backend->devices, total, sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	backend->devices = devices;
	cl_device_id *ids = reallocarray(backend->device_ids, total, sizeof(cl_device_id));
	if (!ids)
		return -ENOMEM;
	backend->device_ids = ids;
	return 0;
}

/* Adds the devices of one platform and of some types. A platform without devices is no error (A1),
 * but the code is kept for the topology. */
static int platform_add_devices(struct backend *backend, cl_platform_id platform_id,
				uint32_t platform, cl_device_type types)
{
	const struct opencl_library *cl = &backend->cl;
	cl_uint count = 0;

	cl_int code = cl->GetDeviceIDs(platform_id, types, 0, NULL, &count);
	if (types == CL_DEVICE_TYPE_ALL)
		backend->platforms[platform].no_devices_code = code;
	if (code != CL_SUCCESS || count == 0)
		return 0;
	int error = grow_devices(backend, count);
	if (error < 0)
		return error;
	cl_device_id *ids = backend->device_ids + backend->device_count;
	if (cl->GetDeviceIDs(platform_id, types, count, ids, NULL) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < count; i++) {
		struct backend_device_facts *facts = &backend->devices[backend->device_count];
		error = opencl_device_facts_fill(cl, ids[i], platform,
						 &backend->platforms[platform],
						 backend->facts_folder, facts);
		if (error < 0)
			return error;
		backend->device_count++;
	}
	return 0;
}

static int add_platform(struct backend *backend, cl_platform_id id)
{
	const struct opencl_library *cl = &backend->cl;
	uint32_t index = backend->platform_count;
	struct backend_platform_facts *facts = &backend->platforms[index];

	*facts = (struct backend_platform_facts){
		.kind = BACKEND_KIND_OPENCL,
		.available = true,
		.name = opencl_platform_text(cl, id, CL_PLATFORM_NAME),
		.vendor = opencl_platform_text(cl, id, CL_PLATFORM_VENDOR),
		.version = opencl_platform_text(cl, id, CL_PLATFORM_VERSION),
		.profile = opencl_platform_text(cl, id, CL_PLATFORM_PROFILE),
		.extensions = opencl_platform_text(cl, id, CL_PLATFORM_EXTENSIONS),
	};
	backend->platform_count++;
	if (!facts->name || !facts->vendor || !facts->version || !facts->profile ||
	    !facts->extensions)
		return -ENOMEM;
	int error = platform_add_devices(backend, id, index, CL_DEVICE_TYPE_ALL);
	if (error < 0)
		return error;
	/* ALL does not include custom devices. */
	return platform_add_devices(backend, id, index, CL_DEVICE_TYPE_CUSTOM);
}

static int opencl_add_platforms(struct backend *backend, cl_uint count,
				struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) cl_platform_id *ids = calloc(count, sizeof(cl_platform_id));
	backend->platforms = calloc(count, sizeof(*backend->platforms));
	if (!ids || !backend->platforms)
		return opencl_no_memory(fault_out, "the OpenCL backend");
	cl_int code = backend->cl.GetPlatformIDs(count, ids, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "list platforms");
	for (cl_uint i = 0; i < count; i++) {
		int error = add_platform(backend, ids[i]);
		if (error < 0) {
			opencl_fault_words(fault_out, status_from_errno(error),
					   "no memory for the facts of devices");
			return error;
		}
	}
	return 0;
}

static int enumerate_all(struct backend *backend, cl_uint count, struct backend_fault *fault_out)
{
	struct opencl_signals signals;

	opencl_signals_save(&signals);
	int error = opencl_add_platforms(backend, count, fault_out);
	opencl_signals_restore(&signals);
	return error;
}

int opencl_enumerate(struct backend *backend, struct backend_topology *topology_out,
		     struct backend_fault *fault_out)
{
	if (!backend->enumerated) {
		cl_uint count = 0;
		cl_int code = backend->cl.GetPlatformIDs(0, NULL, &count);
		if (code != CL_SUCCESS || count == 0)
			return opencl_fault_code(fault_out, code ? code : CL_PLATFORM_NOT_FOUND_KHR,
						 "list platforms");
		int error = enumerate_all(backend, count, fault_out);
		if (error < 0) {
			free_facts(backend);
			return error;
		}
		backend->enumerated = true;
	}
	*topology_out = (struct backend_topology){
		.platforms = backend->platforms,
		.platform_count = backend->platform_count,
		.devices = backend->devices,
		.device_count = backend->device_count,
	};
	return 0;
}
