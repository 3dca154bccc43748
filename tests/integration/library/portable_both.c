/*
 * Portable tests with two backends, on an engine that is a thread of the test. The devices are the
 * first fake one and PoCL's. Queues alternate between them, so that buffers are moved between both.
 */
#include "library/portable_engine.h"

#include "library/service.h"

#include <stdlib.h>
#include <string.h>

static const char source[] =
	"SYCL_KERNEL void fill_u32(SYCL_GLOBAL(uint) to, uint value)\n"
	"{ to[sycl_global_id(0)] = value; }\n"
	"SYCL_KERNEL void increment_u32(SYCL_GLOBAL(uint) to)\n"
	"{ to[sycl_global_id(0)] += 1; }\n"
	"SYCL_KERNEL void copy_u32(SYCL_GLOBAL(uint) to, SYCL_GLOBAL(const uint) from)\n"
	"{ to[sycl_global_id(0)] = from[sycl_global_id(0)]; }\n"
	"SYCL_KERNEL void append_u32(SYCL_GLOBAL(uint) log, uint entry)\n"
	"{ if (sycl_global_id(0) == 0 && log[0] + 1 < sycl_global_range(0)) { log[log[0] + 1] = entry; log[0] += 1; } }\n";

static struct client_service service;
static char first_fake[128];

static bool is_fake(sycl_device device)
{
	uint32_t backend = 0;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	return backend == SYCL_BACKEND_KIND_FAKE;
}

void portable_engine_start(void)
{
	sycl_platform platform = NULL;
	sycl_device device = NULL;
	(void)setenv("XDG_CACHE_HOME", TEST_CACHE, 1);
	client_service_start_with_opencl(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	device = fake_device(platform, 0);
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(first_fake), first_fake,
				  NULL));
	MUST(sycl_device_release(device));
	/* Without a second backend this test would show nothing. */
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(platform));
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
	char name[128];
	if (!is_fake(device))
		return true;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(name), name, NULL));
	return strcmp(name, first_fake) == 0;
}

const char *portable_engine_source(void)
{
	return source;
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	sycl_device device = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_queue_get_device(on, &device));
	const bool fake = is_fake(device);
	MUST(sycl_device_release(device));
	MUST(sycl_kernel_from_source(on, fake ? name : source, name, &kernel));
	return kernel;
}

void portable_engine_hold(bool hold)
{
	(hold ? fake_device_gate_close : fake_device_gate_open)(0);
}

/* PoCL's commands run all the same. */
bool portable_engine_holds(void)
{
	return false;
}
