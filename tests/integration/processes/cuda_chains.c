/* How an engine sends launches to a GPU, according to `syclctl status --json`, on the double of
 * NVIDIA's driver. */
#include "processes/fake_service.h"

#include <stdio.h>
#include <string.h>

static struct fake_service fake = FAKE_SERVICE_INIT;

static void setup_chains(void)
{
	fake_service_start(&fake, "", "", false);
}

static void teardown_chains(void)
{
	fake_service_end(&fake);
}

TestSuite(processes_cuda_chains, .timeout = 240, .init = setup_chains, .fini = teardown_chains);

static void work_once(struct child *worker)
{
	char line[LINE_BYTES];
	cr_assert_eq(child_say(worker, "work 5"), 0);
	cr_assert_eq(child_read_line(worker, line, sizeof(line), SOON), 1);
	cr_assert_eq(strcmp(line, "ok"), 0, "%s", line);
}

Test(processes_cuda_chains, TG1_TG2_chains_are_counted_and_those_that_the_driver_refuses)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start_with(&worker, NULL, fake.service->endpoint, "fault",
			  (const char *const[]){NULL});
	worker_expect(&worker, "ready ", line);
	cr_assert_eq(processes_claimed(fake.service, "chains"), 0);
	work_once(&worker);
	json_int_t chains = processes_claimed(fake.service, "chains"),
		   launches = processes_claimed(fake.service, "chain_launches");
	cr_assert_gt(chains, 0);
	cr_assert_geq(launches, chains);
	cr_assert_eq(processes_claimed(fake.service, "chains_refused"), 0);
	/* The driver acts as one without graphs: every launch is sent all the same. */
	(void)fake_service_say(&fake, processes_engine(fake.service),
			       "command fail cuGraphLaunch 1 2 100000");
	work_once(&worker);
	cr_assert_gt(processes_claimed(fake.service, "chains_refused"), 0);
	cr_assert_eq(processes_claimed(fake.service, "chain_launches"), launches);
	child_end(&worker);
}
