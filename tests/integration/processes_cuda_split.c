/* Launches in parts on the double of NVIDIA's driver: what portable kernels see of the launch that they are a part of. */
#include "fake_service.h"

#include <stdio.h>
#include <string.h>

static struct fake_service fake = FAKE_SERVICE_INIT;

/* One multiprocessor, so that small ranges fill it: an interpreter runs them. Anything takes longer than such a slice. */
static void setup(void)
{
	fake_service_start(&fake, "attribute 16 1",
			   "nvrtc = " NVRTC_LIBRARY "\n[service]\nstandby = no\nslice_us = 1\n", false);
}

static void teardown(void)
{
	fake_service_end(&fake);
}

TestSuite(processes_cuda_split, .timeout = 240, .init = setup, .fini = teardown);

static void start(struct child *worker, const char *class, const char *const *words)
{
	char text[64];
	(void)snprintf(text, sizeof(text), "SYCLD_CLASS=%s", class);
	const char *const environment[] = {text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, fake.service->endpoint, words[0], words + 1);
}

Test(processes_cuda_split, E1_E6_E13_ids_ranges_and_local_memory_are_those_of_the_whole)
{
	static const char *const steps[] = {"steps", NULL}, *const portable[] = {"split-portable", "--count", "3",
										 NULL};
	struct child quick, batch;
	char line[LINE_BYTES];
	/* It has used the device: from then on, somebody who may not wait is there. */
	start(&quick, "latency", steps);
	worker_expect(&quick, "session", line);
	cr_assert_eq(child_say(&quick, "work"), 0);
	cr_assert_eq(child_read_line(&quick, line, sizeof(line), SOON), 1);
	start(&batch, "best-effort", portable);
	worker_finish(&batch);
	cr_expect_geq(processes_claimed(fake.service, "splits"), 6, "of each range one, at least: %lld", (long long)processes_claimed(fake.service, "splits"));
	cr_expect_geq(processes_claimed(fake.service, "split_parts"), 2 * processes_claimed(fake.service, "splits"));
	child_end(&quick);
}
