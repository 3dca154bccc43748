/* Opens and closes the backend, and lists its devices. */
#include "cuda/device/device.h"
#include "cuda/driver/environment.h"
#include "cuda/driver/settings.h"

#include "cleanup.h"

#include <string.h>

void cuda_prepare(const struct backend_settings *settings)
{
	struct cuda_settings read;
	struct backend_fault ignored;

	if (cuda_settings_read(settings->options, &read, &ignored) < 0)
		return;
	cuda_environment_prepare(settings->cache_directory, read.connections);
	cuda_settings_free(&read);
}

int cuda_open(const struct backend_settings *settings, struct backend **backend_out,
	      struct backend_fault *fault_out)
{
	struct backend *backend = calloc(1, sizeof(*backend));

	if (!backend)
		return cuda_no_memory(fault_out, "the CUDA backend");
	(void)pthread_mutex_init(&backend->lock, NULL);
	if (settings->cache_directory)
		backend->cache_directory = strdup(settings->cache_directory);
	int error = settings->cache_directory && !backend->cache_directory
			    ? cuda_no_memory(fault_out, "the CUDA backend")
			    : 0;
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
			return cuda_no_memory(fault_out, "the CUDA backend");
		}
	}
	*topology_out = backend->topology;
	return 0;
}
