#include "engine/restore.h"

#include "account/tenant_forget.h"
#include "account/tenant_identity.h"
#include "base/log.h"
#include "base/process_start.h"
#include "cleanup.h"
#include "clock.h"
#include "engine/end.h"
#include "engine/engine.h"
#include "engine/return.h"
#include "engine/succession.h"
#include "poll_now.h"
#include "process_uids.h"
#include "service/session_number.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	/* Time in which new sessions of a tenant wait for the return of its engine, before another
	 * one is started. */
	GRACE_MS = 2000,
};

/* Checks that the process is the one in the file, and alive. Returns its pidfd, or a negative
 * errno. */
static int restore_process_open(const struct service_state_engine *entry)
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

static void restore_engine_facts(struct engine *engine, const struct service_state_engine *entry)
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

/* The job whose engine this was takes it back, so that new sessions of the job wait for it. */
static void restore_job(struct engine *engine)
{
	struct job *job;
	TAILQ_FOREACH (job, &engine->tenant->supervisor->jobs.list, link) {
		if (job->kept_pid != engine->pid || job->kept_ticks != engine->start_ticks ||
		    job->uid != engine->tenant->uid)
			continue;
		engine->job = job;
		if (!engine->is_retired)
			job->current = engine;
	}
}

static void restore_engine(struct supervisor *supervisor, const struct service_state_engine *entry)
{
	struct refusal refusal;
	struct engine *engine = NULL;
	if ((!supervisor->privileged && entry->uid != geteuid()) ||
	    engine_return_find(supervisor, (pid_t)entry->pid))
		return;
	CLEANUP(close_fd) int pidfd = restore_process_open(entry);
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
	restore_engine_facts(engine, entry);
	restore_job(engine);
	/* Requests the configured share of the user, whose engine has returned. */
	(void)tenant_identify(tenant, &refusal);
	if (entry->refused) {
		engine->is_refused = true;
		engine_release_waiting(engine);
		return;
	}
	if (entry->current && !entry->retired && !tenant->current &&
	    !supervisor->configuration.engine_per_session && !engine->job)
		tenant->current = engine;
	log_info("engine", "pid %lu of uid %lu is still running: waiting for its connection",
		 (unsigned long)entry->pid, (unsigned long)entry->uid);
}

static void restore_account(struct supervisor *supervisor,
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
static void restore_shorten_list(struct supervisor *supervisor)
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
static int restore_open_list(struct supervisor *supervisor, struct service_state *state)
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

static void restore_state(struct supervisor *supervisor, const struct service_state *state)
{
	struct succession *succession = supervisor->succession;
	memcpy(succession->secret, state->secret, sizeof(succession->secret));
	succession->sessions_before = state->sessions_before;
	supervisor->last_session = state->sessions_before ? state->sessions_before - 1 : 0;
	for (uint32_t i = 0; i < state->engine_count; i++)
		restore_engine(supervisor, &state->engines[i]);
	restore_shorten_list(supervisor);
	for (uint32_t i = 0; i < state->account_count; i++)
		restore_account(supervisor, &state->accounts[i]);
}

/* The numbers that were assigned before are unknown, so this service begins with numbers that
 * cannot have been assigned. */
static void restore_set_aside(struct supervisor *supervisor, const char *why)
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

int restore_last_service(struct supervisor *supervisor)
{
	struct succession *succession = supervisor->succession;
	struct service_state state = {.engines = NULL};
	int r = service_state_load(supervisor->directory.fd, &state);
	switch (r) {
	case 0:
		r = restore_open_list(supervisor, &state);
		if (r == 0)
			restore_state(supervisor, &state);
		service_state_fini(&state);
		return r;
	case -ENOENT:
		break;
	case -EBADMSG:
		restore_set_aside(supervisor, "it is damaged");
		break;
	case -EPERM:
		restore_set_aside(supervisor, "it is not this user's alone");
		break;
	case -EPROTONOSUPPORT:
		restore_set_aside(supervisor, "it is of another release");
		break;
	default:
		/* The file may be intact. If it is replaced, engines are lost that a later start
		 * could find. */
		log_error("service", "the last service's state in %s cannot be read: %s",
			  supervisor->directory.path, strerror(-r));
		return r;
	}
	(void)restore_open_list(supervisor, &state); /* it names no file, so a new one begins */
	succession->sessions_before = supervisor->last_session + 1;
	return getrandom(succession->secret, sizeof(succession->secret), 0) ==
			       (ssize_t)sizeof(succession->secret)
		       ? 0
		       : -EIO;
}
