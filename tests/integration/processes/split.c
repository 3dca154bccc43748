/* Long launches of the class best effort in parts: with several processes, by the configuration,
 * and in syclctl's status. */
#include "processes/common.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

TestSuite(processes_split, .timeout = 280);

static void start_class_worker(struct child *worker, const struct private_service *service,
			       const char *class, const char *const *words)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "SYCLD_CLASS=%s", class);
	const char *const environment[] = {text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, service->endpoint, words[0], words + 1);
}

/* Starts it with fake devices, whose kernels take real time. */
static struct private_service *start_fake_service(const char *configuration)
{
	static const char *const options[] = {"--fake-engine", NULL};
	struct private_service *service = NULL;
	cr_assert_eq(private_service_start(configuration, options, &service), 0);
	return service;
}

static const char *const quick_words[] = {"take", "--count", "100", NULL}, *const long_words[] = {
										   "split",
										   "--count", "8",
										   NULL};

/* A session of the latency class uses the device meanwhile. */
static void run_beside(const struct private_service *service, const char *class)
{
	struct child quick, batch;
	start_class_worker(&quick, service, "latency", quick_words);
	start_class_worker(&batch, service, class, long_words);
	worker_finish(&batch);
	child_end(&quick);
}

/* The faster session is first on the device. If this is repeated, sooner or later it is the session
 * of the latency class. */
Test(processes_split, F8_long_launches_are_sent_in_parts_beside_another_session_and_are_right)
{
	static const char *const words[] = {"steps", NULL};
	CLEANUP(private_service_cleanup)
	struct private_service *service = start_fake_service("[service]\nstandby = no\n");
	struct child stays;
	char line[LINE_BYTES];
	start_class_worker(&stays, service, "normal", words);
	worker_expect(&stays, "session", line);
	uint64_t deadline = clock_deadline_ns(SOON);
	do
		run_beside(service, "best-effort");
	while (processes_claimed(service, "splits") == 0 && clock_now_ns() < deadline);
	cr_expect_gt(processes_claimed(service, "splits"), 0);
	cr_expect_geq(processes_claimed(service, "split_parts"),
		      2 * processes_claimed(service, "splits"));
	json_int_t before = processes_claimed(service, "splits");
	run_beside(service, "normal");
	cr_expect_eq(processes_claimed(service, "splits"), before, "that class is not split");
	child_end(&stays);
}

Test(processes_split, F8_they_are_not_where_that_is_switched_off)
{
	static const char *const words[] = {"steps", NULL};
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		start_fake_service("[service]\nstandby = no\nslice_us = 0\n");
	struct child stays;
	char line[LINE_BYTES];
	start_class_worker(&stays, service, "normal", words);
	worker_expect(&stays, "session", line);
	run_beside(service, "best-effort");
	cr_expect_eq(processes_claimed(service, "splits"), 0);
	cr_expect_eq(processes_claimed(service, "split_parts"), 0);
	child_end(&stays);
}

/* On the default device, which is OpenCL's CPU if there is no GPU; with CUDA they are split. */
Test(processes_split, E1_E6_E13_portable_kernels_are_right_whatever_becomes_of_them)
{
	static const char *const steps[] = {"steps", NULL}, *const portable[] = {"split-portable",
										 "--count", "3",
										 NULL};
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nstandby = no\nslice_us = 1\n", false);
	struct child quick, batch;
	char line[LINE_BYTES];
	start_class_worker(&quick, service, "latency", steps);
	worker_expect(&quick, "session", line);
	cr_assert_eq(child_say(&quick, "work"), 0);
	cr_assert_eq(child_read_line(&quick, line, sizeof(line), SOON), 1);
	start_class_worker(&batch, service, "best-effort", portable);
	worker_finish(&batch);
	child_end(&quick);
}
