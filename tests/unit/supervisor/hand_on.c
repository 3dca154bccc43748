/* Which sessions go to an engine and when, with real sockets of clients, and an engine that only
 * records what it gets. */
#include "engine/hand_on.h"

#include "account/claims.h"
#include "cleanup.h"
#include "control.pb-c.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/handles.h"
#include "engine/listed.h"
#include "engine/log.h"
#include "engine/sessions.h"
#include "engine/sharing.h"
#include "service/supervisor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HANDED_MAX = 16 };

static struct supervisor supervisor;
static struct tenant tenant;
static struct engine *engine;
static int engines_end;
static uint64_t handed[HANDED_MAX]; /* the sessions that the engine has got, in order */
static unsigned handed_count;
static int send_result;
static unsigned paused_count; /* sessions whose pause followed them */

/* Sessions in the list for the next service, as bits. */
static uint64_t listed;

void engine_list_session(struct engine *of, uint64_t session)
{
	(void)of;
	listed |= 1ull << session;
}

void engine_unlist_session(struct engine *of, uint64_t session)
{
	(void)of;
	listed &= ~(1ull << session);
}

int engine_send_session(struct engine *to, const struct session *session)
{
	(void)to;
	cr_expect(listed & 1ull << session->id, "the service may be killed now");
	if (send_result == 0)
		handed[handed_count++] = session->id;
	return send_result;
}

int engine_send_order(struct engine *to, uint64_t session, int act, const char *text,
		      uint64_t value)
{
	(void)to;
	(void)text;
	(void)value;
	cr_expect(handed_count > 0 && handed[handed_count - 1] == session,
		  "the engine knows the session");
	paused_count += act == SYCL__V1__SESSION_ORDER__ACT__ACT_PAUSE;
	return 0;
}

void engine_control_lost(struct engine *lost, const char *reason)
{
	(void)lost;
	cr_fatal("%s", reason);
}

void tenant_session_joined(struct tenant *of)
{
	of->session_count++;
}

void tenant_session_left(struct tenant *of, struct session *session)
{
	of->session_count--;
	unsettled_remove(session);
}

void engine_claims_fini(struct engine_claims *claims)
{
	(void)claims;
}

struct engine_log *engine_log_free(struct engine_log *log)
{
	(void)log;
	return NULL;
}

struct engine_share *engine_share_free(struct engine_share *share)
{
	(void)share;
	return NULL;
}

static void on_session_ended(struct supervisor *of, const struct session *session)
{
	(void)of;
	(void)session;
}

static void on_session_overdue(struct session *session, const char *text)
{
	engine_drop_waiting(engine, session, text);
}

static unsigned received_most;
static bool turn_is_long;

uint64_t __real_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop);

uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
	(void)loop;
	return turn_is_long ? 0 : UINT64_MAX / 2;
}

static void on_received(struct engine *from, unsigned most)
{
	char byte;
	received_most = most;
	(void)recv(from->control, &byte, sizeof(byte), MSG_DONTWAIT);
}

static const struct service_observer observer = {
	.session_ended = on_session_ended,
	.session_overdue = on_session_overdue,
	.session_readable = engine_client_readable,
	.received = on_received,
};

static void open_hand_on(void)
{
	int pair[2];
	(void)uv_loop_init(&supervisor.loop);
	supervisor.observer = &observer;
	supervisor.configuration.handshake_ns = 1000000000000;
	supervisor.configuration.engine_start_ns = 1000000000000;
	TAILQ_INIT(&supervisor.tenants);
	tenant.supervisor = &supervisor;
	cr_assert(eq(int, unsettled_open(&supervisor), 0));
	engine = engine_new(&tenant);
	cr_assert(ne(ptr, engine, NULL));
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0));
	engine->control = pair[0];
	engines_end = pair[1];
	engine->pidfd = pidfd_open(getpid(), 0);
	cr_assert(eq(int, engine_open_control_poll(engine), 0));
	cr_assert(eq(int, engine_open_handles(engine, &supervisor.loop), 0));
}

static void close_hand_on(void)
{
	engine_end_sessions(engine);
	engine_refuse_waiting(engine, "the test is over");
	engine_close_handles(engine);
	unsettled_close(&supervisor);
	(void)uv_run(&supervisor.loop, UV_RUN_DEFAULT);
	cr_expect(eq(int, uv_loop_close(&supervisor.loop), 0));
	close_fd(&engines_end);
}

TestSuite(hand_on, .init = open_hand_on, .fini = close_hand_on, .timeout = 60);

/* Gives a session to the engine. Returns the socket of its client. */
static int give_session(uint64_t id, bool has_sent)
{
	int pair[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0));
	struct peer peer = {.pid = getpid(), .pidfd = pidfd_open(getpid(), 0)};
	struct session *session = session_new(id, pair[0], &peer);
	cr_assert(ne(ptr, session, NULL));
	if (has_sent)
		cr_assert(eq(int, (int)send(pair[1], "x", 1, 0), 1));
	engine_give_session(engine, session);
	return pair[1];
}

static void say_something(int client)
{
	cr_assert(eq(int, (int)send(client, "x", 1, 0), 1));
	(void)uv_run(&supervisor.loop, UV_RUN_NOWAIT);
}

static void expect_handed(const char *wanted)
{
	char text[HANDED_MAX * 8] = "";
	for (unsigned i = 0; i < handed_count; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d",
			       i ? " " : "", (int)handed[i]);
	cr_expect(eq(str, text, (char *)(uintptr_t)wanted));
}

Test(hand_on, who_has_sent_something_goes_first_in_the_order_of_arrival)
{
	int clients[5];
	for (unsigned i = 0; i < 5; i++)
		clients[i] = give_session(i + 1, i != 1 && i != 3);
	expect_handed("");
	engine->state = ENGINE_READY;
	engine_flush(engine);
	expect_handed("1 3 5");
	cr_expect(eq(uint, engine->waiting_count, 2u));
	say_something(clients[3]);
	say_something(clients[1]);
	expect_handed("1 3 5 4 2");
	cr_expect(eq(uint, engine->waiting_count, 0u));
	for (unsigned i = 0; i < 5; i++)
		close_fd(&clients[i]);
}

Test(hand_on, a_flush_leaves_nothing_to_look_at_again_of_clients_that_are_silent)
{
	int clients[8];
	engine->state = ENGINE_READY;
	for (unsigned i = 0; i < 8; i++)
		clients[i] = give_session(i + 1, false);
	cr_expect(TAILQ_EMPTY(&engine->waiting), "the next flush begins with these");
	cr_expect(eq(uint, engine->waiting_count, 8u));
	/* The last of a list, and one in its middle, are dropped; then others come. */
	engine_drop_waiting(engine, TAILQ_LAST(&engine->silent, session_list), "late");
	engine_drop_waiting(engine, TAILQ_NEXT(TAILQ_FIRST(&engine->silent), link), "late");
	int ninth = give_session(9, false), tenth = give_session(10, true);
	expect_handed("10");
	say_something(ninth);
	say_something(clients[2]);
	expect_handed("10 9 3");
	cr_expect(eq(uint, engine->waiting_count, 5u));
	for (unsigned i = 0; i < 8; i++)
		close_fd(&clients[i]);
	close_fd(&ninth);
	close_fd(&tenth);
}

Test(hand_on, a_full_control_socket_keeps_the_order)
{
	engine->state = ENGINE_READY;
	send_result = -EAGAIN;
	int first = give_session(1, true), second = give_session(2, true);
	cr_expect(eq(int, engine->control_events, UV_READABLE | UV_WRITABLE));
	cr_expect(zero(u64, listed), "the engine has none");
	send_result = 0;
	(void)uv_run(&supervisor.loop, UV_RUN_NOWAIT);
	expect_handed("1 2");
	cr_expect(eq(int, engine->control_events, UV_READABLE));
	close_fd(&first);
	close_fd(&second);
}

/* Leaves the engine as engine_kill() does while its process has not ended yet. */
static void mark_killed(void)
{
	(void)snprintf(engine->kill_reason, sizeof(engine->kill_reason), "the test kills it");
	engine->state = ENGINE_STOPPING;
	(void)uv_poll_stop(engine->control_poll);
	engine->control_events = 0;
}

Test(hand_on, a_killed_engine_is_not_watched_again_when_a_silent_client_sends)
{
	engine->state = ENGINE_READY;
	int silent = give_session(1, false);
	cr_assert(uv_is_active((uv_handle_t *)engine->control_poll));
	mark_killed();
	/* It is not read any more, so the loop would find it readable in each of its rounds. */
	cr_assert(eq(int, (int)send(engines_end, "x", 1, 0), 1));
	say_something(silent);
	cr_expect(not(uv_is_active((uv_handle_t *)engine->control_poll)));
	cr_expect(eq(uint, engine->waiting_count, 1u), "it goes to the next engine");
	expect_handed("");
	close_fd(&silent);
}

/* Otherwise those of many engines that send large messages together delay everybody. */
Test(hand_on, a_turn_of_the_loop_that_takes_long_reads_one_message_of_each_engine)
{
	engine->state = ENGINE_READY;
	engine_flush(engine);
	cr_assert(eq(int, (int)send(engines_end, "x", 1, 0), 1));
	(void)uv_run(&supervisor.loop, UV_RUN_NOWAIT);
	cr_expect(gt(uint, received_most, 1u));
	turn_is_long = true;
	cr_assert(eq(int, (int)send(engines_end, "x", 1, 0), 1));
	(void)uv_run(&supervisor.loop, UV_RUN_NOWAIT);
	cr_expect(eq(uint, received_most, 1u));
}

/* Each has two descriptors, and all processes of the test's user together have tried to connect. */
Test(hand_on, sessions_that_are_not_open_leave_descriptors_where_there_are_few)
{
	const struct rlimit few = {.rlim_cur = 1024, .rlim_max = 1024};
	struct refusal refusal = {.text = ""};
	supervisor.privileged = true;
	TAILQ_INSERT_TAIL(&supervisor.tenants, &tenant, link);
	cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &few), 0));
	cr_expect(unsettled_may_add(&tenant, &refusal));
	supervisor.unsettled.count = 1024 / 2 - 1024 / 8;
	cr_expect(not(unsettled_may_add(&tenant, &refusal)));
	cr_expect(eq(str, refusal.text,
		     (char *)(uintptr_t) "too many processes connect at one time"));
	supervisor.unsettled.count = 0;
	TAILQ_REMOVE(&supervisor.tenants, &tenant, link);
}
