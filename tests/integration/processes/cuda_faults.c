/*
 * Kernels that fail, on the double of NVIDIA's driver: which session gets which error, what else
 * ends, and what continues. On a real GPU: gpu_faults.c.
 */
#include "processes/fake_service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_cuda_faults, .timeout = 240);

enum { GUILTY_UID = 65533, NEIGHBOUR_UID = 65534, MANY = 20, WAITS = 6, FLOODS = 4 };

static struct fake_service fake = FAKE_SERVICE_INIT;

static void start_faulty_service(bool system)
{
	fake_service_start(&fake, "", "", system);
	fake.service->faults = true;
}

static void setup_faults(void)
{
	start_faulty_service(false);
}

static void teardown_faults(void)
{
	fake_service_end(&fake);
}

static void send_order(struct child *worker, const char *order)
{
	cr_assert_eq(child_say(worker, order), 0, "it does not take '%s'", order);
}

/* The next line reports the lost device, with this code of the driver and this text. */
static void expect_lost(struct child *worker, int native, const char *words, char line[LINE_BYTES])
{
	cr_assert_eq(child_read_line(worker, line, LINE_BYTES, SOON), 1, "no error is reported");
	const char *code_text = strstr(line, "native ");
	cr_assert(code_text != NULL, "%s", line);
	cr_expect_eq(atoi(code_text + strlen("native ")), native, "%s", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, words), "'%s' is not in the error: %s", words, line);
}

/* The failure names a group of this session with this kernel. */
static void expect_own(struct child *worker, int native, const char *kernel)
{
	char line[LINE_BYTES];
	expect_lost(worker, native, "this session", line);
	cr_expect(strstr(line, kernel), "'%s' is not named: %s", kernel, line);
}

/* The failure names a group of another session, and none of this session. */
static void expect_other(struct child *worker, int native, const char *kernel,
			 unsigned long session)
{
	char line[LINE_BYTES], words[64];
	(void)snprintf(words, sizeof(words), "'%s' (session %lu)", kernel, session);
	expect_lost(worker, native, words, line);
	cr_expect(strstr(line, "this session") == NULL, "an innocent one is blamed: %s", line);
}

/* A new connection of that user works. */
static void expect_service(int uid)
{
	struct child worker = CHILD_INIT;
	(void)fault_worker_begin(&fake, &worker, uid);
	fault_worker_run(&worker, "work 5");
	fault_worker_finish(&worker);
}

static pid_t cuda_faults_engine_of(int uid)
{
	pid_t engine = private_service_engine(fake.service, uid);
	cr_assert_gt(engine, 0, "there is no engine");
	return engine;
}

static bool is_another_engine(void *former)
{
	pid_t engine = private_service_engine(fake.service, -1);
	return engine > 0 && engine != *(pid_t *)former;
}

static void say(const char *format, int number)
{
	char line[128];
	(void)snprintf(line, sizeof(line), format, number);
	cr_assert_eq(fake_service_say(&fake, cuda_faults_engine_of(-1), line), 0, "%s", line);
}

/* One launch fails this way. Checks the sentence that the owner gets. */
static void fail_once(int uid, const char *kernel, int native)
{
	struct child guilty = CHILD_INIT;
	char order[64];
	(void)fault_worker_begin(&fake, &guilty, uid);
	(void)snprintf(order, sizeof(order), "run %s 0 1", kernel);
	fault_worker_run(&guilty, order);
	send_order(&guilty, "wait 0");
	expect_own(&guilty, native, kernel);
	fault_worker_finish(&guilty);
}

/* Faults of kernels, and faults that no kernel causes on purpose: memory, links, contained errors,
 * a watchdog, a broken stack, an unknown error. */
Test(processes_cuda_faults, F12_I11_each_way_of_the_driver_is_told_with_its_number,
     .init = setup_faults, .fini = teardown_faults)
{
	static const struct {
		int native;
		const char *words;
	} ways[] = {
		{214, "ECC"},
		{220, "NVLink"},
		{226, "contain"},
		{700, "outside of its allocations"},
		{702, "watchdog"},
		{710, "assertion"},
		{714, "stack"},
		{715, "instruction"},
		{716, "multiple of"},
		{717, "address space"},
		{718, "jumped"},
		{719, "a trap"},
		{999, "the device failed"},
	};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct child guilty = CHILD_INIT;
		char line[LINE_BYTES];
		(void)fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
		fault_worker_run(&guilty, "work 1");
		say("command fault_launch 1 %d", ways[i].native);
		fault_worker_run(&guilty, "run works 0 1");
		send_order(&guilty, "wait 0");
		expect_lost(&guilty, ways[i].native, ways[i].words, line);
		cr_expect(strstr(line, "this session"), "%s", line);
		cr_expect(strstr(line, "'works'"), "%s", line);
		/* Every further request fails with it: the session has ended. */
		send_order(&guilty, "work 1");
		expect_lost(&guilty, ways[i].native, ways[i].words, line);
		fault_worker_finish(&guilty);
	}
	expect_service(FAULT_WORKER_OWN);
}

Test(processes_cuda_faults, F12_another_session_of_the_user_is_told_whose_group_it_was,
     .init = setup_faults, .fini = teardown_faults)
{
	struct child guilty = CHILD_INIT, bystander = CHILD_INIT;
	(void)fault_worker_begin(&fake, &bystander, FAULT_WORKER_OWN);
	fault_worker_run(&bystander, "work 3");
	unsigned long session = fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "run illegal 0 1");
	send_order(&guilty, "wait 0");
	expect_own(&guilty, 700, "illegal");
	send_order(&bystander, "work 1");
	expect_other(&bystander, 700, "illegal", session);
	fault_worker_finish(&guilty);
	fault_worker_finish(&bystander);
	expect_service(FAULT_WORKER_OWN);
}

/* A kernel stays on the device; threads wait in every possible way; then the device fails. */
Test(processes_cuda_faults, N5_every_wait_ends, .init = setup_faults, .fini = teardown_faults)
{
	struct child waiting = CHILD_INIT;
	char line[LINE_BYTES];
	(void)fault_worker_begin(&fake, &waiting, FAULT_WORKER_OWN);
	fault_worker_run(&waiting, "work 1");
	say("command gate close held", 0);
	fault_worker_run(&waiting, "run held 0 1");
	fake_service_await(&fake, cuda_faults_engine_of(-1), "held held", 1);
	fault_worker_run(&waiting, "waiters");
	fake_service_lose(&fake, cuda_faults_engine_of(-1), 700);
	send_order(&waiting, "waited");
	for (int i = 0; i < WAITS; i++)
		expect_lost(&waiting, 700, "'held' (this session", line);
	cr_assert_eq(child_read_line(&waiting, line, sizeof(line), SOON), 1);
	cr_assert_eq(strcmp(line, "ok"), 0, "%s", line);
	fault_worker_finish(&waiting);
	expect_service(FAULT_WORKER_OWN);
}

Test(processes_cuda_faults, N5_sessions_that_submit_meanwhile_end_with_the_same_words,
     .init = setup_faults, .fini = teardown_faults)
{
	struct child floods[FLOODS], guilty = CHILD_INIT;
	char line[LINE_BYTES];
	for (int i = 0; i < FLOODS; i++) {
		floods[i] = (struct child)CHILD_INIT;
		(void)fault_worker_begin(&fake, &floods[i], FAULT_WORKER_OWN);
		send_order(&floods[i], "flood");
		worker_expect(&floods[i], "flooding", line);
	}
	(void)fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 2");
	fault_worker_run(&guilty, "run misaligned 0 1");
	send_order(&guilty, "wait 0");
	expect_lost(&guilty, 716, "misaligned", line);
	for (int i = 0; i < FLOODS; i++) {
		expect_lost(&floods[i], 716, "multiple of", line);
		fault_worker_finish(&floods[i]);
	}
	fault_worker_finish(&guilty);
	expect_service(FAULT_WORKER_OWN);
}

/* An operator ends the engine while its lanes are full and a kernel is held. The engine ends, its
 * sessions get the error, and another engine replaces it. */
Test(processes_cuda_faults, N5_an_engine_that_is_ended_under_load, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child floods[FLOODS];
	char line[LINE_BYTES];
	for (int i = 0; i < FLOODS; i++) {
		floods[i] = (struct child)CHILD_INIT;
		(void)fault_worker_begin(&fake, &floods[i], FAULT_WORKER_OWN);
		fault_worker_run(&floods[i], "work 1");
	}
	say("command gate close held", 0);
	fault_worker_run(&floods[0], "run held 3 1");
	pid_t engine = cuda_faults_engine_of(-1);
	fake_service_await(&fake, engine, "held held", 1);
	for (int i = 0; i < FLOODS; i++) {
		send_order(&floods[i], "flood");
		worker_expect(&floods[i], "flooding", line);
	}
	cr_assert_eq(kill(engine, SIGTERM), 0);
	for (int i = 0; i < FLOODS; i++) {
		cr_assert_eq(child_read_line(&floods[i], line, sizeof(line), SOON), 1,
			     "no error is reported");
		cr_expect(strstr(line, "SYCL_ERROR_CONNECTION_LOST the engine is stopping"), "%s",
			  line);
		fault_worker_finish(&floods[i]);
	}
	cr_expect(wait_until(processes_gone, &engine, SOON), "the engine does not end");
	expect_service(FAULT_WORKER_OWN);
}

/* There are three lanes with a kernel on each: the offender cannot be determined. */
Test(processes_cuda_faults, F12_several_groups_in_flight_are_suspects, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child one = CHILD_INIT, other = CHILD_INIT;
	char line[LINE_BYTES];
	(void)fault_worker_begin(&fake, &one, FAULT_WORKER_OWN);
	(void)fault_worker_begin(&fake, &other, FAULT_WORKER_OWN);
	fault_worker_run(&one, "work 1");
	fault_worker_run(&other, "work 1");
	say("command gate close held", 0);
	fault_worker_run(&one, "run held 1 1");
	fault_worker_run(&one, "run held 2 1");
	fault_worker_run(&other, "run held 3 1");
	fake_service_await(&fake, cuda_faults_engine_of(-1), "held held", 3);
	fake_service_lose(&fake, cuda_faults_engine_of(-1), 719);
	send_order(&one, "wait 1");
	expect_lost(&one, 719, "there were 3 command groups in flight, one of them at fault", line);
	cr_expect(strstr(line, "this session"), "%s", line);
	send_order(&other, "wait 3");
	expect_lost(&other, 719, "there were 3 command groups in flight, one of them at fault",
		    line);
	fault_worker_finish(&one);
	fault_worker_finish(&other);
	expect_service(FAULT_WORKER_OWN);
}

/* Groups that wait behind a kernel, on its lane or for its result, cannot be the offender. */
Test(processes_cuda_faults, F12_what_had_not_begun_is_no_suspect, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child guilty = CHILD_INIT;
	(void)fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	say("command gate close held", 0);
	fault_worker_run(&guilty, "run held 0 1");
	fake_service_await(&fake, cuda_faults_engine_of(-1), "held held", 1);
	fault_worker_run(&guilty, "run works 0 40");
	fake_service_lose(&fake, cuda_faults_engine_of(-1), 700);
	send_order(&guilty, "wait 0");
	expect_own(&guilty, 700, "'held' (this session");
	fault_worker_finish(&guilty);
	expect_service(FAULT_WORKER_OWN);
}

/* The loader's thread gets the error first. */
Test(processes_cuda_faults, F11_a_fault_that_a_module_load_finds, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child loading = CHILD_INIT, bystander = CHILD_INIT;
	char line[LINE_BYTES];
	(void)fault_worker_begin(&fake, &bystander, FAULT_WORKER_OWN);
	fault_worker_run(&bystander, "work 1");
	(void)fault_worker_begin(&fake, &loading, FAULT_WORKER_OWN);
	say("command fail cuModuleLoadDataEx 1 %d", 214);
	fault_worker_run(&loading, "reload");
	send_order(&loading, "run works 0 1");
	expect_lost(&loading, 214, "ECC", line);
	cr_expect(strstr(line, "this session") == NULL, "nothing of it ran: %s", line);
	send_order(&bystander, "work 1");
	expect_lost(&bystander, 214, "ECC", line);
	fault_worker_finish(&loading);
	fault_worker_finish(&bystander);
	expect_service(FAULT_WORKER_OWN);
}

/* A module waits until nothing runs; the device fails meanwhile. */
Test(processes_cuda_faults, F11_a_fault_while_a_module_waits_for_its_load, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child guilty = CHILD_INIT, loading = CHILD_INIT;
	char line[LINE_BYTES];
	unsigned long session = fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	(void)fault_worker_begin(&fake, &loading, FAULT_WORKER_OWN);
	say("command gate close held", 0);
	fault_worker_run(&guilty, "run held 0 1");
	fake_service_await(&fake, cuda_faults_engine_of(-1), "held held", 1);
	fault_worker_run(&loading, "reload");
	send_order(&loading, "run works 0 3");
	fake_service_lose(&fake, cuda_faults_engine_of(-1), 700);
	expect_other(&loading, 700, "held", session);
	send_order(&guilty, "wait 0");
	expect_lost(&guilty, 700, "'held' (this session", line);
	fault_worker_finish(&guilty);
	fault_worker_finish(&loading);
	expect_service(FAULT_WORKER_OWN);
}

/* Nothing runs, so no group is at fault. The next session that uses the device gets the error, and
 * the engine is replaced. */
Test(processes_cuda_faults, a_device_that_fails_while_it_rests, .init = setup_faults,
     .fini = teardown_faults)
{
	static const int ways[] = {214, 999};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct child worker = CHILD_INIT;
		char line[LINE_BYTES];
		(void)fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
		fault_worker_run(&worker, "work 1");
		pid_t engine = cuda_faults_engine_of(-1);
		say("command lose %d", ways[i]); /* an idle engine calls no driver, so it answers */
		send_order(&worker, "work 1");
		expect_lost(&worker, ways[i], "", line);
		cr_expect(strstr(line, "this session") == NULL, "nothing of it was running: %s",
			  line);
		fault_worker_finish(&worker);
		expect_service(FAULT_WORKER_OWN);
		cr_expect_neq(cuda_faults_engine_of(-1), engine);
	}
}

/* The next engine opens the device before a session requests it. Later sessions find it open. */
Test(processes_cuda_faults, the_next_engine_waits_with_the_device_open, .init = setup_faults,
     .fini = teardown_faults)
{
	struct child guilty = CHILD_INIT;
	char line[LINE_BYTES];
	(void)fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	pid_t before = cuda_faults_engine_of(-1);
	fault_worker_run(&guilty, "run traps 0 1");
	send_order(&guilty, "wait 0");
	expect_lost(&guilty, 719, "traps", line);
	fault_worker_finish(&guilty);
	cr_assert(wait_until(is_another_engine, &before, SOON), "no other engine is started");
	pid_t next = cuda_faults_engine_of(-1);
	fake_service_await(&fake, next, "contexts", 1);
	expect_service(FAULT_WORKER_OWN);
	cr_expect_eq(cuda_faults_engine_of(-1), next);
}

/* Kernels fail repeatedly, as root beside another user's session. */
Test(processes_cuda_faults,
     F12_M10_twenty_faults_in_a_row_leave_nothing_and_are_no_other_users_loss,
     .fini = teardown_faults)
{
	struct child neighbour = CHILD_INIT;
	bool users = geteuid() == 0;
	int guilty_uid = users ? GUILTY_UID : FAULT_WORKER_OWN;
	start_faulty_service(users);
	fail_once(guilty_uid, "illegal", 700);
	pid_t engine = 0;
	if (users) {
		(void)fault_worker_begin(&fake, &neighbour, NEIGHBOUR_UID);
		fault_worker_run(&neighbour, "work 3");
		engine = cuda_faults_engine_of(NEIGHBOUR_UID);
	}
	expect_service(guilty_uid);
	/* The standby exists as at the end: sycld holds two descriptors for it. */
	cr_assert_gt(private_service_wait_standby(fake.service, SOON), 0);
	struct footprint sycld = footprint_take(fake.service->sycld.pid);
	for (int i = 0; i < MANY; i++) {
		fail_once(guilty_uid, i % 2 ? "illegal" : "traps", i % 2 ? 700 : 719);
		if (users)
			fault_worker_run(&neighbour, "work 1");
	}
	expect_service(guilty_uid);
	cr_assert_gt(private_service_wait_standby(fake.service, SOON), 0);
	footprint_expect(&sycld);
	if (!users)
		return;
	cr_expect_eq(cuda_faults_engine_of(NEIGHBOUR_UID), engine,
		     "the neighbour's engine was replaced");
	fault_worker_finish(&neighbour);
}
