/*
 * CUDA that cannot be used, on the double of NVIDIA's driver. Each reason has a sentence. It is
 * shown to the operator (syclctl) and the application, and a queue fails with it.
 */
#include "processes/fake_service.h"

#include <linux/limits.h>
#include <stdio.h>
#include <string.h>

TestSuite(processes_cuda_missing, .timeout = 120);

enum { TEXT_BYTES = 1 << 16 };

static struct fake_service fake = FAKE_SERVICE_INIT;
static char text[TEXT_BYTES];

static const char *list_devices(void)
{
	char program[PATH_MAX];
	struct child child = CHILD_INIT;
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	const char *const argv[] = {program, "--runtime-dir", fake.service->runtime, "devices",
				    NULL};
	cr_assert_eq(child_start(argv, NULL, &child), 0);
	cr_assert_gt(child_read_all(&child, text, sizeof(text), SOON), 0);
	cr_assert_eq(child_wait(&child, SOON), 0, "%s", text);
	child_end(&child);
	return text;
}

/* Prints the lines of `worker fault` about its device, then about its queue. */
static void request_worker(const char *order, char line[LINE_BYTES])
{
	struct child worker = CHILD_INIT;
	worker_start(&worker, fake.service, "fault", NULL, NULL);
	cr_assert_eq(child_read_line(&worker, line, LINE_BYTES, SOON), 1);
	if (order) {
		cr_assert_eq(strncmp(line, "ready", 5), 0, "%s", line);
		cr_assert_eq(child_say(&worker, order), 0);
		cr_assert_eq(child_read_line(&worker, line, LINE_BYTES, SOON), 1);
	}
	worker_finish(&worker);
}

struct reason {
	const char *driver; /* lines that cause it */
	const char *words;  /* words of its sentence */
};

/* The backend has no device at all: its platform has the reason. */
static const struct reason no_backend[] = {
	{"devices 0", "no NVIDIA GPU is visible to this process"},
	{"driver_version 11040",
	 "the NVIDIA driver is too old: it is for CUDA 11.4, this service needs"},
	{"init_result 100", "no NVIDIA GPU is visible to this process"},
	{"init_result 34", "stub"},
	{"init_result 999", "are its device files (/dev/nvidia*, /dev/nvidia-uvm) there"},
	{"init_result 304", "are its device files (/dev/nvidia*, /dev/nvidia-uvm) there"},
	{"init_result 802", "is the fabric manager running?"},
	{"init_result 803", "the driver's library and its kernel module are of different versions"},
	{"init_result 804", "compatibility package"},
	{"init_result 214", "ECC could not correct"},
	{"init_result 805", "the MPS daemon does not answer"},
	{"missing cuLaunchKernel", "has no function cuLaunchKernel"},
};

Test(processes_cuda_missing, A4_a_driver_that_cannot_be_used_has_its_own_sentence)
{
	for (size_t i = 0; i < sizeof(no_backend) / sizeof(*no_backend); i++) {
		const struct reason *reason = &no_backend[i];
		char line[LINE_BYTES];
		fake_service_start(&fake, reason->driver, "", false);
		const char *listed = strstr(list_devices(), "cuda is not available: ");
		cr_assert(listed != NULL, "%s: %s", reason->driver, text);
		cr_expect(strstr(listed, reason->words), "%s: %s", reason->driver, text);
		/* Other devices work; no application finds a CUDA device. */
		request_worker(NULL, line);
		cr_expect(strstr(line, "SYCL_ERROR_RUNTIME"), "%s: %s", reason->driver, line);
		fake_service_end(&fake);
	}
}

Test(processes_cuda_missing, A4_without_a_driver_the_service_says_so)
{
	char line[LINE_BYTES];
	fake.service = processes_service("[cuda]\nlibrary = /nonexistent/libcuda.so.1\n", false);
	cr_expect(strstr(list_devices(), "cuda is not available: no NVIDIA driver: "), "%s", text);
	request_worker(NULL, line);
	cr_expect(strstr(line, "SYCL_ERROR_RUNTIME"), "%s", line);
	fake.service = private_service_free(fake.service);
}

/* A GPU that is listed with the reason why no session can use it: no queue can be made. */
static const struct reason listed_only[] = {
	{"attribute 20 3", "its compute mode is exclusive"},
	{"attribute 20 2", "its compute mode is prohibited"},
	{"attribute 41 0", "it has no address space in common with the host"},
};

Test(processes_cuda_missing, A4_a_gpu_that_nobody_may_use_is_listed_with_its_own_sentence)
{
	for (size_t i = 0; i < sizeof(listed_only) / sizeof(*listed_only); i++) {
		const struct reason *reason = &listed_only[i];
		char line[LINE_BYTES];
		fake_service_start(&fake, reason->driver, "", false);
		const char *listed = strstr(list_devices(), "is not available: ");
		cr_assert(listed != NULL, "%s: %s", reason->driver, text);
		cr_expect(strstr(listed, reason->words), "%s: %s", reason->driver, text);
		request_worker("work 1", line);
		cr_expect(strstr(line, "SYCL_ERROR_RUNTIME"), "%s: %s", reason->driver, line);
		cr_expect(strstr(line, reason->words), "%s: %s", reason->driver, line);
		fake_service_end(&fake);
	}
}

/* A GPU that seems to work and cannot be opened: groups on its queue fail with the reason. */
static const struct reason not_opened[] = {
	{"fail cuDevicePrimaryCtxRetain 1 46 1000", "exclusive while another process uses it"},
	{"fail cuDevicePrimaryCtxRetain 1 214 1000", "ECC could not correct"},
	{"fail cuDevicePrimaryCtxRetain 1 2 1000", "out of memory"},
	{"fail cuDevicePrimaryCtxRetain 1 808 1000",
	 "the MPS server has its maximum number of clients"},
	{"fail cuStreamCreateWithPriority 1 999 1000", "unknown error"},
};

Test(processes_cuda_missing, A4_M6_a_gpu_that_does_not_open_fails_its_queue_with_the_reason)
{
	for (size_t i = 0; i < sizeof(not_opened) / sizeof(*not_opened); i++) {
		const struct reason *reason = &not_opened[i];
		char line[LINE_BYTES];
		fake_service_start(&fake, reason->driver, "", false);
		fake.service->faults = true;
		request_worker("work 1", line);
		cr_expect(strstr(line, reason->words), "%s: %s", reason->driver, line);
		cr_log_info("%s: %s", reason->driver, line);
		fake_service_end(&fake);
	}
}

static bool works(void *unused)
{
	char line[LINE_BYTES];
	(void)unused;
	request_worker("work 1", line);
	return strncmp(line, "ok", 2) == 0;
}

/* Another process had the device exclusively, or had filled it, when the engine opened it. Repeated
 * requests keep the engine alive. */
static const char *const for_a_while[] = {"fail cuDevicePrimaryCtxRetain 1 46 2",
					  "fail cuDevicePrimaryCtxRetain 1 2 8"};

Test(processes_cuda_missing, A4_M6_a_gpu_that_others_had_is_opened_when_it_is_free)
{
	for (size_t i = 0; i < sizeof(for_a_while) / sizeof(*for_a_while); i++) {
		fake_service_start(&fake, for_a_while[i], "", false);
		fake.service->faults = true;
		cr_expect(!works(NULL), "%s", for_a_while[i]);
		pid_t engine = processes_engine(fake.service);
		cr_expect(wait_until(works, NULL, SOON), "%s", for_a_while[i]);
		cr_expect_eq(processes_engine(fake.service), engine, "it is another engine");
		fake_service_end(&fake);
	}
}
