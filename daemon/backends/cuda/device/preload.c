/*
 * Ahead of any user: the driver is started and primary contexts are made, which are most of what
 * opening a device takes. They belong to the process, so a later opening of the device in it finds
 * its context there. Kept until the process ends.
 */
#include "cuda/device/ahead.h"
#include "cuda/device/device.h"
#include "cuda/driver/environment.h"
#include "cuda/driver/settings.h"
#include "status.h"

#include "cleanup.h"

#include <string.h>

/* A single thread calls this, before any other of the backend's entries. */
static struct backend *ahead;
static CUcontext contexts[CUDA_AHEAD_DEVICES_MAX];

/* Starts the driver. cuda_open is not called, as it would look for a cache folder now. */
static int preload_start_driver(const struct backend_settings *settings, struct backend *backend,
				struct backend_fault *fault_out)
{
	int error = cuda_settings_read(settings->options, &backend->settings, fault_out);

	if (error < 0)
		return error;
	if (settings->for_another_user)
		cuda_environment_prepare_early(settings->cache_directory,
					       backend->settings.connections);
	else
		cuda_environment_prepare(settings->cache_directory, backend->settings.connections);
	error = cuda_library_open(backend->settings.library, &backend->library, fault_out);
	return error < 0 ? error : cuda_facts_read(backend, fault_out);
}

static int preload_start(const struct backend_settings *settings, struct backend **backend_out,
			 struct backend_fault *fault_out)
{
	struct backend *backend = calloc(1, sizeof(*backend));

	if (!backend)
		return cuda_no_memory(fault_out, "the CUDA backend");
	(void)pthread_mutex_init(&backend->lock, NULL);
	int error = preload_start_driver(settings, backend, fault_out);
	if (error < 0) {
		cuda_close(backend);
		return error;
	}
	*backend_out = backend;
	return 0;
}

/* Checks that the GPU was not removed and has not failed: the driver reads this number from it. */
static int preload_check_context(const struct backend *backend, uint32_t index,
				 struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &backend->library;
	size_t free_bytes = 0, total_bytes = 0;

	CUresult result = cu->cuCtxSetCurrent(contexts[index]);
	if (result == CUDA_SUCCESS)
		result = cu->cuMemGetInfo(&free_bytes, &total_bytes);
	(void)cu->cuCtxSetCurrent(NULL);
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(NULL, cu, result, fault_out, "GPU %u does not respond", index);
}

static bool preload_is_possible(const struct backend *backend, uint32_t index)
{
	return index < backend->topology.device_count &&
	       backend->topology.devices[index].available &&
	       (backend->topology.devices[index].features & BACKEND_FEATURE_PRELOAD);
}

/* -EOPNOTSUPP: there is no such device, or nothing can be prepared for it. */
static int hold_context(const struct backend *backend, uint32_t index,
			struct backend_fault *fault_out)
{
	const char *what = "";

	if (contexts[index])
		return preload_check_context(backend, index, fault_out);
	if (!preload_is_possible(backend, index))
		return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
					"GPU %u cannot be prepared ahead", index);
	const struct cuda_library *cu = &backend->library;
	CUresult result =
		cuda_context_retain(cu, backend->devices[index].device, &contexts[index], &what);
	if (result != CUDA_SUCCESS)
		return cuda_fault(NULL, cu, result, fault_out, "%s", what);
	if (cu->cuCtxSetCurrent(contexts[index]) == CUDA_SUCCESS)
		cuda_ahead_prepare(backend, index, contexts[index]);
	(void)cu->cuCtxSetCurrent(NULL);
	return 0;
}

/*
 * If a GPU has no memory for a context, the others are prepared all the same. If a prepared GPU
 * does not respond any more, or a result is sticky, the preparation fails: this process is of no
 * use.
 */
static int hold_contexts(const struct backend *backend, uint64_t devices,
			 struct backend_fault *fault_out)
{
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	int first_error = 0;
	bool is_any = devices == 0;

	for (uint32_t i = 0; i < CUDA_AHEAD_DEVICES_MAX; i++) {
		if (!(devices >> i & 1))
			continue;
		int error = hold_context(backend, i, &fault);
		is_any |= error == 0;
		if (error == 0)
			continue;
		if (first_error == 0 || first_error == -EOPNOTSUPP || contexts[i] ||
		    fault.process_lost) {
			first_error = error;
			*fault_out = fault;
		}
		if (contexts[i] || fault.process_lost)
			return error;
	}
	return is_any ? 0 : first_error;
}

int cuda_preload(const struct backend_settings *settings, uint64_t devices,
		 struct backend_fault *fault_out)
{
	int error = ahead ? 0 : preload_start(settings, &ahead, fault_out);

	return error < 0 ? error : hold_contexts(ahead, devices, fault_out);
}
