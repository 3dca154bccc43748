#include "engine/standby.h"

#include "cleanup.h"
#include "clock.h"
#include "control.pb-c.h"
#include "engine/engine.h"
#include "engine/launch.h"
#include "engine/log.h"
#include "base/log.h"
#include "packet.h"
#include "service/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MILLISECOND_NS 1000000ull

enum {
	REST_MS = 500, /* the tenant that opened a device goes first, and a loop of crashes cannot
			  fill the machine */
	FAILURES_FREE = 3, /* in a row; after that no standby is started for a while */
	FAILED_REST_MS = 2000,
	FAILED_PAUSE_MS = 300000,
	END_GRACE_MS = 3000, /* it may be in the middle of making a context */
	OPENING_MS = 5000,   /* how long a replaced engine's devices are waited for */
	EXIT_USELESS = 5,    /* of sycl-engine */
	EXIT_NOT_FOR = 6,
	MESSAGES_PER_TURN = 8,
	FAILURE_BYTES = 128,
};

struct standby {
	struct supervisor *supervisor;
	enum standby_state state;
	struct device_set asked; /* all devices that it was requested to prepare */
	struct engine_process process;
	struct engine_log *log; /* its standard error; owns process.log */
	uint64_t since_ns;
	char failure[FAILURE_BYTES]; /* why it is killed; "": it is not */
	uv_poll_t control_poll;
	uv_poll_t exit_poll;
	uv_timer_t deadline;
	unsigned open_handles;
};

static void on_standby_handle_closed(uv_handle_t *handle)
{
	struct standby *standby = handle->data;
	if (--standby->open_handles == 0)
		free(standby);
}

static void standby_close_handle(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_standby_handle_closed);
}

/* The handles are closed first, and the new owner closes the descriptors later: libuv must have
 * forgotten the numbers before. */
static void standby_release(struct standby *standby)
{
	standby->supervisor->keeper->standby = NULL;
	standby_close_handle((uv_handle_t *)&standby->control_poll);
	standby_close_handle((uv_handle_t *)&standby->exit_poll);
	standby_close_handle((uv_handle_t *)&standby->deadline);
}

static void standby_start_pause(struct supervisor *supervisor);

static void standby_count_failure(struct supervisor *supervisor, const char *why)
{
	struct standby_keeper *keeper = supervisor->keeper;
	keeper->failures++;
	log_warning("standby", "%s%s", why,
		    keeper->failures == FAILURES_FREE ? "; the next one is started in some minutes"
						      : "");
}

/* The standby has ended without becoming an engine. */
static void standby_process_ended(struct standby *standby, int wait_status)
{
	struct supervisor *supervisor = standby->supervisor;
	char why[FAILURE_BYTES + 64];
	long pid = (long)standby->process.pid;
	bool asked = standby->state == STANDBY_ENDING;
	struct device_set asked_for = standby->asked;
	struct engine_log *log = TAKE(standby->log);
	standby_release(standby);
	close_fd(&standby->process.control);
	close_fd(&standby->process.pidfd);
	engine_log_finish(log);
	(void)engine_log_free(log);
	if (asked) {
		log_info("standby", "pid %ld has ended", pid);
	} else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == EXIT_USELESS) {
		log_info("standby", "pid %ld: none of the devices can be prepared", pid);
		supervisor->keeper->unpreparable = asked_for;
	} else {
		if (standby->failure[0])
			(void)snprintf(why, sizeof(why), "pid %ld was killed: %s", pid,
				       standby->failure);
		else if (WIFSIGNALED(wait_status))
			(void)snprintf(why, sizeof(why), "pid %ld was killed by signal %d", pid,
				       WTERMSIG(wait_status));
		else
			(void)snprintf(why, sizeof(why), "pid %ld exited with status %d", pid,
				       WEXITSTATUS(wait_status));
		standby_count_failure(supervisor, why);
	}
	supervisor->observer->engine_ended(supervisor);
	standby_review(supervisor);
}

static void on_standby_exit(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct standby *standby = poll->data;
	int wait_status = 0;
	pid_t pid = waitpid(standby->process.pid, &wait_status, WNOHANG);
	if (pid == standby->process.pid || (pid < 0 && errno == ECHILD))
		standby_process_ended(standby, wait_status);
}

static void standby_kill(struct standby *standby, const char *why)
{
	if (!standby->failure[0])
		(void)snprintf(standby->failure, sizeof(standby->failure), "%s", why);
	(void)uv_poll_stop(&standby->control_poll);
	(void)uv_timer_stop(&standby->deadline);
	if (standby->state == STANDBY_READY)
		standby->state = STANDBY_STARTING; /* it is not handed out any more */
	(void)pidfd_send_signal(standby->process.pidfd, SIGKILL, NULL, 0);
}

/* The hang-up ends it, when its loop reads that. */
static void standby_end(struct standby *standby)
{
	struct supervisor *supervisor = standby->supervisor;
	(void)uv_timer_stop(&supervisor->keeper->idle);
	if (standby->state == STANDBY_ENDING)
		return;
	standby->state = STANDBY_ENDING;
	(void)uv_poll_stop(&standby->control_poll);
	(void)shutdown(standby->process.control, SHUT_RDWR);
}

static void on_standby_deadline(uv_timer_t *timer)
{
	struct standby *standby = timer->data;
	standby_kill(standby, standby->state == STANDBY_ENDING ? "it does not end in time"
							       : "it is not ready in time");
}

static void standby_start_deadline(struct standby *standby, uint64_t ms)
{
	(void)uv_timer_start(&standby->deadline, on_standby_deadline, ms, 0);
}

static void standby_became_ready(struct standby *standby, const Sycl__V1__StandbyReady *ready)
{
	if (standby->state != STANDBY_STARTING) {
		standby_kill(standby, "it reports ready without a request");
		return;
	}
	if (strcmp(ready->version, SYCLD_VERSION) != 0) {
		standby_kill(standby, "it is of another version than this service");
		return;
	}
	standby->state = STANDBY_READY;
	(void)uv_timer_stop(&standby->deadline);
	log_info("standby", "pid %ld is ready", (long)standby->process.pid);
	standby_review(standby->supervisor);
}

static void on_standby_control(uv_poll_t *poll, int status, int events)
{
	struct standby *standby = poll->data;
	(void)events;
	for (unsigned i = 0; status == 0 && i < MESSAGES_PER_TURN && !standby->failure[0]; i++) {
		ProtobufCMessage *message = NULL;
		int r = message_receive(standby->process.control, &sycl__v1__control__descriptor,
					&standby->supervisor->arena, &message, NULL, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return;
		const Sycl__V1__Control *control = (const Sycl__V1__Control *)message;
		if (r == 1 && control->body_case == SYCL__V1__CONTROL__BODY_STANDBY_READY) {
			standby_became_ready(standby, control->standby_ready);
			continue;
		}
		if (r == 1)
			standby_kill(standby, "it sends a message of no kind that it may send");
		status = r == 1 ? 0 : -1;
	}
	/* A hang-up: its exit is handled when it comes. */
	if (status < 0)
		(void)uv_poll_stop(&standby->control_poll);
}

static int standby_send_prepare(struct standby *standby)
{
	Sycl__V1__BackendDevices rows[DEVICE_SET_BACKENDS], *list[DEVICE_SET_BACKENDS];
	Sycl__V1__StandbyPrepare prepare = SYCL__V1__STANDBY_PREPARE__INIT;
	Sycl__V1__Control control = SYCL__V1__CONTROL__INIT;
	prepare.devices = list;
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++) {
		if (!standby->asked.devices[i])
			continue;
		Sycl__V1__BackendDevices *row = &rows[prepare.n_devices];
		sycl__v1__backend_devices__init(row);
		row->backend = (Sycl__V1__Backend)i;
		row->devices = standby->asked.devices[i];
		list[prepare.n_devices++] = row;
	}
	control.body_case = SYCL__V1__CONTROL__BODY_STANDBY_PREPARE;
	control.standby_prepare = &prepare;
	return message_send(standby->process.control, &control.base, NULL, 0, MSG_DONTWAIT);
}

static void standby_request(struct standby *standby, const struct device_set *devices)
{
	device_set_add(&standby->asked, devices);
	standby->state = STANDBY_STARTING;
	standby_start_deadline(standby,
			       standby->supervisor->configuration.engine_start_ns / MILLISECOND_NS);
	if (standby_send_prepare(standby) < 0)
		standby_kill(standby, "it does not take the request to prepare devices");
}

static int standby_open_handles(struct standby *standby)
{
	uv_loop_t *loop = &standby->supervisor->loop;
	int r = uv_poll_init(loop, &standby->control_poll, standby->process.control);
	if (r < 0)
		return r;
	standby->open_handles++;
	standby->control_poll.data = standby;
	r = uv_poll_init(loop, &standby->exit_poll, standby->process.pidfd);
	if (r < 0)
		return r;
	standby->open_handles += 2;
	standby->exit_poll.data = standby;
	(void)uv_timer_init(loop, &standby->deadline);
	standby->deadline.data = standby;
	(void)uv_poll_start(&standby->exit_poll, UV_READABLE, on_standby_exit);
	(void)uv_poll_start(&standby->control_poll, UV_READABLE, on_standby_control);
	return 0;
}

/* Frees a standby that nothing watches yet. */
static void standby_drop(struct standby *standby)
{
	engine_process_kill(&standby->process);
	if (standby->open_handles)
		standby_close_handle((uv_handle_t *)&standby->control_poll);
	else
		free(standby);
}

static int standby_start(struct supervisor *supervisor, const struct device_set *devices)
{
	struct standby *standby = calloc(1, sizeof(*standby));
	if (!standby)
		return -ENOMEM;
	standby->supervisor = supervisor;
	standby->process = (struct engine_process)ENGINE_PROCESS_NONE;
	int r = engine_launch_standby(supervisor, &standby->process);
	if (r < 0) {
		free(standby);
		return r;
	}
	r = standby_open_handles(standby);
	if (r < 0) {
		standby_drop(standby);
		return r;
	}
	standby->since_ns = clock_now_ns();
	char whose[ENGINE_LOG_WHOSE_BYTES];
	(void)snprintf(whose, sizeof(whose), "the standby, pid %ld,", (long)standby->process.pid);
	standby->log = engine_log_open(&supervisor->loop, take_fd(&standby->process.log), whose,
				       &supervisor->keeper->log);
	supervisor->keeper->standby = standby;
	log_info("standby", "started pid %ld", (long)standby->process.pid);
	standby_request(standby, devices);
	return 0;
}

/* Devices that are open in engines that go on. */
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

/* The engine replaces one that a device has failed: its tenant waits, and a driver makes contexts
 * one after the other. */
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

static void on_standby_pause_over(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct standby_keeper *keeper = supervisor->keeper;
	struct device_set wanted = keeper_devices_in_use(supervisor);
	if (keeper->failures >= FAILURES_FREE)
		keeper->failures = 0; /* the pause was for this */
	if (keeper->standby || supervisor->stopping || device_set_is_empty(&wanted))
		return;
	/* However many engines open their devices in turn, a standby is not put off for longer than
	 * this. */
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
		char why[FAILURE_BYTES];
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
	standby_start_deadline(standby, END_GRACE_MS);
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
		/* An empty set is a part of every other. */
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
	*process_out = standby->process;
	process_out->log = engine_log_release(TAKE(standby->log));
	standby->process = (struct engine_process)ENGINE_PROCESS_NONE;
	standby_release(standby);
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
		/*
		 * By then the process runs as that user, who may have stopped or killed it. So the
		 * standby pauses once, and other users have one again. A driver that was slow once
		 * is forgiven as well.
		 */
		if (tenant->uid != geteuid())
			tenant->no_standby_until_ns =
				clock_now_ns() + FAILED_PAUSE_MS * MILLISECOND_NS;
		standby_failed(tenant->supervisor, "the standby did not become an engine");
		return;
	}
	/* Once for each such user: otherwise a user that may not use a GPU could take each standby
	 * from those that may. */
	log_info("standby", "uid %lu may not open the devices that it has prepared",
		 (unsigned long)tenant->uid);
	tenant->no_standby_until_ns = UINT64_MAX;
	standby_review(tenant->supervisor);
}

void standby_stop(struct supervisor *supervisor)
{
	struct standby *standby = supervisor->keeper->standby;
	(void)uv_timer_stop(&supervisor->keeper->rest);
	if (!standby || standby->state == STANDBY_ENDING)
		return;
	standby_start_deadline(standby, END_GRACE_MS);
	standby_end(standby);
}

void standby_abandon(struct supervisor *supervisor)
{
	struct standby *standby = supervisor->keeper->standby;
	if (!standby)
		return;
	struct engine_process process = standby->process;
	(void)engine_log_free(TAKE(standby->log));
	standby_release(standby);
	engine_process_kill(&process);
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
