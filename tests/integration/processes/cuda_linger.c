/*
 * The process of an engine whose device has failed, on the double of NVIDIA's driver: how long it
 * stays, and when it does not. A GPU shows the benefit of its staying: bench row TG12.
 */
#include "processes/fake_service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

TestSuite(processes_cuda_linger, .timeout = 240);

enum { ATTEMPTS = 20, USER = 65533 };

/* An engine, identified so that another process with its number is not taken for it. */
struct known {
	pid_t pid;
	int pidfd;
};

static struct fake_service fake = FAKE_SERVICE_INIT;

static void start_lingering_service(const char *driver, const char *configuration, bool system)
{
	fake_service_start(&fake, driver, configuration, system);
	fake.service->faults = true;
}

static void teardown_linger(void)
{
	fake_service_end(&fake);
}

static struct known know(int uid)
{
	struct known engine = {.pid = private_service_engine(fake.service, uid)};
	cr_assert_gt(engine.pid, 0, "there is no engine");
	engine.pidfd = pidfd_open(engine.pid, 0);
	cr_assert_geq(engine.pidfd, 0, "%s", strerror(errno));
	return engine;
}

static bool engine_has_ended(const struct known *engine)
{
	struct pollfd ended = {.fd = engine->pidfd, .events = POLLIN};
	return poll(&ended, 1, 0) == 1;
}

static void await_engine_end(struct known *engine)
{
	struct pollfd ended = {.fd = engine->pidfd, .events = POLLIN};
	cr_assert_eq(poll(&ended, 1, (int)(SOON / 1000000)), 1, "%d stays for ever",
		     (int)engine->pid);
	close_fd(&engine->pidfd);
}

/* Launches a kernel that ends the engine. */
static void fail_engine(struct child *worker)
{
	char line[LINE_BYTES];
	fault_worker_run(worker, "run illegal 0 1");
	cr_assert_eq(child_say(worker, "wait 0"), 0);
	worker_expect(worker, "native 700", line);
}

static struct known fail_once(int uid, const char *before)
{
	struct child guilty;
	fault_worker_begin(&fake, &guilty, uid);
	fault_worker_run(&guilty, before);
	struct known engine = know(uid);
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	return engine;
}

static void work_once(int uid)
{
	struct child worker;
	fault_worker_begin(&fake, &worker, uid);
	fault_worker_run(&worker, "work 1");
	fault_worker_finish(&worker);
}

static bool log_has(const char *format, pid_t pid)
{
	char text[64];
	(void)snprintf(text, sizeof(text), format, (int)pid);
	return private_service_has_logged(fake.service, text);
}

/* Reads the state of the engine in the status; "": the status has no such engine. */
static void read_state(pid_t engine, char state_out[32], long long *sessions_out)
{
	json_t *status = private_service_status(fake.service);
	const json_t *tenant = NULL;
	size_t i = 0;
	state_out[0] = '\0';
	json_array_foreach(json_object_get(status, "tenants"), i, tenant)
	{
		if (json_integer_value(json_object_get(tenant, "engine_pid")) != engine)
			continue;
		(void)snprintf(state_out, 32, "%s",
			       json_string_value(json_object_get(tenant, "state")));
		*sessions_out = json_integer_value(json_object_get(tenant, "sessions"));
	}
	json_decref(status);
}

static bool is_forgotten(void *pid)
{
	char state[32];
	long long sessions;
	read_state(*(pid_t *)pid, state, &sessions);
	return state[0] == '\0';
}

static void expect_over(pid_t engine)
{
	char state[32];
	long long sessions = 0;
	read_state(engine, state, &sessions);
	cr_expect(state[0] == '\0' || strcmp(state, "stopping") == 0, "it is shown as %s", state);
	cr_expect_eq(sessions, 0);
}

/* On a slow machine the process may end before it is checked. So not every attempt must succeed. */
Test(processes_cuda_linger, it_is_there_until_the_next_engine_has_worked, .fini = teardown_linger)
{
	bool stayed = false;
	start_lingering_service("", "", false);
	for (int i = 0; i < ATTEMPTS && !stayed; i++) {
		struct known engine = fail_once(FAULT_WORKER_OWN, "work 1");
		work_once(FAULT_WORKER_OWN);
		stayed = !engine_has_ended(&engine);
		expect_over(engine.pid);
		cr_expect_neq(private_service_engine(fake.service, FAULT_WORKER_OWN), engine.pid);
		await_engine_end(&engine);
	}
	cr_assert(stayed, "it was gone each time when the next engine had worked");
	cr_expect(!private_service_has_logged(fake.service, "killing pid"));
}

/* Its pool keeps freed memory, which the next engine needs. */
Test(processes_cuda_linger, one_that_has_had_much_memory_goes_at_once, .fini = teardown_linger)
{
	start_lingering_service("memory 1073741824", "", false);
	struct known engine = fail_once(FAULT_WORKER_OWN, "take 260");
	await_engine_end(&engine);
	work_once(FAULT_WORKER_OWN);
	cr_assert(wait_until(is_forgotten, &engine.pid, SOON));
	cr_expect(!log_has("ending pid %d of", engine.pid), "it did not end by itself");
	/* The next engines have not had that memory. */
	bool stayed = false;
	for (int i = 0; i < ATTEMPTS && !stayed; i++) {
		engine = fail_once(FAULT_WORKER_OWN, "take 250");
		await_engine_end(&engine);
		cr_assert(wait_until(is_forgotten, &engine.pid, SOON));
		stayed = log_has("ending pid %d of", engine.pid);
	}
	cr_expect(stayed, "those with less did not stay either");
}

/* The engine is a process of its user, so the user can make it do anything. */
Test(processes_cuda_linger, one_that_does_nothing_more_is_killed, .fini = teardown_linger)
{
	start_lingering_service("", "", false);
	struct known engine = fail_once(FAULT_WORKER_OWN, "work 1");
	(void)pidfd_send_signal(engine.pidfd, SIGSTOP, NULL, 0);
	work_once(FAULT_WORKER_OWN);
	await_engine_end(&engine);
}

Test(processes_cuda_linger, N5_it_ends_with_the_service, .fini = teardown_linger)
{
	start_lingering_service("", "", false);
	struct known engine = fail_once(FAULT_WORKER_OWN, "work 1");
	cr_assert_eq(kill(fake.service->sycld.pid, SIGTERM), 0);
	cr_assert_eq(child_wait(&fake.service->sycld, SOON), 0);
	cr_expect(engine_has_ended(&engine), "the service left it behind");
	await_engine_end(&engine);
	cr_assert_eq(private_service_restart(fake.service), 0);
	work_once(FAULT_WORKER_OWN);
}

/* The next service does not wait for it and gives it no sessions. */
Test(processes_cuda_linger, N5_it_does_not_come_back_to_the_next_service, .fini = teardown_linger)
{
	static const int ways[] = {SIGKILL, SIGUSR2};
	start_lingering_service("", "", false);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct known engine = fail_once(FAULT_WORKER_OWN, "work 1");
		cr_assert_eq(kill(fake.service->sycld.pid, ways[i]), 0);
		(void)child_wait(&fake.service->sycld, SOON);
		child_end(&fake.service->sycld);
		cr_assert_eq(private_service_restart(fake.service), 0);
		work_once(FAULT_WORKER_OWN);
		await_engine_end(&engine);
		cr_assert(wait_until(is_forgotten, &engine.pid, SOON));
		cr_expect(!log_has("pid %d of uid 0 is back", engine.pid));
		cr_expect(!log_has("pid %d of uid 0 (root) is back", engine.pid));
	}
}

/* Its page does not show that service the loss of the device. So that service ends the engine, as
 * early as it can. */
Test(processes_cuda_linger, one_that_came_back_to_a_service_without_its_page_goes_at_once,
     .fini = teardown_linger)
{
	struct child guilty;
	if (geteuid() != 0)
		cr_skip_test(
			"SKIPPED: a service of another user than the engine's needs root; run the tests as root "
			"to see this one");
	start_lingering_service("", "", true);
	fault_worker_begin(&fake, &guilty, USER);
	fault_worker_run(&guilty, "work 1");
	struct known engine = know(USER);
	cr_assert_eq(kill(fake.service->sycld.pid, SIGKILL), 0);
	child_end(&fake.service->sycld);
	cr_assert_eq(private_service_restart(fake.service), 0);
	cr_assert(private_service_wait_sessions(fake.service, 1, SOON), "it does not come back");
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	await_engine_end(&engine);
	work_once(USER);
	cr_expect(!log_has("killing pid %d of", engine.pid), "it did not end by itself");
}
