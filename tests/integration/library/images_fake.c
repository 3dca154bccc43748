/* Images on fake devices, whose image storage is opaque. One of the devices keeps buffers in the
 * host's memory. */
#include "library/portable_engine.h"

#include "library/service.h"

static struct client_service service;

void portable_engine_start(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i,
				    (struct fake_device_options){.features = BACKEND_FEATURE_IMAGE,
								 .unified = i == 1});
	client_service_start(&service, NULL);
}

void portable_engine_stop(void)
{
	client_service_stop(&service);
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
