/* Which sessions a service accepts from an engine that returns. The rest of the engine's files is
 * invented. */
#include "engine/return.h"

#include "account/claims.h"
#include "account/file.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "base/session_proof.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/engine.h"
#include "engine/listed.h"
#include "engine/log.h"
#include "engine/sessions.h"
#include "engine/succession.h"
#include "service/supervisor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ENGINES = 2, MANY = 4096, PART = 512, USER = 1000 };

static struct supervisor supervisor;
static struct succession succession = {.secret = {1, 2, 3, 4}};
static struct tenant tenant = {.supervisor = &supervisor, .uid = USER};
static struct engine *engines[ENGINES];
static char folder_path[] = "/tmp/sycld-return-XXXXXX";
static char refused[128]; /* why the last engine was refused; "": none was */

struct session *engine_session(struct engine *engine, uint64_t id)
{
	struct session *session;
	LIST_FOREACH (session, &engine->places[id % ENGINE_PLACES], same_place)
		if (session->id == id)
			return session;
	return NULL;
}

struct engine **engine_place(const struct engine *engine)
{
	return engine->job ? &engine->job->current : &engine->tenant->current;
}

void engine_session_returned(struct engine *engine, struct session *session)
{
	TAILQ_INSERT_TAIL(&engine->sessions, session, link);
	LIST_INSERT_HEAD(&engine->places[session->id % ENGINE_PLACES], session, same_place);
	engine->sessions_count++;
	engine->tenant->session_count++;
}

void account_file_recall(struct supervisor *of, uint64_t session, struct peer *peer)
{
	(void)of;
	(void)session;
	(void)peer;
}

int engine_send_taken(struct engine *engine, const char *why, int log)
{
	(void)engine;
	(void)log;
	(void)snprintf(refused, sizeof(refused), "%s", why ? why : "");
	return 0;
}

int engine_send_greeting(struct engine *engine, bool wants_page)
{
	(void)engine;
	(void)wants_page;
	return 0;
}

int engine_attach(struct engine *engine, int control)
{
	engine->control = control;
	return 0;
}

void engine_detach(struct engine *engine)
{
	engine->control = -1;
}

void engine_release_waiting(struct engine *engine)
{
	(void)engine;
}

void engine_refuse_new_sessions(struct engine *engine)
{
	(void)engine;
}

void engine_became_ready(struct engine *engine, struct memory_region *flight)
{
	(void)flight;
	engine->state = ENGINE_READY;
}

int engine_log_pair(int *ours_out, int *theirs_out)
{
	(void)ours_out;
	(void)theirs_out;
	return -1;
}

void engine_log_follow(struct engine *engine, int log)
{
	(void)engine;
	(void)log;
}

static bool state_fails;
static unsigned warnings;

void succession_write_now(struct supervisor *of)
{
	of->succession->has_failed = state_fails;
}

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	(void)topic;
	(void)format;
	warnings += level == LOG_LEVEL_WARNING;
}

static void on_returned(struct engine *engine)
{
	(void)engine;
}

static const struct service_observer observer = {.returned = on_returned};

static void open_return(void)
{
	int folder = -1;
	cr_assert(ne(ptr, mkdtemp(folder_path), NULL));
	folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(eq(int, open_sessions_create(folder, &succession.open), 0));
	(void)unlinkat(folder, "sessions", 0);
	(void)close(folder);
	supervisor.succession = &succession;
	supervisor.observer = &observer;
	TAILQ_INIT(&supervisor.tenants);
	TAILQ_INSERT_TAIL(&supervisor.tenants, &tenant, link);
	TAILQ_INIT(&tenant.engines);
	for (int i = 0; i < ENGINES; i++) {
		engines[i] = calloc(1, sizeof(*engines[i]));
		cr_assert(ne(ptr, engines[i], NULL));
		*engines[i] = (struct engine){.tenant = &tenant,
					      .state = ENGINE_RETURNING,
					      .return_begun = true, /* its token was right */
					      .pid = 100 + i,
					      .pidfd = -1,
					      .control = -1};
		TAILQ_INIT(&engines[i]->sessions);
		TAILQ_INSERT_TAIL(&tenant.engines, engines[i], link);
	}
}

static void close_return(void)
{
	open_sessions_close(&succession.open);
	(void)rmdir(folder_path);
	for (int i = 0; i < ENGINES; i++) {
		struct session *session;
		while ((session = TAILQ_FIRST(&engines[i]->sessions))) {
			TAILQ_REMOVE(&engines[i]->sessions, session, link);
			(void)session_free(session);
		}
		free(engines[i]);
	}
}

TestSuite(engine_return, .init = open_return, .fini = close_return, .timeout = 60);

/* The engine returns with these sessions, whose proofs are right. */
static void come_back(struct engine *engine, uint64_t first, size_t count, bool more)
{
	static Sycl__V1__ReturnedSession rows[PART], *list[PART];
	static Sycl__V1__SessionHandOff hand_offs[PART];
	Sycl__V1__EngineReturn message = SYCL__V1__ENGINE_RETURN__INIT;
	cr_assert(le(sz, count, (size_t)PART));
	for (size_t i = 0; i < count; i++) {
		const struct session_claim claim = {first + i, 1, USER, USER, 4711};
		sycl__v1__session_hand_off__init(&hand_offs[i]);
		hand_offs[i].session = claim.session;
		hand_offs[i].since_ns = claim.since_ns;
		hand_offs[i].uid = claim.uid;
		hand_offs[i].gid = claim.gid;
		hand_offs[i].pid = claim.pid;
		hand_offs[i].proof = session_proof(succession.secret, &claim);
		sycl__v1__returned_session__init(&rows[i]);
		rows[i].hand_off = &hand_offs[i];
		rows[i].open = true;
		list[i] = &rows[i];
	}
	message.sessions = list;
	message.n_sessions = count;
	message.more = more;
	engine_return_receive(engine, &message, NULL);
}

static void expect_refusal(const struct engine *engine, const char *why)
{
	cr_expect(engine->is_refused);
	cr_expect(eq(str, refused, (char *)(uintptr_t)why));
}

Test(engine_return, a_session_returns_once)
{
	come_back(engines[0], 1, 3, false);
	cr_expect(eq(int, engines[0]->state, ENGINE_READY));
	cr_expect(eq(uint, tenant.session_count, 3u));
}

Test(engine_return, a_session_that_another_engine_has_is_refused)
{
	come_back(engines[0], 1, 3, false);
	come_back(engines[1], 3, 1, false);
	expect_refusal(engines[1], "it names a session that it does not have");
	cr_expect(eq(uint, tenant.session_count, 3u));
}

/* A proof is valid for ever, also that of a session that was closed. */
Test(engine_return, all_engines_of_a_user_return_with_no_more_sessions_than_a_user_can_have)
{
	for (uint64_t i = 0; i < MANY; i += PART)
		come_back(engines[0], 1 + i, PART, i + PART < MANY);
	cr_expect(eq(int, engines[0]->state, ENGINE_READY));
	cr_expect(eq(uint, tenant.session_count, (unsigned)MANY));
	come_back(engines[1], 1 + MANY, 1, false);
	expect_refusal(engines[1], "its user has more sessions than a user can have");
	cr_expect(eq(uint, tenant.session_count, (unsigned)MANY));
}

/* Its limit may have been lowered while they were open. */
Test(engine_return, sessions_above_the_present_limit_return)
{
	tenant.orders.sessions_most = 2;
	come_back(engines[0], 1, 3, false);
	cr_expect(eq(int, engines[0]->state, ENGINE_READY));
	cr_expect(eq(uint, tenant.session_count, 3u));
}

static void expect_listed(uint64_t session, const struct engine *engine, bool listed)
{
	cr_expect(eq(int, open_sessions_has(&succession.open, session, (uint32_t)engine->pid),
		     listed),
		  "session %llu", (unsigned long long)session);
}

Test(engine_return, a_session_that_is_not_listed_for_the_engine_is_refused)
{
	for (int i = 0; i < ENGINES; i++)
		engines[i]->sessions_listed = true;
	engine_list_session(engines[0], 1);
	engine_list_session(engines[0], 2);
	engine_list_session(engines[1], 3);
	engine_unlist_session(engines[0], 2);
	come_back(engines[1], 1, 1, false);
	expect_refusal(engines[1], "it names a session that it does not have");
	come_back(engines[0], 1, 1, true);
	cr_expect(not(engines[0]->is_refused));
	come_back(engines[0], 2, 1, false);
	expect_refusal(engines[0], "it names a session that it does not have");
}

Test(engine_return, what_an_engine_does_not_return_with_is_listed_no_more)
{
	engines[0]->sessions_listed = true;
	for (uint64_t i = 1; i <= 4; i++)
		engine_list_session(engines[i / 4], i);
	come_back(engines[0], 2, 1, false);
	cr_assert(eq(int, engines[0]->state, ENGINE_READY));
	expect_listed(1, engines[0], false);
	expect_listed(2, engines[0], true);
	expect_listed(3, engines[0], false);
	expect_listed(4, engines[1], true);
}

/* As in a full file system: what is in the file can be changed, and nothing be added. */
static void forbid_growth(void)
{
	const struct rlimit most = {.rlim_cur = 32, .rlim_max = RLIM_INFINITY};
	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert(zero(int, setrlimit(RLIMIT_FSIZE, &most)));
}

Test(engine_return, a_list_that_lacks_a_session_is_void_if_the_state_cannot_say_so)
{
	for (int fails = 0; fails < 2; fails++) {
		state_fails = fails;
		engines[fails]->sessions_listed = true;
		engine_list_session(engines[fails], 1);
		forbid_growth();
		engine_list_session(engines[fails], 2);
		cr_expect(not(engines[fails]->sessions_listed));
		cr_expect(eq(int, succession.open.is_void, fails));
	}
}

/* Others use its places again meanwhile, so some writes succeed. */
Test(engine_return, a_list_that_cannot_be_written_is_told_once)
{
	forbid_growth();
	for (uint64_t i = 0; i < 8; i++) {
		engine_list_session(engines[0], 1);
		engine_list_session(engines[1], 2);
		engine_unlist_session(engines[0], 1);
	}
	cr_expect(eq(uint, warnings, 1u));
}

/* Its service kept no list. */
Test(engine_return, sessions_of_an_engine_without_a_list_are_listed_when_it_has_returned)
{
	come_back(engines[0], 1, 3, false);
	cr_assert(eq(int, engines[0]->state, ENGINE_READY));
	cr_expect(engines[0]->sessions_listed);
	for (uint64_t i = 1; i <= 3; i++)
		expect_listed(i, engines[0], true);
}

/* Clients may connect before the engine has returned, and wait for it. */
Test(engine_return, sessions_that_wait_for_an_engine_refuse_no_returned_one)
{
	tenant.session_count = MANY;
	come_back(engines[0], 1, 3, false);
	cr_expect(eq(int, engines[0]->state, ENGINE_READY));
	cr_expect(eq(uint, engines[0]->sessions_count, 3u));
}
