/* USM on fake devices, with the engine on a thread of the test: addresses are the engine's own. */
#include "library/usm_engine.h"

#include "library/service.h"

#include <string.h>

static struct client_service service;

void portable_engine_start(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	client_service_start(&service, NULL);
}

void portable_engine_stop(void)
{
	struct fake_counters counters;
	client_service_stop(&service);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	if (counters.usms)
		MUST(SYCL_ERROR_RUNTIME /* USM is left on the fake devices */);
}

const char *portable_engine_endpoint(void)
{
	return service.endpoint;
}

bool portable_engine_has(sycl_device device)
{
	uint32_t backend = 0;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	return backend == SYCL_BACKEND_KIND_FAKE;
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	return fake_kernel(on, name);
}

sycl_kernel usm_engine_kernel(sycl_queue on, const char *name)
{
	return strcmp(name, "sum_list_u32") == 0 ? fake_kernel(on, name) : NULL;
}

bool usm_engine_is_remote(void)
{
	return false;
}

int64_t usm_engine_bytes(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	return (int64_t)counters.usm_bytes;
}

sycl_kernel_bundle usm_engine_variables(sycl_queue on, sycl_kernel *apply_out)
{
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_from_source(on, SYCL_SOURCE_PORTABLE,
					    "variable table 64\nvariable factor 4\nfill_u32\n",
					    NULL, &bundle));
	*apply_out = NULL;
	return bundle;
}
