#include "engine/succession.h"

#include "account/tenant_forget.h"
#include "account/account.h"
#include "account/file.h"
#include "cleanup.h"
#include "clock.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "engine/control.h"
#include "engine/return.h"
#include "poll_now.h"
#include "base/log.h"
#include "base/process_start.h"
#include "process_uids.h"
#include "service/supervisor.h"
#include "account/tenant_identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	/* Time in which new sessions of a tenant wait for the return of its engine, before another
	 * one is started. */
	GRACE_MS = 2000,
	NUMBERS_AHEAD = 1000, /* number of session numbers that each write of the file reserves */
	WHILE_MS = 2000,
	FAR_SHIFT = 10, /* a unit of so many nanoseconds, of which a session takes more */
	FAR_LEAST = 1 << 20,
};

static bool engine_is_kept(const struct engine *engine)
{
	return engine->has_token &&
	       (engine->state == ENGINE_READY || engine->state == ENGINE_RETURNING);
}

static uint32_t state_devices(const struct engine *engine)
{
	if (!engine->devices_known)
		return SERVICE_STATE_DEVICES_UNKNOWN;
	return engine->allowed.given ? SERVICE_STATE_DEVICES_LISTED : SERVICE_STATE_DEVICES_ALL;
}

static void state_keep_engine(const struct engine *engine, struct service_state_engine *entry)
{
	*entry = (struct service_state_engine){
		.uid = engine->tenant->uid,
		.pid = (uint32_t)engine->pid,
		.start_ticks = engine->start_ticks,
		.since_ns = engine->since_ns,
		.since_unix_seconds = engine->since_unix_seconds,
		.current = engine->tenant->current == engine,
		.refused = engine->is_refused,
		.retired = engine->is_retired,
		.devices = state_devices(engine),
		.sessions_listed = engine->sessions_listed,
	};
	if (entry->devices == SERVICE_STATE_DEVICES_LISTED)
		entry->listed = engine->allowed.set;
	memcpy(entry->token, engine->token, sizeof(entry->token));
}

static void state_keep_engines(const struct supervisor *supervisor, struct service_state *state)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine_is_kept(engine) &&
			    state->engine_count < SERVICE_STATE_ENTRIES_MAX)
				state_keep_engine(engine, &state->engines[state->engine_count++]);
}

static void state_keep_accounts(const struct supervisor *supervisor, struct service_state *state)
{
	const struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		if (account_is_empty(&tenant->account) ||
		    state->account_count == SERVICE_STATE_ENTRIES_MAX)
			continue;
		struct service_state_account *account = &state->accounts[state->account_count++];
		*account = tenant->account;
		account->uid = tenant->uid;
		account->unknown = tenant->is_unknown;
	}
}

static void on_succession_timer(uv_timer_t *timer)
{
	if (account_file_save(timer->data) < 0)
		(void)uv_timer_start(timer, on_succession_timer, WHILE_MS, 0);
	succession_changed(timer->data);
}

static void log_write_failure_once(struct supervisor *supervisor, int r)
{
	struct succession *succession = supervisor->succession;
	if (r < 0 && !succession->has_failed)
		log_warning("service", "the state for the next service cannot be written to %s: %s",
			    supervisor->directory.path, strerror(-r));
	if (r == 0 && succession->has_failed)
		log_info("service", "the state for the next service is written to %s again",
			 supervisor->directory.path);
	succession->has_failed = r < 0;
}

/* 0 or a negative errno. After a failure the write is repeated later, and no more numbers are
 * reserved. */
static int succession_write(struct supervisor *supervisor, uint64_t sessions_before)
{
	struct succession *succession = supervisor->succession;
	if (!succession->is_open)
		return -EBADF;
	struct service_state state = {.sessions_before = sessions_before,
				      .sessions_mark = succession->open.mark};
	memcpy(state.secret, succession->secret, sizeof(state.secret));
	state.engines = calloc(supervisor->engine_count + 1u, sizeof(*state.engines));
	state.accounts = calloc(supervisor->tenant_count + 1u, sizeof(*state.accounts));
	int r = -ENOMEM;
	if (state.engines && state.accounts) {
		state_keep_engines(supervisor, &state);
		state_keep_accounts(supervisor, &state);
		r = service_state_save(supervisor->directory.fd, &state);
	}
	service_state_fini(&state);
	log_write_failure_once(supervisor, r);
	if (r < 0) {
		(void)uv_timer_start(&succession->while_over, on_succession_timer, WHILE_MS, 0);
		return r;
	}
	(void)open_sessions_set_valid(&succession->open, true);
	succession->sessions_before = sessions_before;
	succession->is_far = false;
	return 0;
}

void succession_changed(struct supervisor *supervisor)
{
	(void)succession_write(supervisor, supervisor->succession->sessions_before);
}

void succession_changes(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	if (succession->is_open && !uv_is_active((uv_handle_t *)&succession->while_over))
		(void)uv_timer_start(&succession->while_over, on_succession_timer, WHILE_MS, 0);
}

void succession_engine_ready(struct engine *engine)
{
	/* An engine that has returned has its identity already. */
	if (!engine->has_token) {
		engine->has_token =
			getrandom(engine->token, sizeof(engine->token), 0) ==
				(ssize_t)sizeof(engine->token) &&
			process_start_ticks(engine->pid, &engine->start_ticks) == 0 &&
			engine_send_identity(engine,
					     engine->tenant->supervisor->succession->path) == 0;
		if (!engine->has_token)
			log_warning(
				"engine",
				"pid %ld of uid %lu will not come back after a restart of the service",
				(long)engine->pid, (unsigned long)engine->tenant->uid);
	}
	succession_changed(engine->tenant->supervisor);
}

/*
 * Returns a number far beyond all that the file may reserve, and beyond those of another such jump.
 * It counts in units of the clock that differ between two jumps. It is small enough for JSON
 * readers that store numbers as floating point.
 */
static uint64_t session_number_far_ahead(uint64_t number)
{
	struct timespec now = {.tv_sec = 0};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	uint64_t by_clock =
		((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) >> FAR_SHIFT;
	return by_clock > number + FAR_LEAST ? by_clock : number + FAR_LEAST;
}

uint64_t succession_session_number(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	uint64_t number = supervisor->last_session + 1;
	/* Numbers are reserved ahead in the file, so that none is assigned twice, however this
	 * service ends. */
	if (number < succession->sessions_before ||
	    succession_write(supervisor, number + NUMBERS_AHEAD) == 0 || succession->is_far)
		return number;
	succession->is_far = true;
	supervisor->last_session = session_number_far_ahead(number) - 1;
	return supervisor->last_session + 1;
}

/* Checks that the process is the one in the file, and alive. Returns its pidfd, or a negative
 * errno. */
static int kept_process_open(const struct service_state_engine *entry)
{
	uint64_t ticks = 0;
	pid_t pid = (pid_t)entry->pid;
	if (pid <= 1)
		return -ESRCH;
	CLEANUP(close_fd) int pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		return -errno;
	int r = process_start_ticks(pid, &ticks);
	if (r == 0)
		r = process_has_uid(pid, entry->uid);
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	if (r == 0 && (ticks != entry->start_ticks || poll_now(&ended, 1) != 0))
		r = -ESRCH;
	return r < 0 ? r : take_fd(&pidfd);
}

static void engine_recall(struct engine *engine, const struct service_state_engine *entry)
{
	engine->has_token = true;
	memcpy(engine->token, entry->token, sizeof(engine->token));
	engine->start_ticks = entry->start_ticks;
	uint64_t now_ns = clock_now_ns();
	engine->since_ns = entry->since_ns < now_ns ? entry->since_ns : now_ns;
	engine->since_unix_seconds = entry->since_unix_seconds;
	engine->is_retired = entry->retired;
	engine->sessions_listed = entry->sessions_listed;
	engine->devices_known = entry->devices == SERVICE_STATE_DEVICES_ALL ||
				entry->devices == SERVICE_STATE_DEVICES_LISTED;
	engine->allowed.given = entry->devices == SERVICE_STATE_DEVICES_LISTED;
	engine->allowed.set = entry->listed;
}

static void succession_expect_engine(struct supervisor *supervisor,
				     const struct service_state_engine *entry)
{
	struct refusal refusal;
	struct engine *engine = NULL;
	if ((!supervisor->privileged && entry->uid != geteuid()) ||
	    engine_return_find(supervisor, (pid_t)entry->pid))
		return;
	CLEANUP(close_fd) int pidfd = kept_process_open(entry);
	if (pidfd < 0) {
		log_info("engine", "pid %lu of uid %lu has ended while no service ran",
			 (unsigned long)entry->pid, (unsigned long)entry->uid);
		return;
	}
	struct tenant *tenant = tenant_get(supervisor, entry->uid, &refusal);
	if (!tenant || engine_expect(tenant, (pid_t)entry->pid, pidfd, GRACE_MS, &engine) < 0) {
		log_error("engine", "pid %lu of uid %lu is still running, and cannot be taken over",
			  (unsigned long)entry->pid, (unsigned long)entry->uid);
		return;
	}
	(void)take_fd(&pidfd);
	engine_recall(engine, entry);
	/* Requests the configured share of the user, whose engine has returned. */
	(void)tenant_identify(tenant, &refusal);
	if (entry->refused) {
		engine->is_refused = true;
		engine_release_waiting(engine);
		return;
	}
	if (entry->current && !entry->retired && !tenant->current &&
	    !supervisor->configuration.engine_per_session)
		tenant->current = engine;
	log_info("engine", "pid %lu of uid %lu is still running: waiting for its connection",
		 (unsigned long)entry->pid, (unsigned long)entry->uid);
}

static void succession_restore_account(struct supervisor *supervisor,
				       const struct service_state_account *account)
{
	if (!supervisor->privileged && account->uid != geteuid())
		return;
	struct tenant *tenant = tenant_restore(supervisor, account->uid);
	if (!tenant)
		return;
	tenant->account = *account;
	tenant->is_unknown = account->unknown;
}

/* The processes of the engines that are expected, in order. */
struct expected {
	uint32_t *pids;
	size_t count;
};

static int expected_compare(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;
	return (*a > *b) - (*a < *b);
}

static bool is_of_expected_engine(void *context, uint64_t session, uint32_t engine)
{
	const struct expected *expected = context;
	(void)session;
	return bsearch(&engine, expected->pids, expected->count, sizeof(*expected->pids),
		       expected_compare) != NULL;
}

/* Sessions of engines that have ended meanwhile leave the list. It may be long: without memory this
 * is left to the next service. */
static void succession_shorten_list(struct supervisor *supervisor)
{
	struct expected expected = {.count = 0};
	const struct tenant *tenant;
	const struct engine *engine;
	CLEANUP(free_pointer)
	uint32_t *pids = calloc(supervisor->engine_count + 1u, sizeof(*pids));
	if (!pids)
		return;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			pids[expected.count++] = (uint32_t)engine->pid;
	qsort(pids, expected.count, sizeof(*pids), expected_compare);
	expected.pids = pids;
	(void)open_sessions_filter(&supervisor->succession->open, is_of_expected_engine, &expected);
}

/*
 * Opens the list of open sessions that the state names, or begins a new one. Without it, engines
 * return with each session whose proof is right. 0, or a negative errno: the list cannot be read
 * now.
 */
static int succession_open_list(struct supervisor *supervisor, struct service_state *state)
{
	struct succession *succession = supervisor->succession;
	int folder = supervisor->directory.fd;
	int r = state->sessions_mark
			? open_sessions_load(folder, state->sessions_mark, &succession->open)
			: -ENOENT;
	if (r == 0)
		return 0;
	if (r != -ENOENT && r != -EBADMSG && r != -EPERM) {
		log_error("service", "the list of open sessions in %s cannot be read: %s",
			  supervisor->directory.path, strerror(-r));
		return r;
	}
	if (state->sessions_mark)
		log_warning("service",
			    "the list of open sessions in %s is not used (%s): sessions that were "
			    "closed may return",
			    supervisor->directory.path,
			    r == -EPERM ? "it is not this user's alone" : "it is lost or damaged");
	for (uint32_t i = 0; i < state->engine_count; i++)
		state->engines[i].sessions_listed = 0;
	r = open_sessions_create(folder, &succession->open);
	if (r < 0)
		log_warning("service", "no list of open sessions can be made in %s: %s",
			    supervisor->directory.path, strerror(-r));
	return 0;
}

static void succession_restore(struct supervisor *supervisor, const struct service_state *state)
{
	struct succession *succession = supervisor->succession;
	memcpy(succession->secret, state->secret, sizeof(succession->secret));
	succession->sessions_before = state->sessions_before;
	supervisor->last_session = state->sessions_before ? state->sessions_before - 1 : 0;
	for (uint32_t i = 0; i < state->engine_count; i++)
		succession_expect_engine(supervisor, &state->engines[i]);
	succession_shorten_list(supervisor);
	for (uint32_t i = 0; i < state->account_count; i++)
		succession_restore_account(supervisor, &state->accounts[i]);
}

/* The numbers that were assigned before are unknown, so this service begins with numbers that
 * cannot have been assigned. */
static void succession_set_aside(struct supervisor *supervisor, const char *why)
{
	log_warning(
		"service",
		"the last service's state in %s is not used (%s): its engines continue without this service",
		supervisor->directory.path, why);
	int r = service_state_set_aside(supervisor->directory.fd);
	if (r < 0)
		log_warning("service", "that file cannot be renamed either: %s", strerror(-r));
	supervisor->last_session = session_number_far_ahead(0) - 1;
}

static int succession_read(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	struct service_state state = {.engines = NULL};
	int r = service_state_load(supervisor->directory.fd, &state);
	switch (r) {
	case 0:
		r = succession_open_list(supervisor, &state);
		if (r == 0)
			succession_restore(supervisor, &state);
		service_state_fini(&state);
		return r;
	case -ENOENT:
		break;
	case -EBADMSG:
		succession_set_aside(supervisor, "it is damaged");
		break;
	case -EPERM:
		succession_set_aside(supervisor, "it is not this user's alone");
		break;
	case -EPROTONOSUPPORT:
		succession_set_aside(supervisor, "it is of another release");
		break;
	default:
		/* The file may be intact. If it is replaced, engines are lost that a later start
		 * could find. */
		log_error("service", "the last service's state in %s cannot be read: %s",
			  supervisor->directory.path, strerror(-r));
		return r;
	}
	(void)succession_open_list(supervisor, &state); /* it names no file, so a new one begins */
	succession->sessions_before = supervisor->last_session + 1;
	return getrandom(succession->secret, sizeof(succession->secret), 0) ==
			       (ssize_t)sizeof(succession->secret)
		       ? 0
		       : -EIO;
}

static int listen_for_engines(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	/* An engine has its tenant's uid. The kernel identifies its process. */
	int r = listener_bind(succession->path, SOCK_SEQPACKET,
			      supervisor->privileged ? 0666 : 0600, &succession->listener);
	if (r < 0)
		return r;
	succession->listener.connected = engine_return_connected;
	succession->listener.starved = engine_return_starved;
	succession->listener.context = supervisor;
	return listener_start(&succession->listener, &supervisor->loop);
}

int succession_open(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	(void)snprintf(succession->path, sizeof(succession->path), "%s/" ENGINE_SOCKET_NAME,
		       supervisor->directory.path);
	int r = succession_read(supervisor);
	if (r == 0)
		r = account_file_load(supervisor);
	if (r < 0)
		return r;
	r = listen_for_engines(supervisor);
	if (r < 0) {
		log_warning("service", "engines cannot come back, and end with their sessions: %s",
			    strerror(-r));
		return 0;
	}
	(void)uv_timer_init(&supervisor->loop, &succession->while_over);
	succession->while_over.data = supervisor;
	succession->is_open = true;
	succession_changed(supervisor);
	return 0;
}

void succession_close(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	if (!succession->is_open) {
		account_file_forget(supervisor);
		open_sessions_close(&succession->open);
		return;
	}
	(void)succession_write(supervisor, supervisor->last_session + 1);
	(void)account_file_save(supervisor);
	account_file_forget(supervisor);
	open_sessions_close(&succession->open);
	succession->is_open = false;
	listener_forget(&succession->listener);
	listener_close(&succession->listener);
	uv_close((uv_handle_t *)&succession->while_over, NULL);
}
