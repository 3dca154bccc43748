/* Exact times of a trace on the doubles of NVIDIA's driver and of CUPTI. */
#include "processes/fake_service.h"
#include "timeline_check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 160, TEXT_BYTES = 4 << 20, ROUNDS = 20 };

TestSuite(processes_cuda_traced, .timeout = 240);

static bool trace_has_begun(void *service)
{
	return private_service_has_logged(service, "trace: 1 of backend");
}

static char *read_timeline(const char *path)
{
	static char text[TEXT_BYTES];
	FILE *file = fopen(path, "re");
	cr_assert(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

/* Some rounds of launches, during which a trace is taken. Returns the timeline. */
static const char *trace_rounds(const struct fake_service *fake)
{
	static char path[PATH_BYTES], said[ANSWER_BYTES];
	char program[PATH_BYTES * 4];
	struct child worker = CHILD_INIT, recorder = CHILD_INIT;
	(void)snprintf(path, sizeof(path), "%s/trace.json", fake->service->directory);
	const char *const argv[] = {program,
				    "--runtime-dir",
				    fake->service->runtime,
				    "trace",
				    path,
				    "--seconds",
				    "200",
				    "--format=chrome",
				    "--device",
				    "cuda:0",
				    "--exact",
				    NULL};
	(void)fault_worker_begin(fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 5"); /* the device is open */
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	cr_assert_eq(child_start(argv, NULL, &recorder), 0);
	cr_assert(wait_until(trace_has_begun, fake->service, SOON));
	json_decref(private_service_status(fake->service)); /* the engine has begun it */
	for (unsigned i = 0; i < ROUNDS; i++)
		fault_worker_run(&worker, "work 5");
	cr_assert_eq(kill(recorder.pid, SIGINT), 0);
	cr_assert_geq(child_read_all(&recorder, said, sizeof(said), SOON), 0);
	cr_assert_eq(child_wait(&recorder, SOON), 0, "%s", said);
	child_end(&recorder);
	fault_worker_run(&worker, "work 5"); /* the engine works as before */
	fault_worker_finish(&worker);
	return read_timeline(path);
}

static void check_timeline(const char *text)
{
	struct timeline_counts counts;
	char error[TIMELINE_ERROR_BYTES] = "";
	json_t *json = NULL;
	cr_assert_eq(timeline_check(text, &json, &counts, error), 0, "%s in %.4000s", error, text);
	cr_expect_gt(counts.slices, 0);
	json_decref(json);
}

Test(processes_cuda_traced, cupti_measures_single_launches)
{
	struct fake_service fake = FAKE_SERVICE_INIT;
	fake_service_start(&fake, "", "cupti = " FAKE_CUPTI_LIBRARY "\n", false);
	const char *text = trace_rounds(&fake);
	check_timeline(text);
	cr_expect(strstr(text, "\"times\":[{\"source\":\"cupti\",\"engines\":1"));
	cr_expect(strstr(text, "\"timed_by\":\"cupti\""));
	cr_expect_eq(strstr(text, "\"timed_by\":\"estimate\""), NULL);
	cr_expect(private_service_has_logged(fake.service, "kernels measured by CUPTI"));
	fake_service_end(&fake);
}

static void expect_events(const char *setting, const char *reason)
{
	struct fake_service fake = FAKE_SERVICE_INIT;
	fake_service_start(&fake, "", setting, false);
	const char *text = trace_rounds(&fake);
	check_timeline(text);
	cr_expect(strstr(text, "\"times\":[{\"source\":\"events\",\"engines\":1"));
	cr_expect(strstr(text, "\"timed_by\":\"device\""));
	cr_expect_eq(strstr(text, "\"timed_by\":\"cupti\""), NULL);
	cr_expect(strstr(text, reason), "%s", reason);
	cr_expect(private_service_has_logged(fake.service, reason), "%s", reason);
	fake_service_end(&fake);
}

Test(processes_cuda_traced, without_cupti_events_are_used_and_the_reason_is_given)
{
	expect_events("cupti = no\n", "CUPTI is not used here");
}

Test(processes_cuda_traced, where_cupti_cannot_be_opened_events_do)
{
	expect_events("cupti = /nowhere/libcupti.so.13\n",
		      "/nowhere/libcupti.so.13 is not installed");
}
