/*
 * Sessions that end with work to be sent (N4): an operator or the end of their process ends them,
 * or they are closed. Work that had begun is finished, other sessions continue, and nothing is
 * left.
 */
#include "library/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1000, GATE = 1 };

/* Some commands may have begun: those that were sent to the device's thread. They are at most as
 * many as fill a lane. */
enum { SENT_MOST = 240 };

static sycl_device device;

struct victim {
	sycl_platform platform;
	sycl_queue queue;
	sycl_device device;
	sycl_kernel hold, increment;
	sycl_buffer own;
	uint64_t session;
	pid_t process; /* 0: this one */
};

static void start_killed(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){
					       .features = FAKE_FEATURES_ALL &
							   ~(uint32_t)BACKEND_FEATURE_GRAPH});
	with_service();
	device = fake_device(platform, 0);
}

static void killed_stop(void)
{
	MUST(sycl_device_release(device));
	without_service();
}

TestSuite(client_killed, .timeout = 120, .init = start_killed, .fini = killed_stop);

/* Makes a process. For the engine its end is the end of the session's client. */
static pid_t make_process(void)
{
	pid_t process = fork();
	if (process == 0) {
		(void)prctl(PR_SET_PDEATHSIG,
			    SIGKILL); /* a test that fails must leave no process behind */
		for (;;)
			(void)pause();
	}
	service.process = (int)syscall(SYS_pidfd_open, process, 0);
	cr_assert(ge(int, service.process, 0));
	return process;
}

static struct victim victim_open(uint32_t properties, bool has_process)
{
	struct victim victim = {.process = has_process ? make_process() : 0};
	MUST(sycl_platform_open(service.endpoint, &victim.platform));
	MUST(sycl_platform_get_info(victim.platform, SYCL_PLATFORM_INFO_SESSION,
				    sizeof(victim.session), &victim.session, NULL));
	victim.queue = fake_queue(victim.platform, properties);
	victim.device = fake_device(victim.platform, 0);
	victim.hold = fake_kernel(victim.queue, "hold");
	victim.increment = fake_kernel(victim.queue, "increment_u32");
	MUST(sycl_buffer_create(victim.platform, NULL, BYTES, SYCL_HOST_NONE, &victim.own));
	return victim;
}

/* Releases its handles; the connection closes with the last one. */
static void victim_close(struct victim *victim)
{
	(void)sycl_buffer_release(victim->own);
	(void)sycl_kernel_release(victim->hold);
	(void)sycl_kernel_release(victim->increment);
	(void)sycl_queue_release(victim->queue);
	(void)sycl_device_release(victim->device);
	(void)sycl_platform_release(victim->platform);
}

static void end_process(struct victim *victim)
{
	cr_assert(eq(int, kill(victim->process, SIGKILL), 0));
	cr_assert(eq(int, waitpid(victim->process, NULL, 0), victim->process));
	victim->process = 0;
}

static sycl_result try_increment(sycl_queue on, sycl_kernel kernel, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	sycl_result r = sycl_handler_begin(on, &handler);
	if (r == 0)
		r = sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for(handler, kernel, sycl_range1(N));
	return r == 0 ? sycl_handler_submit(handler, NULL) : r;
}

static void increment_many(const struct victim *victim, sycl_buffer buffer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		MUST(try_increment(victim->queue, victim->increment, buffer));
}

/* The engine has read all that was submitted. */
static void settle(const struct victim *victim)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(victim->platform, &usage));
}

static uint64_t launches(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	return counters.launches;
}

/* Starts a kernel that runs until its gate is opened. Groups that require the buffer come behind
 * it. */
static void hold_buffer(const struct victim *victim, sycl_buffer buffer)
{
	struct fake_counters counters;
	submit_hold(victim->queue, victim->hold, GATE, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	do {
		settle(victim);
		fake_counters(0, &counters);
	} while (counters.calls[FAKE_SUBMIT] == 0);
	cr_assert(fake_wait_started(
		0, counters.launches + counters.writes + counters.reads + counters.fills + 1,
		LONG_NS));
}

/* Other sessions work without delay. */
static void killed_expect_others_work(void)
{
	sycl_buffer buffer = NULL;
	sycl_kernel kernel = fake_kernel(queue, "fill_u32");
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	submit_fill(queue, kernel, buffer, 3, N, NULL);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
}

/* Checks that all groups are accounted for. Returns how many of them ran. */
static uint64_t expect_gone(void)
{
	client_service_wait_gone(&service);
	const Sycl__V1__Usage *usage = &service.last_usage;
	cr_expect(eq(u64, usage->groups_completed + usage->groups_failed, usage->groups_submitted));
	cr_expect(eq(u64, usage->buffer_bytes, 0));
	return usage->groups_completed;
}

static void expect_killed(const struct victim *victim)
{
	cr_expect(eq(int, sycl_queue_wait_for(victim->queue, LONG_NS), SYCL_ERROR_CONNECTION_LOST));
	cr_expect(strstr(sycl_get_last_error_text(), "ended by the operator: a test") != NULL, "%s",
		  sycl_get_last_error_text());
}

/* ------------------------------------- an operator -------------------------------------- */

static void kill_with_a_thousand(uint32_t properties)
{
	struct victim victim = victim_open(properties, false);
	hold_buffer(&victim, victim.own);
	increment_many(&victim, victim.own, MANY);
	settle(&victim);
	uint64_t before = launches();
	client_service_kill(&service, victim.session);
	client_service_kill(&service, victim.session); /* a second order changes nothing */
	expect_killed(&victim);
	killed_expect_others_work();
	fake_gate_open(GATE);
	cr_expect(le(u64, expect_gone(), SENT_MOST));
	cr_expect(le(u64, launches() - before, SENT_MOST));
	victim_close(&victim);
}

Test(client_killed, N4_a_thousand_groups_of_a_queue_out_of_order)
{
	kill_with_a_thousand(0);
}

Test(client_killed, N4_a_thousand_groups_of_an_in_order_queue)
{
	kill_with_a_thousand(SYCL_QUEUE_IN_ORDER);
}

/* Returns another session's handle of an exportable buffer of the victim. */
static sycl_buffer share(const struct victim *victim, sycl_buffer *theirs)
{
	static uint32_t words[N];
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	sycl_buffer mine = NULL;
	memset(words, 0, sizeof(words));
	MUST(sycl_buffer_create_exportable(victim->device, words, BYTES, SYCL_HOST_CONST,
					   SYCL_SHARE_VMM, theirs));
	MUST(sycl_buffer_export(*theirs, &shared));
	MUST(sycl_buffer_import(device, &shared, &mine));
	(void)close(shared.descriptor);
	return mine;
}

static sycl_result killed_read_words(sycl_buffer buffer, uint32_t *first_out)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	sycl_result r = sycl_host_accessor_create_for(buffer, SYCL_ACCESS_READ, LONG_NS, &accessor);
	if (r)
		return r;
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	*first_out = *(uint32_t *)words;
	cr_expect(all_are(words, *first_out));
	return sycl_host_accessor_release(accessor);
}

Test(client_killed, N4_M9_who_shares_a_buffer_with_it_is_told_until_it_is_written_anew)
{
	struct victim victim = victim_open(SYCL_QUEUE_IN_ORDER, false);
	sycl_buffer theirs = NULL, mine = share(&victim, &theirs);
	sycl_kernel kernel = fake_kernel(queue, "fill_u32");
	uint32_t value = 0;
	hold_buffer(&victim, victim.own);
	/* These are more than a lane takes. The ones behind them are on no device. */
	increment_many(&victim, victim.own, 2 * SENT_MOST);
	increment_many(&victim, theirs, 3);
	settle(&victim);
	client_service_kill(&service, victim.session);
	fake_gate_open(GATE);
	cr_expect(eq(int, killed_read_words(mine, &value), SYCL_ERROR_DEPENDENCY_FAILED));
	cr_expect(strstr(sycl_get_last_error_text(), "ended by the operator: a test") != NULL, "%s",
		  sycl_get_last_error_text());
	sycl_handler handler = NULL;
	const uint32_t nine = 9;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, mine, 0, BYTES, &nine, sizeof(nine)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(killed_read_words(mine, &value));
	cr_expect(eq(u32, value, 9));
	(void)expect_gone();
	(void)sycl_buffer_release(theirs);
	MUST(sycl_buffer_release(mine));
	MUST(sycl_kernel_release(kernel));
	victim_close(&victim);
}

struct submitter {
	const struct victim *victim;
	sycl_executable_graph graph; /* NULL: increments */
	_Atomic uint32_t submitted;
};

static void *submit_until_killed(void *context)
{
	struct submitter *submitter = context;
	sycl_result r = 0;
	while (r == 0) {
		r = submitter->graph
			    ? sycl_queue_graph(submitter->victim->queue, submitter->graph, 0, NULL,
					       NULL)
			    : try_increment(submitter->victim->queue, submitter->victim->increment,
					    submitter->victim->own);
		uint32_t count = atomic_fetch_add(&submitter->submitted, 1);
		if (r == 0 && (submitter->graph || count % 256 == 255))
			r = sycl_queue_wait_for(submitter->victim->queue, LONG_NS);
	}
	return r == SYCL_ERROR_CONNECTION_LOST ? NULL : context;
}

/* Ends the session while it submits, at a different moment each time. */
static void kill_while(struct submitter *submitter, uint32_t at)
{
	pthread_t thread;
	void *wrong = NULL;
	cr_assert(eq(int, pthread_create(&thread, NULL, submit_until_killed, submitter), 0));
	while (atomic_load(&submitter->submitted) < at)
		;
	client_service_kill(&service, submitter->victim->session);
	cr_assert(eq(int, pthread_join(thread, &wrong), 0));
	cr_expect(eq(ptr, wrong, NULL));
	client_service_kill(&service, submitter->victim->session);
	(void)expect_gone();
}

/* Groups come in bursts, of which the engine reads many at a time. */
Test(client_killed, N4_while_groups_are_submitted)
{
	for (uint32_t round = 0; round < 25; round++) {
		struct victim victim = victim_open(round % 3 ? SYCL_QUEUE_IN_ORDER : 0, false);
		struct submitter submitter = {.victim = &victim};
		kill_while(&submitter, 1 + round * 37);
		victim_close(&victim);
		killed_expect_others_work();
	}
}

static sycl_result count_calls(sycl_host_task task, void *user_data)
{
	(void)task;
	atomic_fetch_add((_Atomic uint32_t *)user_data, 1);
	return SYCL_SUCCESS;
}

static void killed_add_node(sycl_graph graph, sycl_handler handler)
{
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
}

/* A graph of kernel, host task, kernel. They use one buffer, so each comes behind the one
 * before. */
static sycl_executable_graph graph_of(const struct victim *victim, _Atomic uint32_t *calls)
{
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	MUST(sycl_queue_get_context(victim->queue, &context));
	MUST(sycl_graph_create(context, victim->device, NULL, &graph));
	for (int i = 0; i < 3; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(victim->queue, &handler));
		if (i == 1) {
			MUST(sycl_handler_require(handler, victim->own, SYCL_ACCESS_READ_WRITE));
			MUST(sycl_handler_host_task(handler, count_calls, (void *)(uintptr_t)calls,
						    NULL));
		} else {
			MUST(sycl_handler_set_accessor(handler, 0, victim->own,
						       SYCL_ACCESS_READ_WRITE));
			MUST(sycl_handler_parallel_for(handler, victim->increment, sycl_range1(N)));
		}
		killed_add_node(graph, handler);
	}
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_context_release(context));
	return executable;
}

Test(client_killed, N4_while_a_graph_with_a_host_task_is_replayed)
{
	for (uint32_t round = 0; round < 12; round++) {
		_Atomic uint32_t calls = 0;
		struct victim victim = victim_open(round % 2 ? SYCL_QUEUE_IN_ORDER : 0, false);
		struct submitter submitter = {.victim = &victim,
					      .graph = graph_of(&victim, &calls)};
		kill_while(&submitter, 1 + round);
		(void)sycl_executable_graph_release(submitter.graph);
		victim_close(&victim);
		killed_expect_others_work();
	}
}

/* There are many launches of it, and none has had its turn. */
Test(client_killed, N4_graphs_and_host_tasks_that_wait)
{
	_Atomic uint32_t calls = 0;
	struct victim victim = victim_open(SYCL_QUEUE_IN_ORDER, false);
	sycl_executable_graph graph = graph_of(&victim, &calls);
	hold_buffer(&victim, victim.own);
	for (uint32_t i = 0; i < 20; i++)
		MUST(sycl_queue_graph(victim.queue, graph, 0, NULL, NULL));
	settle(&victim);
	uint64_t before = launches();
	client_service_kill(&service, victim.session);
	fake_gate_open(GATE);
	(void)expect_gone();
	cr_expect(zero(u32, atomic_load(&calls)));
	cr_expect(le(u64, launches() - before, 2), "what runs, and what was on the lane behind it");
	(void)sycl_executable_graph_release(graph);
	victim_close(&victim);
}

/* ----------------------------- its process, and its own end ----------------------------- */

/* Work with results that others can observe is completed, however the session ends. Other work
 * stops with the process. */
Test(client_killed, N4_F10_what_others_may_see_runs_though_its_process_has_ended)
{
	struct victim victim = victim_open(0, true);
	sycl_buffer theirs = NULL, mine = share(&victim, &theirs);
	uint32_t value = 0;
	hold_buffer(&victim, theirs);
	submit_hold(victim.queue, victim.hold, GATE, victim.own, SYCL_ACCESS_READ_WRITE, NULL);
	increment_many(&victim, theirs, 50);
	increment_many(&victim, victim.own, MANY);
	settle(&victim);
	end_process(&victim);
	cr_expect(eq(int, sycl_queue_wait_for(victim.queue, LONG_NS), SYCL_ERROR_CONNECTION_LOST));
	killed_expect_others_work();
	fake_gate_open(GATE);
	MUST(killed_read_words(mine, &value));
	cr_expect(eq(u32, value, 50));
	cr_expect(le(u64, expect_gone(), 52 + SENT_MOST));
	(void)sycl_buffer_release(theirs);
	MUST(sycl_buffer_release(mine));
	victim_close(&victim);
}

/* Closing a session does not stop its work (D15, D16): as long as its process exists, all of it
 * runs. */
Test(client_killed, N4_D16_all_that_was_submitted_runs_of_who_has_closed_and_lives)
{
	struct victim victim = victim_open(0, true);
	hold_buffer(&victim, victim.own);
	increment_many(&victim, victim.own, MANY);
	settle(&victim);
	victim_close(&victim);
	killed_expect_others_work();
	fake_gate_open(GATE);
	cr_expect(eq(u64, expect_gone(), 1 + MANY));
	end_process(&victim);
}

/* The session is closed, and then its process ends, as in every program that ends. It does not
 * matter which of the two the engine detects first. */
Test(client_killed, N4_nobody_is_left_who_wants_what_was_submitted_before_it_closed)
{
	struct victim victim = victim_open(0, true);
	uint64_t before = 0;
	hold_buffer(&victim, victim.own);
	increment_many(&victim, victim.own, MANY);
	settle(&victim);
	victim_close(&victim);
	killed_expect_others_work();
	before = launches();
	end_process(&victim);
	killed_expect_others_work();
	/* The engine's loop polls its descriptors in each of its turns. This takes several
	 * turns. */
	for (uint32_t i = 0; i < 10; i++)
		killed_expect_others_work();
	fake_gate_open(GATE);
	cr_expect(le(u64, expect_gone(), SENT_MOST));
	cr_expect(le(u64, launches() - before, SENT_MOST + 11));
}

/* An operator ends a session that is closing already. */
Test(client_killed, N4_a_session_that_is_closing_can_be_killed)
{
	struct victim victim = victim_open(0, false);
	hold_buffer(&victim, victim.own);
	increment_many(&victim, victim.own, MANY);
	settle(&victim);
	victim_close(&victim);
	killed_expect_others_work();
	client_service_kill(&service, victim.session);
	fake_gate_open(GATE);
	cr_expect(le(u64, expect_gone(), SENT_MOST));
}
