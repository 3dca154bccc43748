/*
 * The device of the tests of the checking mode, with the embedded engine. CHECKING_DEVICE_TYPE is
 * its kind. CHECKING_CUDA_LIBRARY is a driver to use instead of the machine's, and NVRTC_LIBRARY
 * its compiler.
 */
#include "library/checking.h"

#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>

sycl_platform checking_platform;
sycl_queue checking_queue;

void checking_open(uint32_t check)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_device device = NULL;
	uint32_t count = 0;
#ifdef CHECKING_CUDA_LIBRARY
	static char backends[2 * PATH_MAX + 64];
	(void)snprintf(backends, sizeof(backends), "cuda:library=%s cuda:nvrtc=%s",
		       CHECKING_CUDA_LIBRARY, NVRTC_LIBRARY);
	cr_assert(eq(int, setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0));
	cr_assert(eq(int, setenv("SYCLD_BACKEND_OPTIONS", backends, 1), 0));
#endif
	options.check = check;
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	MUST(sycl_platform_open_with("embedded:", &options, &checking_platform));
	MUST(sycl_device_get_devices(checking_platform, CHECKING_DEVICE_TYPE, 1, &device, &count));
	if (count == 0)
		cr_skip_test("no device of the kind that is tested");
	MUST(sycl_queue_create(NULL, device, NULL, &checking_queue));
	MUST(sycl_device_release(device));
}

void checking_close(void)
{
	MUST(sycl_queue_release(checking_queue));
	MUST(sycl_platform_release(checking_platform));
}

bool checking_is_cuda(void)
{
	sycl_device device = NULL;
	uint32_t backend = 0;
	MUST(sycl_queue_get_device(checking_queue, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	MUST(sycl_device_release(device));
	return backend == SYCL_BACKEND_KIND_CUDA;
}
