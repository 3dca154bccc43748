#include "engine/standby_process.h"

#include "base/log.h"
#include "cleanup.h"
#include "clock.h"
#include "control.pb-c.h"
#include "engine/engine.h"
#include "engine/kill.h"
#include "engine/launch.h"
#include "engine/log.h"
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

#define MILLISECOND_NS 1000000ull

enum {
	END_GRACE_MS = 3000, /* the process may be making a context */
	EXIT_USELESS = 5,    /* a status of sycl-engine: it can prepare none of the devices */
	MESSAGES_PER_TURN = 8,
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

/* Closes the handles first, because libuv must not use the descriptors when the new owner closes
 * them. */
static void standby_release(struct standby *standby)
{
	standby->supervisor->keeper->standby = NULL;
	standby_close_handle((uv_handle_t *)&standby->control_poll);
	standby_close_handle((uv_handle_t *)&standby->exit_poll);
	standby_close_handle((uv_handle_t *)&standby->deadline);
}

/* Called when the standby has ended without becoming an engine. */
static void standby_process_ended(struct standby *standby, int wait_status)
{
	struct supervisor *supervisor = standby->supervisor;
	char why[STANDBY_FAILURE_BYTES + 64];
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
		standby->state = STANDBY_STARTING; /* the standby is no longer handed out */
	(void)process_kill(standby->process.pid, standby->process.pidfd);
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

void standby_end(struct standby *standby)
{
	(void)uv_timer_stop(&standby->supervisor->keeper->idle);
	if (standby->state == STANDBY_ENDING)
		return;
	standby->state = STANDBY_ENDING;
	standby_start_deadline(standby, END_GRACE_MS);
	(void)uv_poll_stop(&standby->control_poll);
	/* The process ends when its loop reads the hang-up. */
	(void)shutdown(standby->process.control, SHUT_RDWR);
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
			standby_kill(standby, "it sends a message of a kind that it may not send");
		status = r == 1 ? 0 : -1;
	}
	/* The engine has hung up. Its exit is handled when it is reported. */
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

void standby_request(struct standby *standby, const struct device_set *devices)
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

/* Frees a standby that is not polled yet. */
static void standby_drop(struct standby *standby)
{
	engine_process_kill(&standby->process);
	if (standby->open_handles)
		standby_close_handle((uv_handle_t *)&standby->control_poll);
	else
		free(standby);
}

int standby_start(struct supervisor *supervisor, const struct device_set *devices)
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

void standby_give_process(struct standby *standby, struct engine_process *process_out)
{
	*process_out = standby->process;
	process_out->log = engine_log_release(TAKE(standby->log));
	standby->process = (struct engine_process)ENGINE_PROCESS_NONE;
	standby_release(standby);
}

void standby_kill_now(struct standby *standby)
{
	struct engine_process process = standby->process;
	(void)engine_log_free(TAKE(standby->log));
	standby_release(standby);
	engine_process_kill(&process);
}
