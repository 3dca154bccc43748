/* The example of native commands through a service, as its reader would run it: on the double of
 * NVIDIA's driver, and without a driver. */
#include "processes/fake_service.h"

#include <linux/limits.h>
#include <stdio.h>
#include <string.h>

TestSuite(processes_cuda_native, .timeout = 240);

enum { TEXT_BYTES = 4096 };

/* It exits with 0. It releases nothing before its end, which keeps the example short. */
static void run_example(const struct private_service *service, const char *library,
			char text[TEXT_BYTES])
{
	char program[PATH_MAX], driver[PATH_MAX];
	struct child example = CHILD_INIT;
	cr_assert_eq(build_path("bin", "cuda_native", program, sizeof(program)), 0);
	(void)snprintf(driver, sizeof(driver), "SYCLD_CUDA_LIBRARY=%s", library);
	const char *const argv[] = {program, service->endpoint, NULL};
	const char *const environment[] = {driver, "ASAN_OPTIONS=detect_leaks=0", NULL};
	cr_assert_eq(child_start(argv, environment, &example), 0);
	ssize_t size = child_read_all(&example, text, TEXT_BYTES, SOON);
	cr_assert_geq(size, 0, "it says nothing more: %s", strerror((int)-size));
	cr_assert_eq(child_wait(&example, SOON), 0, "%s", text);
	child_end(&example);
}

Test(processes_cuda_native, K8_K9_the_example_fills_between_two_kernels)
{
	struct fake_service fake = FAKE_SERVICE_INIT;
	char driver[PATH_MAX], text[TEXT_BYTES];
	fake_service_start(&fake, "", "nvrtc = " NVRTC_LIBRARY "\n", false);
	cr_assert_eq(build_path("tests", "fake_cuda/libcuda.so.1", driver, sizeof(driver)), 0);
	run_example(fake.service, driver, text);
	cr_assert_not_null(strstr(text, "; 0 are wrong"), "%s", text);
	fake_service_end(&fake);
}

Test(processes_cuda_native, I18_without_a_bridge_the_example_says_so)
{
	struct fake_service fake = FAKE_SERVICE_INIT;
	char text[TEXT_BYTES];
	fake_service_start(&fake, "", "", false);
	run_example(fake.service, "/nonexistent/libcuda.so.1", text);
	cr_assert_not_null(strstr(text, "nothing to show"), "%s", text);
	fake_service_end(&fake);
}
