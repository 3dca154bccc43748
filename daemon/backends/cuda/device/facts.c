/*
 * The platform, its devices and their facts. Queries only attributes of the driver: no context is
 * made (A17), so a listing costs no memory on any GPU.
 */
#include "cuda/device/attributes.h"
#include "cuda/device/device.h"
#include "cuda/lane/partition.h"
#include "cuda/memory/release.h"
#include "cuda/translate/tools.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 256

/* Describes for operators what is unusual about the device. For a MIG instance the driver's name
 * ends in "MIG 1g.18gb". */
static int make_mode(const char *name, const struct cuda_device_facts *facts, char **mode_out)
{
	const char *mig = strstr(name, " MIG ");
	const char *exclusive = facts->compute_mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS
					? "exclusive process"
				: facts->compute_mode == CU_COMPUTEMODE_PROHIBITED ? "prohibited"
										   : "";
	const char *parts[] = {mig ? mig + 1 : "", facts->mps ? "MPS client" : "", exclusive};
	char text[NAME_BYTES] = "";
	size_t length = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!*parts[i])
			continue;
		int more = snprintf(text + length, sizeof(text) - length, "%s%s",
				    length ? ", " : "", parts[i]);
		length += (size_t)more < sizeof(text) - length ? (size_t)more : 0;
	}
	char *mode = length ? strdup(text) : NULL;
	if (length && !mode)
		return -ENOMEM;
	*mode_out = mode;
	return 0;
}

/* Why the device cannot be used; NULL: it can. */
static const char *device_unusable_reason(const struct cuda_device_facts *facts)
{
	if (facts->compute_mode == CU_COMPUTEMODE_PROHIBITED)
		return "its compute mode is prohibited: no process may use it (nvidia-smi --compute-mode=0 allows it "
		       "again)";
	/* In exclusive mode the one process is the server of MPS, if that runs. */
	if (facts->compute_mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS && !facts->mps)
		return "its compute mode is exclusive: one process alone may use it, but the service has one for each "
		       "user, "
		       "and users have their own (nvidia-smi --compute-mode=0 allows more, and so does MPS)";
	if (!facts->unified_addressing)
		return "it has no address space in common with the host";
	if (facts->warp_size <= 0 || facts->max_block_threads <= 0 || facts->multiprocessors <= 0)
		return "its driver does not report its limits";
	return NULL;
}

/*
 * The key has what a build depends on: the architecture and the driver. Two equal GPUs share
 * builds, and the build helper takes the first of them.
 */
static int cuda_fill_texts(const struct cuda_library *cuda, const struct cuda_device_facts *from,
			   const char *name, const char *driver, struct backend_device_facts *facts)
{
	const char *reason = device_unusable_reason(from);
	char bus_id[32] = "", version[32];

	(void)snprintf(version, sizeof(version), "%d.%d", from->compute_major, from->compute_minor);
	facts->name = strdup(name);
	facts->vendor = strdup("NVIDIA Corporation");
	facts->version = strdup(version);
	facts->driver_version = strdup(driver);
	facts->extensions = strdup("");
	facts->builtin_kernels = strdup(""); /* CUDA has none (A28) */
	facts->unavailable_reason = reason ? strdup(reason) : NULL;
	facts->available = !reason;
	if (cuda->cuDeviceGetPCIBusId(bus_id, sizeof(bus_id), from->device) == CUDA_SUCCESS &&
	    *bus_id)
		facts->bus_id = strdup(bus_id);
	if (asprintf(&facts->key, "cuda|sm_%d%d|%s", from->compute_major, from->compute_minor,
		     driver) < 0)
		facts->key = NULL;
	if (!facts->name || !facts->vendor || !facts->version || !facts->driver_version ||
	    !facts->extensions || !facts->builtin_kernels || !facts->key ||
	    (reason && !facts->unavailable_reason) || (*bus_id && !facts->bus_id))
		return -ENOMEM;
	return make_mode(name, from, &facts->mode);
}

/* SPIR-V is translated, where the programs for that are installed. With the option "clang" it is
 * taken for granted: all that is needed may be in the cache. */
static int fill_il(const struct backend *backend, const struct cuda_device_facts *own,
		   struct backend_device_facts *facts)
{
	struct cuda_tools tools;
	struct backend_fault fault;

	if (!backend->settings.clang &&
	    cuda_tools_find(NULL, own->compute_major * 10 + own->compute_minor, true, &tools,
			    &fault) < 0)
		return 0;
	facts->features |= BACKEND_FEATURE_SPIRV;
	facts->il_version = strdup("SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4");
	return facts->il_version ? 0 : -ENOMEM;
}

static void free_device(struct backend_device_facts *facts)
{
	free(facts->il_version);
	free(facts->name);
	free(facts->vendor);
	free(facts->version);
	free(facts->driver_version);
	free(facts->extensions);
	free(facts->builtin_kernels);
	free(facts->key);
	free(facts->unavailable_reason);
	free(facts->bus_id);
	free(facts->mode);
}

/* An option that this device cannot follow is not passed over: it is given as the reason for which
 * the device is not available. */
static int check_partition(const struct backend *backend, const struct cuda_device_facts *own,
			   struct backend_device_facts *facts)
{
	char why[BACKEND_TEXT_BYTES];

	if (!facts->available || !cuda_partition_refuses(backend, own, why))
		return 0;
	facts->available = false;
	facts->unavailable_reason = strdup(why);
	return facts->unavailable_reason ? 0 : -ENOMEM;
}

/* Device number `ordinal` of the driver (A6). */
static int read_device(struct backend *backend, int ordinal, const char *driver,
		       struct cuda_device_facts *own_out, struct backend_device_facts *facts_out,
		       struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &backend->library;
	struct cuda_device_facts own = {0};
	struct backend_device_facts facts = {0};
	char name[NAME_BYTES] = "";
	size_t memory_bytes = 0;

	CUresult result = cuda->cuDeviceGet(&own.device, ordinal);
	if (result == CUDA_SUCCESS)
		result = cuda->cuDeviceGetName(name, sizeof(name), own.device);
	if (result == CUDA_SUCCESS)
		result = cuda->cuDeviceGetUuid(&own.uuid, own.device);
	if (result == CUDA_SUCCESS)
		result = cuda->cuDeviceTotalMem(&memory_bytes, own.device);
	if (result != CUDA_SUCCESS)
		return cuda_fault(NULL, cuda, result, fault_out,
				  "cannot query the properties of GPU %d", ordinal);
	cuda_attributes_read(cuda, &own);
	cuda_attributes_fill(cuda, &own, memory_bytes, &facts);
	/* From this capability on there are enough priorities. */
	if (backend->settings.best_effort_beside && own.compute_major >= 7)
		facts.features |= BACKEND_FEATURE_BESIDE;
	facts.preferred_lanes = backend->settings.lanes;
	facts.lane_copy_bytes =
		backend->settings.chain_length > 0 ? backend->settings.copy_kernel_bytes : 0;
	/* The driver executes nvidia-modprobe where a device file is absent: before it has opened a
	 * device. */
	facts.needs_no_processes = true;
	memcpy(facts.uuid, own.uuid.bytes, sizeof(facts.uuid));
	if (cuda_fill_texts(cuda, &own, name, driver, &facts) < 0 ||
	    fill_il(backend, &own, &facts) < 0 || check_partition(backend, &own, &facts) < 0) {
		free_device(&facts);
		return cuda_no_memory(fault_out, "the facts of devices");
	}
	*own_out = own;
	*facts_out = facts;
	return 0;
}

static void free_platform(struct backend_platform_facts *platform)
{
	free(platform->name);
	free(platform->vendor);
	free(platform->version);
	free(platform->profile);
	free(platform->extensions);
	free(platform);
}

static struct backend_platform_facts *make_platform(int driver_version)
{
	struct backend_platform_facts *platform = calloc(1, sizeof(*platform));

	if (!platform)
		return NULL;
	*platform = (struct backend_platform_facts){
		.kind = BACKEND_KIND_CUDA,
		.available = true,
		.name = strdup("NVIDIA CUDA"),
		.vendor = strdup("NVIDIA Corporation"),
		.profile = strdup("FULL_PROFILE"),
		.extensions = strdup(""),
	};
	if (asprintf(&platform->version, "CUDA %d.%d", driver_version / 1000,
		     driver_version % 1000 / 10) < 0)
		platform->version = NULL;
	if (!platform->name || !platform->vendor || !platform->version || !platform->profile ||
	    !platform->extensions) {
		free_platform(platform);
		return NULL;
	}
	return platform;
}

/* Start the driver. Errors here are for the administrator of the machine. */
static int cuda_start_driver(const struct cuda_library *cuda, int *count_out,
			     struct backend_fault *fault_out)
{
	CUresult result = cuda->cuInit(0);

	if (result == CUDA_SUCCESS)
		result = cuda->cuDeviceGetCount(count_out);
	if (result == CUDA_SUCCESS && *count_out > 0)
		return 0;
	if (result == CUDA_SUCCESS)
		result = CUDA_ERROR_NO_DEVICE;
	if (result != CUDA_ERROR_OPERATING_SYSTEM && result != CUDA_ERROR_UNKNOWN)
		return cuda_fault(NULL, cuda, result, fault_out,
				  "the NVIDIA driver does not start");
	struct backend_fault fault = {.status = STATUS_PLATFORM};
	(void)cuda_fault(NULL, cuda, result, &fault, "the NVIDIA driver does not start");
	fault.status = STATUS_PLATFORM;
	(void)snprintf(
		fault.text, sizeof(fault.text),
		"the NVIDIA driver does not start (%d): are its device files (/dev/nvidia*, /dev/nvidia-uvm) there, "
		"and may this user open them?",
		(int)result);
	if (fault_out)
		*fault_out = fault;
	return -ENODEV;
}

int cuda_facts_read(struct backend *backend, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &backend->library;
	char driver[CUDA_RELEASE_BYTES];
	int count = 0;
	int error = cuda_start_driver(cuda, &count, fault_out);

	if (error < 0)
		return error;
	cuda_release(CUDA_RELEASE_ROOT, cuda->driver_version, driver);
	CLEANUP(free_pointer)
	struct cuda_device_facts *own = calloc((size_t)count + 1, sizeof(*own));
	CLEANUP(free_pointer)
	struct backend_device_facts *facts = calloc((size_t)count + 1, sizeof(*facts));
	struct backend_platform_facts *platform = make_platform(cuda->driver_version);
	uint32_t done = 0;
	if (!own || !facts || !platform) {
		(void)cuda_no_memory(fault_out, "the facts of devices");
		error = -ENOMEM;
	}
	while (error == 0 && done < (uint32_t)count) {
		error = read_device(backend, (int)done, driver, &own[done], &facts[done],
				    fault_out);
		done += error == 0;
	}
	if (error < 0) {
		while (done > 0)
			free_device(&facts[--done]);
		if (platform)
			free_platform(platform);
		return error;
	}
	backend->topology = (struct backend_topology){.platforms = platform,
						      .platform_count = 1,
						      .devices = TAKE(facts),
						      .device_count = done};
	backend->devices = TAKE(own);
	return 0;
}

void cuda_facts_free(struct backend *backend)
{
	struct backend_device_facts *devices =
		(struct backend_device_facts *)(uintptr_t)backend->topology.devices;

	for (uint32_t i = 0; i < backend->topology.device_count; i++)
		free_device(&devices[i]);
	if (backend->topology.platforms)
		free_platform(
			(struct backend_platform_facts *)(uintptr_t)backend->topology.platforms);
	free(devices);
	free(backend->devices);
	backend->devices = NULL;
	backend->topology = (struct backend_topology){.platforms = NULL};
}
