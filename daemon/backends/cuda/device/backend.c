/* The table of this backend, and its beginning and end. */
#include "cuda/driver/entries.h"
#include "cuda/driver/environment.h"
#include "cuda/driver/settings.h"
#include "status.h"

#include "cleanup.h"

#include <string.h>

static int no_memory(struct backend_fault *fault_out)
{
	return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION,
				"no memory for the CUDA backend");
}

void cuda_prepare(const struct backend_settings *settings)
{
	struct cuda_settings read;
	struct backend_fault told_by_open;

	if (cuda_settings_read(settings->options, &read, &told_by_open) < 0)
		return;
	cuda_environment_prepare(settings->cache_directory, read.connections);
	cuda_settings_free(&read);
}

int cuda_open(const struct backend_settings *settings, struct backend **backend_out,
	      struct backend_fault *fault_out)
{
	struct backend *backend = calloc(1, sizeof(*backend));

	if (!backend)
		return no_memory(fault_out);
	(void)pthread_mutex_init(&backend->lock, NULL);
	if (settings->cache_directory)
		backend->cache_directory = strdup(settings->cache_directory);
	int error =
		settings->cache_directory && !backend->cache_directory ? no_memory(fault_out) : 0;
	if (error == 0)
		error = cuda_settings_read(settings->options, &backend->settings, fault_out);
	if (error == 0) {
		cuda_environment_prepare(backend->cache_directory, backend->settings.connections);
		error = cuda_library_open(backend->settings.library, &backend->library, fault_out);
	}
	if (error < 0) {
		cuda_close(backend);
		return error;
	}
	backend->driver_version = backend->library.driver_version;
	*backend_out = backend;
	return 0;
}

void cuda_close(struct backend *backend)
{
	if (!backend)
		return;
	cuda_facts_free(backend);
	free(backend->open_devices);
	cuda_settings_free(&backend->settings);
	free(backend->cache_directory);
	(void)pthread_mutex_destroy(&backend->lock);
	free(backend);
}

int cuda_enumerate(struct backend *backend, struct backend_topology *topology_out,
		   struct backend_fault *fault_out)
{
	if (!backend->open_devices) {
		int error = cuda_facts_read(backend, fault_out);
		if (error < 0)
			return error;
		uint32_t count = backend->topology.device_count;
		backend->open_devices = calloc(count ? count : 1, sizeof(struct backend_device *));
		if (!backend->open_devices) {
			cuda_facts_free(backend);
			return no_memory(fault_out);
		}
	}
	*topology_out = backend->topology;
	return 0;
}

const struct backend_ops backend_cuda_ops = {
	.version = BACKEND_OPS_VERSION,
	.kind = BACKEND_KIND_CUDA,
	.name = "cuda",
	.binary_format = CUDA_BINARY_FORMAT,
	.prepare = cuda_prepare,
	.preload = cuda_preload,
	.open = cuda_open,
	.close = cuda_close,
	.enumerate = cuda_enumerate,
	.build = cuda_build,
	.compile = cuda_compile_object,
	.link = cuda_link,
	.device_open = cuda_device_open,
	.device_close = cuda_device_close,
	.lane_create = cuda_lane_create,
	.lane_free = cuda_lane_free,
	.memory_create = cuda_memory_create,
	.memory_free = cuda_memory_free,
	.image_create = cuda_image_create,
	.memory_export = cuda_memory_export,
	.memory_import = cuda_memory_import,
	.host_register = cuda_host_register,
	.host_unregister = cuda_host_unregister,
	.usm_alloc = cuda_usm_alloc,
	.usm_free = cuda_usm_free,
	.event_create = cuda_event_create,
	.event_open = cuda_event_open,
	.event_free = cuda_event_free,
	.event_record = cuda_event_record,
	.native_get = cuda_native_get,
	.native_devices = cuda_native_devices,
	.device_open_native = cuda_device_open_native,
	.native_make = cuda_native_make,
	.graph_create = cuda_graph_create,
	.graph_add = cuda_graph_add,
	.graph_temporary = cuda_graph_temporary,
	.graph_finish = cuda_graph_finish,
	.graph_update = cuda_graph_update,
	.graph_free = cuda_graph_free,
	.program_load = cuda_program_load,
	.program_kernels = cuda_program_kernels,
	.program_free = cuda_program_free,
	.program_variable = cuda_program_variable,
	.kernel_create = cuda_kernel_create,
	.kernel_facts = cuda_kernel_facts,
	.kernel_free = cuda_kernel_free,
	.kernel_occupancy = cuda_kernel_occupancy,
	.submit = cuda_submit,
	.submit_burst = cuda_submit_burst,
	.flush = cuda_flush,
	.progress = cuda_progress,
	.begun = cuda_begun,
	.quiet_wanted = cuda_quiet_wanted,
	.quiet = cuda_quiet,
	.latency_wanted = cuda_latency_wanted,
	.l2_wanted = cuda_l2_wanted,
	.latency_units = cuda_latency_units,
	.program_is_loaded = cuda_program_is_loaded,
	.sendings = cuda_sendings,
};
