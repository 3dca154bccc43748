/* Decides when a standby is started, postponed, replaced and ended. Its process is in
 * standby_process.c. */
#include "engine/standby.h"

#include "base/log.h"
#include "clock.h"
#include "engine/engine.h"
#include "engine/standby_process.h"
#include "service/supervisor.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLISECOND_NS 1000000ull

enum {
	/* The tenant that opened a device goes first, and a loop of crashes cannot fill the
	 * machine. */
	REST_MS = 500,
	FAILURES_FREE = 3, /* successive failures after which no standby is started for a while */
	FAILED_REST_MS = 2000,
	FAILED_PAUSE_MS = 300000,
	/* Longest time that a standby waits for a replaced engine to open its devices. */
	OPENING_MS = 5000,
	EXIT_NOT_FOR = 6, /* a status of sycl-engine: its user may not open the devices */
	WHY_BYTES = 128,
};

void standby_count_failure(struct supervisor *supervisor, const char *why)
{
	struct standby_keeper *keeper = supervisor->keeper;
	keeper->failures++;
	log_warning("standby", "%s%s", why,
		    keeper->failures == FAILURES_FREE ? "; the next one is started in some minutes"
						      : "");
}

/* Returns the devices that are open in engines that continue. */
static struct device_set keeper_devices_in_use(const struct supervisor *supervisor)
{
	struct device_set set = {.devices = {0}};
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->state == ENGINE_READY)
				device_set_add(&set, &engine->devices);
	return set;
}

/* True for an engine that replaces one whose device has failed, until it has opened its devices.
 * Its tenant waits. A driver makes contexts one after the other, so a standby would delay it. */
static bool engine_is_opening_devices(const struct engine *engine)
{
	return engine->is_replacement && device_set_is_empty(&engine->devices) &&
	       (engine->state == ENGINE_STARTING || engine->state == ENGINE_READY) &&
	       clock_now_ns() - engine->since_ns < OPENING_MS * MILLISECOND_NS;
}

static bool any_engine_opens_devices(const struct supervisor *supervisor)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine_is_opening_devices(engine))
				return true;
	return false;
}

static void standby_start_pause(struct supervisor *supervisor);

static void on_standby_pause_over(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct standby_keeper *keeper = supervisor->keeper;
	struct device_set wanted = keeper_devices_in_use(supervisor);
	if (keeper->failures >= FAILURES_FREE)
		keeper->failures = 0; /* the pause was for these failures */
	if (keeper->standby || supervisor->stopping || device_set_is_empty(&wanted))
		return;
	/* A standby is postponed for this time at most, however many engines open their devices in
	 * turn. */
	if (keeper->put_off_ns == 0)
		keeper->put_off_ns = clock_now_ns();
	if (any_engine_opens_devices(supervisor) &&
	    clock_now_ns() - keeper->put_off_ns < OPENING_MS * MILLISECOND_NS) {
		standby_start_pause(supervisor);
		return;
	}
	keeper->put_off_ns = 0;
	int r = standby_start(supervisor, &wanted);
	if (r < 0) {
		char why[WHY_BYTES];
		(void)snprintf(why, sizeof(why), "none can be started: %s", strerror(-r));
		standby_count_failure(supervisor, why);
		standby_start_pause(supervisor);
	}
}

static void standby_start_pause(struct supervisor *supervisor)
{
	struct standby_keeper *keeper = supervisor->keeper;
	uint64_t ms = keeper->failures == 0              ? REST_MS
		      : keeper->failures < FAILURES_FREE ? FAILED_REST_MS
							 : FAILED_PAUSE_MS;
	if (!uv_is_active((uv_handle_t *)&keeper->rest))
		(void)uv_timer_start(&keeper->rest, on_standby_pause_over, ms, 0);
}

static void on_standby_idle(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct standby *standby = supervisor->keeper->standby;
	if (!standby)
		return;
	log_info("standby", "pid %ld: no engine uses its devices any more",
		 (long)standby->process.pid);
	standby_end(standby);
}

static void standby_review_present(struct standby *standby, const struct device_set *wanted)
{
	struct supervisor *supervisor = standby->supervisor;
	uv_timer_t *idle = &supervisor->keeper->idle;
	if (standby->state == STANDBY_ENDING || standby->failure[0])
		return;
	if (device_set_has(wanted, &standby->asked))
		(void)uv_timer_stop(idle);
	else if (!uv_is_active((uv_handle_t *)idle))
		(void)uv_timer_start(idle, on_standby_idle,
				     supervisor->configuration.engine_idle_ns / MILLISECOND_NS, 0);
	if (standby->state == STANDBY_READY && !device_set_has(&standby->asked, wanted))
		standby_request(standby, wanted);
}

void standby_review(struct supervisor *supervisor)
{
	struct standby_keeper *keeper = supervisor->keeper;
	struct device_set wanted = keeper_devices_in_use(supervisor);
	if (!supervisor->configuration.standby || supervisor->stopping) {
		standby_stop(supervisor);
	} else if (keeper->standby) {
		standby_review_present(keeper->standby, &wanted);
	} else {
		(void)uv_timer_stop(&keeper->idle);
		/* An empty set is a part of every other one. */
		if (!device_set_has(&keeper->unpreparable, &wanted))
			standby_start_pause(supervisor);
	}
}

void standby_renew(struct supervisor *supervisor)
{
	struct standby_keeper *keeper = supervisor->keeper;
	keeper->failures = 0;
	keeper->unpreparable = (struct device_set){.devices = {0}};
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		tenant->no_standby_until_ns = 0;
	(void)uv_timer_stop(&keeper->rest);
	standby_stop(supervisor);
	standby_review(supervisor);
}

bool standby_take(struct supervisor *supervisor, struct engine_process *process_out)
{
	struct standby *standby = supervisor->keeper->standby;
	if (!standby || standby->state != STANDBY_READY ||
	    supervisor->keeper->failures >= FAILURES_FREE)
		return false;
	standby_give_process(standby, process_out);
	(void)uv_timer_stop(&supervisor->keeper->idle);
	return true;
}

void standby_succeeded(struct supervisor *supervisor)
{
	supervisor->keeper->failures = 0;
}

void standby_failed(struct supervisor *supervisor, const char *why)
{
	standby_count_failure(supervisor, why);
	standby_review(supervisor);
}

void standby_misadopted(struct tenant *tenant, int wait_status)
{
	if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != EXIT_NOT_FOR) {
		char why[96];
		(void)snprintf(why, sizeof(why), "the standby did not become an engine of uid %lu",
			       (unsigned long)tenant->uid);
		/*
		 * The process runs as that user by then, who may have stopped or killed it. So the
		 * standby pauses for this user. It counts as failed once for each pause of a user
		 * that the user database has: if it fails for several, the cause may be the
		 * machine's. Other uids may all be one user's.
		 */
		if (tenant->uid != geteuid())
			tenant->no_standby_until_ns =
				clock_now_ns() + FAILED_PAUSE_MS * MILLISECOND_NS;
		if (tenant->uid == geteuid() || (tenant->is_identified && !tenant->is_unknown)) {
			standby_failed(tenant->supervisor, why);
			return;
		}
		log_warning("standby", "%s", why);
		standby_review(tenant->supervisor);
		return;
	}
	/* Logged once for each such user. Otherwise a user without access to a GPU could take each
	 * standby from users with access. */
	log_info("standby", "uid %lu may not open the devices that it has prepared",
		 (unsigned long)tenant->uid);
	tenant->no_standby_until_ns = UINT64_MAX;
	standby_review(tenant->supervisor);
}

void standby_stop(struct supervisor *supervisor)
{
	struct standby *standby = supervisor->keeper->standby;
	(void)uv_timer_stop(&supervisor->keeper->rest);
	if (standby && standby->state != STANDBY_ENDING)
		standby_end(standby);
}

void standby_abandon(struct supervisor *supervisor)
{
	struct standby *standby = supervisor->keeper->standby;
	if (standby)
		standby_kill_now(standby);
}

void standby_init(struct supervisor *supervisor)
{
	struct standby_keeper *keeper = supervisor->keeper;
	(void)uv_timer_init(&supervisor->loop, &keeper->rest);
	(void)uv_timer_init(&supervisor->loop, &keeper->idle);
	keeper->rest.data = supervisor;
	keeper->idle.data = supervisor;
}

enum standby_state standby_describe(const struct supervisor *supervisor, pid_t *pid_out,
				    uint64_t *since_ns_out)
{
	const struct standby *standby = supervisor->keeper->standby;
	if (!standby)
		return STANDBY_NONE;
	*pid_out = standby->process.pid;
	*since_ns_out = standby->since_ns;
	return standby->state;
}
