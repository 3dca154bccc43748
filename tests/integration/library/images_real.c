/*
 * Images on real devices with the embedded engine. IMAGES_DEVICE_TYPE is the kind of device.
 * IMAGES_CUDA_LIBRARY is a driver to use instead of the machine's, and NVRTC_LIBRARY its compiler.
 * Without such a device the tests skip.
 */
#include "library/portable_engine.h"

#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

/* The kernels of these names in the fake backend work on each byte of the pixels. */
static const char source[] =
	"SYCL_KERNEL void fill_image(SYCL_IMAGE_WRITE_2D(to), uint value)\n"
	"{\n"
	"	uint columns = sycl_image_range_2d(to, 1), rows = sycl_image_range_2d(to, 0);\n"
	"	for (uint i = 0; i < rows; i++)\n"
	"		for (uint j = 0; j < columns; j++)\n"
	"			sycl_image_write_uint_2d(to, i, j, sycl_uint4(value, value, value, value));\n"
	"}\n"
	"SYCL_KERNEL void copy_image(SYCL_IMAGE_WRITE_2D(to), SYCL_IMAGE_READ_2D(from))\n"
	"{\n"
	"	uint columns = sycl_image_range_2d(to, 1), rows = sycl_image_range_2d(to, 0);\n"
	"	for (uint i = 0; i < rows; i++)\n"
	"		for (uint j = 0; j < columns; j++)\n"
	"			sycl_image_write_uint_2d(to, i, j, sycl_image_read_uint_2d(from, i, j));\n"
	"}\n"
	"SYCL_KERNEL void fill_u32(SYCL_GLOBAL(uint) to, uint value)\n"
	"{ to[sycl_global_id(0)] = value; }\n";

static void need(bool condition, const char *what)
{
	if (!condition) {
		cr_log_error("%s: %s\n%s", what, sycl_get_last_error_text(), sycl_get_build_log());
		abort();
	}
}

void portable_engine_start(void)
{
#ifdef IMAGES_CUDA_LIBRARY
	static char options[2 * PATH_MAX + 64];
	(void)snprintf(options, sizeof(options), "cuda:library=%s cuda:nvrtc=%s",
		       IMAGES_CUDA_LIBRARY, NVRTC_LIBRARY);
	need(setenv("OCL_ICD_VENDORS", "/nonexistent", 1) == 0,
	     "setenv"); /* only the double's devices */
	need(setenv("SYCLD_BACKEND_OPTIONS", options, 1) == 0, "setenv");
#endif
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
	return type == IMAGES_DEVICE_TYPE && available;
}

sycl_kernel portable_engine_kernel(sycl_queue on, const char *name)
{
	sycl_kernel kernel = NULL;
	need(sycl_kernel_from_source(on, source, name, &kernel) == 0, name);
	return kernel;
}
