/*
 * Portable tests on the embedded engine. The devices are of one kind: the CPU (PoCL), or GPUs; or
 * of all kinds. Without such a device the tests skip.
 */
#include "library/portable_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

static const char source[] =
	"SYCL_KERNEL void fill_u32(SYCL_GLOBAL(uint) to, uint value)\n"
	"{ to[sycl_global_id(0)] = value; }\n"
	"SYCL_KERNEL void increment_u32(SYCL_GLOBAL(uint) to)\n"
	"{ to[sycl_global_id(0)] += 1; }\n"
	"SYCL_KERNEL void copy_u32(SYCL_GLOBAL(uint) to, SYCL_GLOBAL(const uint) from)\n"
	"{ to[sycl_global_id(0)] = from[sycl_global_id(0)]; }\n";

/* Appends an entry to a log and increments its count, all in one work-item. */
static const char append_source[] =
	"SYCL_KERNEL void append_u32(SYCL_GLOBAL(uint) log, uint entry)\n"
	"{ if (sycl_global_id(0) == 0 && log[0] + 1 < sycl_global_range(0)) { log[log[0] + 1] = entry; log[0] += 1; } }\n";

static void need(bool condition, const char *what)
{
	if (!condition) {
		cr_log_error("%s: %s", what, sycl_get_last_error_text());
		abort();
	}
}

void portable_engine_start(void)
{
	need(setenv("XDG_CACHE_HOME", TEST_CACHE, 1) == 0, "setenv");
}

void portable_engine_stop(void)
{
}

const char *portable_engine_endpoint(void)
{
	return "embedded:";
}

bool portable_engine_has(sycl_device device)
{
	uint32_t type = 0, available = 0;
	need(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL) == 0,
	     "type");
	need(sycl_device_get_info(device, SYCL_DEVICE_INFO_IS_AVAILABLE, sizeof(available),
				  &available, NULL) == 0,
	     "available");
	return (PORTABLE_DEVICE_TYPE == SYCL_DEVICE_TYPE_ALL || type == PORTABLE_DEVICE_TYPE) &&
	       available;
}

const char *portable_engine_source(void)
{
	return source;
}

/* There may be devices of several backends. This reports whose compiler it was, and its whole
 * log. */
static void report_kernel(sycl_queue on, const char *name)
{
	char words[512], device_name[128] = "";
	uint32_t backend = 0;
	sycl_device device = NULL;
	(void)snprintf(words, sizeof(words), "%s", sycl_get_last_error_text());
	cr_log_error("%s", sycl_get_build_log());
	if (sycl_queue_get_device(on, &device) == 0) {
		(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(device_name),
					   device_name, NULL);
		(void)sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					   &backend, NULL);
	}
	cr_log_error("%s on %s (%s): %s", name, device_name,
		     backend == SYCL_BACKEND_KIND_CUDA ? "CUDA" : "OpenCL", words);
	abort();
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	sycl_kernel kernel = NULL;
	if (sycl_kernel_from_source(on, strcmp(name, "append_u32") == 0 ? append_source : source,
				    name, &kernel) != 0)
		report_kernel(on, name);
	return kernel;
}

/* A real device cannot be held. */
void portable_engine_hold(bool hold)
{
	(void)hold;
}

bool portable_engine_holds(void)
{
	return false;
}
