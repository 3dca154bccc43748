/* Launches in parts on the double of NVIDIA's driver: what portable kernels read about the whole
 * launch. */
#include "processes/fake_service.h"

#include <stdio.h>
#include <string.h>

static struct fake_service fake = FAKE_SERVICE_INIT;

/* There is one multiprocessor, so that small ranges fill it, because an interpreter runs them.
 * Every launch takes longer than such a slice. */
static void setup_split(void)
{
	fake_service_start(&fake, "attribute 16 1",
			   "nvrtc = " NVRTC_LIBRARY "\n[service]\nstandby = no\nslice_us = 1\n",
			   false);
}

static void teardown_split(void)
{
	fake_service_end(&fake);
}

TestSuite(processes_cuda_split, .timeout = 240, .init = setup_split, .fini = teardown_split);

static void start_class_worker(struct child *worker, const char *class, const char *const *words)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "SYCLD_CLASS=%s", class);
	const char *const environment[] = {text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, fake.service->endpoint, words[0], words + 1);
}

/* A session of the latency class has used the device: from then on, it counts as present. */
static void cuda_split_use_device_in_latency_class(struct child *quick)
{
	static const char *const steps[] = {"steps", NULL};
	char line[LINE_BYTES];
	start_class_worker(quick, "latency", steps);
	worker_expect(quick, "session", line);
	cr_assert_eq(child_say(quick, "work"), 0);
	cr_assert_eq(child_read_line(quick, line, sizeof(line), SOON), 1);
}

static const char *const portable[] = {"split-portable", "--count", "3", NULL},
			 *const endless[] = {"split-portable", "--count", "1000000", NULL};

static bool parts_have_run(void *unused)
{
	(void)unused;
	return processes_claimed(fake.service, "split_parts") >= 4;
}

Test(processes_cuda_split, E1_E6_E13_ids_ranges_and_local_memory_are_those_of_the_whole)
{
	struct child quick, batch;
	cuda_split_use_device_in_latency_class(&quick);
	start_class_worker(&batch, "best-effort", portable);
	worker_finish(&batch);
	cr_expect_geq(processes_claimed(fake.service, "splits"), 6,
		      "of each range one, at least: %lld",
		      (long long)processes_claimed(fake.service, "splits"));
	cr_expect_geq(processes_claimed(fake.service, "split_parts"),
		      2 * processes_claimed(fake.service, "splits"));
	child_end(&quick);
}

/* Launches follow each other, each in parts. The client is killed during one of them, or between
 * two. */
Test(processes_cuda_split, N4_N6_a_client_killed_among_its_parts_leaves_nothing_that_runs)
{
	struct child quick, batch, next;
	cuda_split_use_device_in_latency_class(&quick);
	start_class_worker(&batch, "best-effort", endless);
	cr_assert(wait_until(parts_have_run, NULL, SOON));
	child_end(&batch);
	cr_assert(private_service_wait_sessions(fake.service, 1, SOON));
	json_int_t parts = processes_claimed(fake.service, "split_parts");
	start_class_worker(&next, "normal", portable);
	worker_finish(&next);
	cr_expect_eq(processes_claimed(fake.service, "split_parts"), parts,
		     "a part ran after the end was reported");
	start_class_worker(&next, "best-effort", portable);
	worker_finish(&next);
	child_end(&quick);
}

Test(processes_cuda_split, a_gpu_lost_among_parts_is_reported_and_the_next_engine_splits)
{
	struct child quick, batch;
	char line[LINE_BYTES];
	cuda_split_use_device_in_latency_class(&quick);
	start_class_worker(&batch, "best-effort", endless);
	cr_assert(wait_until(parts_have_run, NULL, SOON));
	pid_t engine = processes_engine(fake.service);
	fake_service_lose(&fake, engine, 719);
	/* The worker ends with the sentence of the call that failed. */
	do
		cr_assert_eq(child_read_line(&batch, line, sizeof(line), SOON), 1);
	while (strncmp(line, "FAIL", 4) != 0);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	child_end(&batch);
	child_end(&quick);
	cuda_split_use_device_in_latency_class(&quick);
	cr_expect_neq(processes_engine(fake.service), engine);
	cr_expect_eq(processes_claimed(fake.service, "split_parts"), 0);
	start_class_worker(&batch, "best-effort", portable);
	worker_finish(&batch);
	cr_expect_gt(processes_claimed(fake.service, "split_parts"), 0);
	child_end(&quick);
}
