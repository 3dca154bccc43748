#include "engine/succession.h"

#include "account/account.h"
#include "account/file.h"
#include "base/log.h"
#include "base/process_start.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/return.h"
#include "service/session_number.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

enum {
	NUMBERS_AHEAD = 1000, /* number of session numbers that each write of the file reserves */
	WHILE_MS = 2000,
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
	succession_write_now(timer->data);
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

void succession_write_now(struct supervisor *supervisor)
{
	(void)succession_write(supervisor, supervisor->succession->sessions_before);
}

static void on_turn_over(uv_prepare_t *turn_over)
{
	(void)uv_prepare_stop(turn_over);
	succession_write_now(turn_over->data);
}

/* Many engines may end in one turn of the loop, and the file has all that are left. */
void succession_changed(struct supervisor *supervisor)
{
	if (supervisor->succession->is_open)
		(void)uv_prepare_start(&supervisor->succession->turn_over, on_turn_over);
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
	/* Before it gets a session, and the service may be killed. */
	succession_write_now(engine->tenant->supervisor);
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
	int r = account_file_load(supervisor);
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
	(void)uv_prepare_init(&supervisor->loop, &succession->turn_over);
	succession->turn_over.data = supervisor;
	succession->is_open = true;
	succession_write_now(supervisor);
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
	uv_close((uv_handle_t *)&succession->turn_over, NULL);
}
