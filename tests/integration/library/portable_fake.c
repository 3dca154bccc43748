/* Portable tests on an engine on a thread of the test, with fake devices. */
#include "library/portable_engine.h"

#include "library/service.h"

static struct client_service service;
static uint32_t more_features;

void portable_fake_features(uint32_t features)
{
	more_features = features;
}

void portable_engine_start(void)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i,
			(struct fake_device_options){
				.features = BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE |
					    BACKEND_FEATURE_GRAPH_SWITCH |
					    BACKEND_FEATURE_GRAPH_CONDITION | more_features,
				.units = 4});
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

/* Here a source is a list of names. */
const char *portable_engine_source(void)
{
	return "fill_u32\nincrement_u32\ncopy_u32\n";
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	return fake_kernel(on, name);
}

static bool held;

void portable_engine_hold(bool hold)
{
	for (uint32_t i = 0; i < 3; i++)
		(hold ? fake_device_gate_close : fake_device_gate_open)(i);
	held = hold;
}

bool portable_engine_holds(void)
{
	return held;
}
