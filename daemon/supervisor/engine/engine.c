/* The start of an engine, its readiness, and its idle time. */
#include "engine/engine.h"

#include "engine/groups.h"
#include "engine/hand_on.h"
#include "engine/kill.h"
#include "clock.h"
#include "engine/control.h"
#include "engine/end.h"
#include "engine/handles.h"
#include "engine/launch.h"
#include "engine/listed.h"
#include "engine/lost.h"
#include "engine/process.h"
#include "base/foreign_socket.h"
#include "base/events.h"
#include "base/log.h"
#include "engine/sessions.h"
#include "engine/sharing.h"
#include "engine/standby.h"
#include "service/supervisor.h"
#include "service/unsettled.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>

enum { ADOPTION_MS = 5000 };

/* False: no standby could become the tenant's engine. */
static bool engine_adopt_standby(const struct engine *engine, struct engine_process *process_out)
{
	const struct tenant *tenant = engine->tenant;
	struct supervisor *supervisor = tenant->supervisor;
	struct engine_process process;
	char cache[PATH_MAX];
	/* A standby may have opened devices that this user may not use, and has not found MPS. */
	if (engine_devices(engine).given || tenant_uses_mps(tenant))
		return false;
	if (clock_now_ns() < tenant->no_standby_until_ns || !standby_take(supervisor, &process))
		return false;
	bool has_cache =
		engine_cache_directory(supervisor, tenant->uid, tenant->gid, cache, sizeof(cache));
	if (engine_send_adopt(&process, tenant, has_cache ? cache : NULL) < 0) {
		engine_process_kill(&process);
		standby_failed(
			supervisor,
			"the standby does not take the message that makes it this user's engine");
		return false;
	}
	*process_out = process;
	return true;
}

void engine_log_follow(struct engine *engine, int log)
{
	char whose[ENGINE_LOG_WHOSE_BYTES];
	(void)snprintf(whose, sizeof(whose), "pid %ld of uid %lu", (long)engine->pid,
		       (unsigned long)engine->tenant->uid);
	(void)engine_log_free(engine->log);
	struct tenant *tenant = engine->tenant;
	struct engine_log_window *window =
		tenant->is_unknown ? &tenant->supervisor->unknown_log : &tenant->log;
	engine->log = engine_log_open(&tenant->supervisor->loop, log, whose, window);
}

static int engine_begin_process(struct engine *engine, bool may_adopt)
{
	struct engine_process process = ENGINE_PROCESS_NONE;
	engine->adopted = may_adopt && engine_adopt_standby(engine, &process);
	int r = engine->adopted ? 0 : engine_launch_process(engine, &process);
	const struct configuration *configuration = &engine->tenant->supervisor->configuration;
	for (unsigned i = 0; i < CONFIGURATION_LIMITS && !engine->adopted; i++)
		engine->limits_sent[i] =
			configuration->limits[i].given ? configuration->limits[i].value : 0;
	engine->devices_known = true;
	engine->allowed = engine_devices(engine);
	engine->pid = process.pid;
	engine->pidfd = process.pidfd;
	engine->control = process.control;
	engine_log_follow(engine, process.log);
	return r;
}

static void on_engine_idle(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	log_info("engine", "pid %ld of uid %lu is idle: stopping it", (long)engine->pid,
		 (unsigned long)engine->tenant->uid);
	engine_stop(engine, 0);
}

static uint64_t engine_start_limit_ms(const struct engine *engine)
{
	uint64_t ms =
		engine_milliseconds(engine->tenant->supervisor->configuration.engine_start_ns);
	/* A tenant whose standby hangs gets an ordinary engine after this time. */
	return engine->adopted && ms > ADOPTION_MS ? ADOPTION_MS : ms;
}

static void engine_join_groups(const struct engine *engine)
{
	const struct supervisor *supervisor = engine->tenant->supervisor;
	const struct engine_groups_process process = {engine->pid, engine->pidfd, engine->is_child};
	engine_groups_take(supervisor->groups, &supervisor->configuration, engine->tenant->uid,
			   &process);
}

static void engine_join_tenant(struct engine *engine)
{
	engine_watch_exit(engine);
	TAILQ_INSERT_TAIL(&engine->tenant->engines, engine, link);
	engine->tenant->supervisor->engine_count++;
}

int engine_start(struct tenant *tenant, struct job *job, bool may_adopt, struct engine **engine_out)
{
	struct supervisor *supervisor = tenant->supervisor;
	struct engine *engine = engine_new(tenant);
	if (!engine)
		return -ENOMEM;
	engine->job = job;
	engine->is_replacement = tenant->warm_devices != 0;
	engine->is_child = true;
	engine->sessions_listed = true; /* it has none */
	int r = engine_begin_process(engine, may_adopt);
	if (r < 0) {
		engine_destroy(engine);
		return r;
	}
	engine->since_ns = clock_now_ns();
	engine->since_unix_seconds = (uint64_t)time(NULL);
	r = engine_open_control_poll(engine);
	if (r == 0)
		r = engine_open_handles(engine, &supervisor->loop);
	if (r < 0) {
		/* This fails only without memory or descriptors. The process is ended here, because
		 * it is not polled yet. */
		if (process_kill(engine->pid, engine->pidfd))
			(void)waitpid(engine->pid, NULL, 0);
		engine_drop(engine);
		return r;
	}
	engine_join_groups(engine);
	engine_watch_control(engine, UV_READABLE);
	engine_set_deadline(engine, engine_start_limit_ms(engine));
	engine_join_tenant(engine);
	event_report(LOG_LEVEL_INFO, "engine",
		     (struct event){.kind = EVENT_ENGINE_STARTED,
				    .has_uid = true,
				    .uid = tenant->uid,
				    .pid = engine->pid},
		     "%s pid %ld for uid %lu", engine->adopted ? "adopted" : "started",
		     (long)engine->pid, (unsigned long)tenant->uid);
	*engine_out = engine;
	return 0;
}

int engine_expect(struct tenant *tenant, pid_t pid, int pidfd, uint64_t grace_ms,
		  struct engine **engine_out)
{
	struct engine *engine = engine_new(tenant);
	if (!engine)
		return -ENOMEM;
	engine->state = ENGINE_RETURNING;
	engine->pid = pid;
	engine->pidfd = pidfd;
	int r = engine_open_handles(engine, &tenant->supervisor->loop);
	if (r < 0) {
		engine->pidfd = -1; /* still the caller's */
		engine_drop(engine);
		return r;
	}
	engine_join_tenant(engine);
	engine_set_deadline(engine, grace_ms);
	*engine_out = engine;
	return 0;
}

int engine_attach(struct engine *engine, int control)
{
	engine->control = control;
	int r = engine_open_control_poll(engine);
	if (r < 0)
		foreign_socket_close(&engine->control);
	else
		engine_watch_control(engine, UV_READABLE);
	return r;
}

void engine_session_closed(struct engine *engine, struct session *session)
{
	engine_unlist_session(engine, session->id);
	engine_remove_session(engine, session);
	engine_session_end(engine, session);
	if (engine->end_reason[0] && engine->sessions_count == 0)
		engine_kill(engine, engine->end_reason);
	engine_check_idle(engine);
}

void engine_check_idle(struct engine *engine)
{
	if (engine->state != ENGINE_READY || engine->sessions_count || engine->waiting_count)
		return;
	const struct configuration *configuration = &engine->tenant->supervisor->configuration;
	bool served_its_one = engine->had_session && !engine_is_current(engine);
	engine->idle_since_ns = clock_now_ns();
	uint64_t idle_ns = served_its_one ? 0 : configuration->engine_idle_ns;
	(void)uv_timer_start(&engine->idle, on_engine_idle, engine_milliseconds(idle_ns), 0);
}

void engine_became_ready(struct engine *engine, struct memory_region *flight)
{
	engine->flight = flight;
	engine->was_ready = true;
	if (engine->state != ENGINE_STARTING && engine->state != ENGINE_RETURNING)
		return;
	engine->state = ENGINE_READY;
	/* Called again for the build helper, which may not have existed the first time. */
	engine_join_groups(engine);
	engine->tenant->start_failures = 0;
	(void)uv_timer_stop(&engine->deadline);
	log_debug("engine", "pid %ld is ready after %llu ms", (long)engine->pid,
		  (unsigned long long)engine_milliseconds(clock_now_ns() - engine->since_ns));
	engine->tenant->supervisor->observer->starts_taking(engine);
	sharing_engine_ready(engine);
	engine_flush(engine);
	engine->tenant->supervisor->observer->ready(engine);
	engine_check_idle(engine);
	if (engine->adopted)
		standby_succeeded(engine->tenant->supervisor);
	standby_review(engine->tenant->supervisor);
}

void engine_opened_devices(struct engine *engine, const struct device_set *devices)
{
	engine->devices = *devices;
	engine_lost_is_followed(engine->tenant);
	standby_review(engine->tenant->supervisor);
}
