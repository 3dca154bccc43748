#include "process/supervisor.h"
#include "process/cache_folder.h"

#include "cleanup.h"
#include "clock.h"
#include "account/file.h"
#include "admin/admin.h"
#include "admin/jobs_file.h"
#include "admin/jobs_watch.h"
#include "admin/report.h"
#include "admin/trace.h"
#include "engine/arbiter.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "engine/groups.h"
#include "engine/hand_on.h"
#include "engine/orphans.h"
#include "engine/sharing.h"
#include "engine/standby.h"
#include "engine/restore.h"
#include "engine/succession.h"
#include "engine/control.h"
#include "engine/placement.h"
#include "engine/process.h"
#include "engine/receive.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "admin/orders_file.h"
#include "admin/orders_sessions.h"
#include "admin/orders_limit.h"
#include "base/peer.h"
#include "base/refusal.h"
#include "base/share_names.h"
#include "engine/tenant_arrivals.h"
#include "account/tenant_forget.h"
#include "base/user_lookup.h"
#include "base/user_namespace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND_NS 1000000ull
#define SECOND_NS      1000000000ull

enum { STOP_MARGIN_MS = 5000, MESSAGE_BYTES = PATH_MAX + 512 };

static void supervisor_end_loop(struct supervisor *supervisor)
{
	uv_stop(&supervisor->loop);
}

static void supervisor_send_status(struct supervisor *supervisor)
{
	notify_status(&supervisor->notify, supervisor->session_count, supervisor->engine_count);
}

static void supervisor_stop(struct supervisor *supervisor, uint64_t drain_ns);

static void supervisor_check_idle(struct supervisor *supervisor);

/* An idle service releases the address first. So a client that connects meanwhile is either served
 * here or starts another service. */
static void on_service_idle(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	if (tenants_have_returning_engine(supervisor)) {
		supervisor_check_idle(supervisor);
		return;
	}
	if (listener_retire(&supervisor->listener)) {
		int r = listener_reopen(&supervisor->listener);
		if (r == 0)
			return;
		log_error("listener", "cannot listen again: %s", strerror(-r));
	}
	log_info("service", "the service is idle and ends");
	supervisor_stop(supervisor, 0);
}

static void supervisor_check_idle(struct supervisor *supervisor)
{
	uint64_t idle_ns = supervisor->options.exit_idle_ns;
	if (idle_ns == 0 || supervisor->stopping)
		return;
	if (supervisor->session_count)
		(void)uv_timer_stop(&supervisor->idle);
	else
		(void)uv_timer_start(&supervisor->idle, on_service_idle, idle_ns / MILLISECOND_NS,
				     0);
}

static void on_sessions_changed(struct supervisor *supervisor)
{
	supervisor_check_idle(supervisor);
	supervisor_send_status(supervisor);
}

static bool has_processes(const struct supervisor *supervisor)
{
	return supervisor->engine_count || supervisor->keeper->standby;
}

static void on_engine_ended(struct supervisor *supervisor)
{
	supervisor_send_status(supervisor);
	if (!supervisor->stopping)
		arrivals_continue(supervisor);
	if (supervisor->stopping && !has_processes(supervisor))
		supervisor_end_loop(supervisor);
}

static void on_listener_starved(void *context, int socket)
{
	(void)context;
	refuse_client(socket, STATUS_QUOTA, "the service has no descriptors left");
}

/* Takes the socket. */
static void on_client_connected(void *context, int connection)
{
	struct supervisor *supervisor = context;
	CLEANUP(foreign_socket_close) int socket = connection;
	if (supervisor->stopping) {
		refuse_client(take_fd(&socket), STATUS_CONNECTION_LOST, "the service is stopping");
		return;
	}
	struct peer peer;
	int r = peer_identify(socket, &peer);
	if (r < 0) {
		refuse_client(take_fd(&socket), r == -ESRCH ? STATUS_CONNECTION_LOST : STATUS_QUOTA,
			      r == -ESRCH ? "the process that connected cannot be identified"
					  : "the service has no descriptors left");
		return;
	}
	CLEANUP(close_fd) int pidfd = peer.pidfd;
	peer.is_operator = admin_is_operator(supervisor, socket, peer.uid);
	if (!supervisor->privileged && peer.uid != geteuid()) {
		char text[128];
		(void)snprintf(text, sizeof(text),
			       "this service serves uid %lu only, and uid %lu has connected",
			       (unsigned long)geteuid(), (unsigned long)peer.uid);
		refuse_client(take_fd(&socket), STATUS_RUNTIME, text);
		return;
	}
	struct refusal refusal;
	struct tenant *tenant = tenant_get(supervisor, peer.uid, &refusal);
	if (!tenant) {
		refuse_client(take_fd(&socket), refusal.code, refusal.text);
		return;
	}
	struct session *session = session_new(succession_session_number(supervisor), socket, &peer);
	if (!session) {
		tenant_review(tenant);
		refuse_client(take_fd(&socket), STATUS_MEMORY_ALLOCATION,
			      "the service has no memory");
		return;
	}
	supervisor->last_session++;
	(void)take_fd(&socket);
	(void)take_fd(&pidfd);
	log_debug("session", "%llu from uid %lu, pid %ld (%s)", (unsigned long long)session->id,
		  (unsigned long)peer.uid, (long)peer.pid, peer.command);
	tenant_place(tenant, session);
	tenant_review(tenant);
	succession_changes(supervisor);
	supervisor_send_status(supervisor);
}

static void on_stop_deadline(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	log_error("service", "%u engines do not end: the service ends without them",
		  supervisor->engine_count);
	supervisor_end_loop(supervisor);
}

static void supervisor_stop_engines(struct supervisor *supervisor, uint64_t drain_ns)
{
	struct tenant *tenant;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link) {
		struct engine *engine, *next;
		for (engine = TAILQ_FIRST(&tenant->engines); engine; engine = next) {
			next = TAILQ_NEXT(
				engine, link); /* an engine that cannot be ended is freed at once */
			engine_stop(engine, drain_ns);
		}
	}
}

/* Stops accepting sessions. False: the address was closed before. */
static bool supervisor_close_address(struct supervisor *supervisor)
{
	if (supervisor->stopping)
		return false;
	supervisor->stopping = true;
	log_info("service", "stopping: sessions %u, engines %u", supervisor->session_count,
		 supervisor->engine_count);
	(void)listener_retire(&supervisor->listener);
	listener_close(&supervisor->listener);
	arrivals_refuse(supervisor, "the service is stopping");
	notify_stopping();
	return true;
}

/* Ends the loop and leaves the engines running. They read the hang-up, and continue for the next
 * service or until their last session. */
static void supervisor_leave(struct supervisor *supervisor)
{
	(void)supervisor_close_address(supervisor);
	supervisor_end_loop(supervisor);
}

/* Accepts no session, lets the engines end their sessions within `drain_ns`, then ends. A second
 * call ends the service at once. */
static void supervisor_stop(struct supervisor *supervisor, uint64_t drain_ns)
{
	(void)supervisor_close_address(supervisor);
	supervisor_stop_engines(supervisor, drain_ns);
	standby_stop(supervisor);
	if (!has_processes(supervisor))
		supervisor_end_loop(supervisor);
	else
		(void)uv_timer_start(&supervisor->stop_deadline, on_stop_deadline,
				     drain_ns / MILLISECOND_NS + STOP_MARGIN_MS, 0);
}

static void on_terminate(uv_signal_t *handle, int number)
{
	struct supervisor *supervisor = handle->data;
	log_info("service", "received signal %d (%s)", number, strsignal(number));
	bool again = supervisor->stopping;
	if (supervisor->configuration.leave_engines && !again && supervisor->configuration.drain_ns)
		supervisor_leave(supervisor);
	else
		supervisor_stop(supervisor, again ? 0 : supervisor->configuration.drain_ns);
}

/* Called when another service follows at once and takes the engines over. */
static void on_hand_over(uv_signal_t *handle, int number)
{
	(void)number;
	log_info("service", "handing over to the next service");
	supervisor_leave(handle->data);
}

static void log_reload_finding(void *context, bool is_error, const char *text)
{
	(void)context;
	if (is_error)
		log_error("configuration", "%s", text);
	else
		log_warning("configuration", "%s", text);
}

static void on_reload(uv_signal_t *handle, int number)
{
	(void)number;
	struct supervisor *supervisor = handle->data;
	notify_reloading();
	int r = configuration_check(supervisor->options.configuration, supervisor->options.user,
				    &supervisor->configuration, log_reload_finding, NULL);
	if (r < 0)
		log_error("configuration", "the previous configuration stays");
	else
		log_info(
			"configuration",
			"read again; values apply to engines started from now on, limits and shares to all");
	if (r == 0) {
		orders_reloaded(supervisor);
		share_names_review(&supervisor->configuration);
		standby_renew(supervisor);
	}
	notify_reloaded();
}

static int supervisor_watch_signal(struct supervisor *supervisor, uv_signal_t *handle,
				   uv_signal_cb callback, int number)
{
	int r = uv_signal_init(&supervisor->loop, handle);
	handle->data = supervisor;
	return r < 0 ? r : uv_signal_start(handle, callback, number);
}

static int supervisor_start(struct supervisor *supervisor)
{
	uv_loop_t *loop = &supervisor->loop;
	(void)log_open(loop);
	(void)uv_timer_init(loop, &supervisor->idle);
	(void)uv_timer_init(loop, &supervisor->stop_deadline);
	supervisor->idle.data = supervisor;
	supervisor->stop_deadline.data = supervisor;
	arrivals_init(supervisor);
	standby_init(supervisor);
	orphans_init(supervisor);
	engine_groups_open(supervisor->groups, &supervisor->configuration, supervisor->privileged);
	sharing_init(supervisor);
	arbiter_init(supervisor);
	trace_init(supervisor);
	jobs_watch_init(supervisor);
	(void)cgroup_find_mount(supervisor->cgroup_mount);
	int r = unsettled_open(supervisor);
	if (r == 0)
		r = supervisor_watch_signal(supervisor, &supervisor->terminate, on_terminate,
					    SIGTERM);
	if (r == 0)
		r = supervisor_watch_signal(supervisor, &supervisor->interrupt, on_terminate,
					    SIGINT);
	if (r == 0)
		r = supervisor_watch_signal(supervisor, &supervisor->reload, on_reload, SIGHUP);
	if (r == 0)
		r = supervisor_watch_signal(supervisor, &supervisor->hand_over, on_hand_over,
					    SIGUSR2);
	if (r == 0)
		r = user_lookups_open(&supervisor->loop);
	if (r == 0)
		share_names_review(&supervisor->configuration);
	/* This precedes the engines of jobs. */
	if (r == 0)
		r = jobs_file_load(supervisor);
	/* This precedes the first client, whose engine may exist already. */
	if (r == 0)
		r = restore_last_service(supervisor);
	if (r == 0)
		r = succession_open(supervisor);
	if (r == 0)
		r = orders_file_load(supervisor);
	if (r == 0)
		jobs_watch_start(supervisor);
	/* Remaining processes of engines that ended while no service ran. */
	if (r == 0)
		orphans_end(supervisor);
	if (r == 0)
		r = admin_open(supervisor);
	if (r == 0)
		r = listener_start(&supervisor->listener, loop);
	return r;
}

static void close_loop_handle(uv_handle_t *handle, void *context)
{
	(void)context;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Called after the loop was stopped. Remaining engines continue without the service. */
static void supervisor_finish(struct supervisor *supervisor)
{
	if (!supervisor->stopping)
		(void)listener_retire(&supervisor->listener);
	listener_close(&supervisor->listener);
	arrivals_refuse(supervisor, "the service is stopping");
	succession_close(supervisor);
	kept_of_sessions_forget(supervisor);
	report_drop_all(supervisor);
	admin_close(supervisor);
	orphans_end_now(supervisor); /* while the engines that continue are still known */
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		while ((engine = TAILQ_FIRST(&tenant->engines))) {
			TAILQ_REMOVE(&tenant->engines, engine, link);
			engine_abandon(engine);
		}
	tenants_free(supervisor);
	jobs_free(supervisor);
	user_lookups_close(); /* tenants have dropped theirs */
	trace_forget(supervisor);
	arbiter_fini(supervisor);
	unsettled_close(supervisor);
	standby_abandon(supervisor);
	uv_walk(&supervisor->loop, close_loop_handle, NULL);
	(void)uv_run(&supervisor->loop, UV_RUN_DEFAULT);
	int r = uv_loop_close(&supervisor->loop);
	if (r < 0)
		log_error("service", "the event loop cannot be closed: it still has handles");
	engine_groups_close(supervisor->groups);
	decode_arena_fini(&supervisor->arena);
	log_finish();
	runtime_directory_close(&supervisor->directory);
}

/* Sends its identity for the next service first, then the orders of operators. */
static void on_engine_takes_messages(struct engine *engine)
{
	succession_engine_ready(engine);
	jobs_file_engine_ready(engine);
	orders_engine_ready(engine);
}

static void on_tenant_identified(struct tenant *tenant)
{
	sharing_review(tenant->supervisor);
	orders_tenant_identified(tenant);
	report_tenant_identified(tenant);
	arrivals_continue_tenant(tenant);
}

/* All parts of the service. libuv keeps pointers into them. */
static struct service_parts {
	struct supervisor supervisor;
	struct account_file account_file;
	struct succession succession;
	struct standby_keeper keeper;
	struct orphans orphans;
	struct engine_groups groups;
	struct sharing sharing;
	struct arbiter arbiter;
	struct admin admin;
	struct inquiries inquiries;
	struct job_watch job_watch;
	struct trace trace;
} parts;

static const struct service_observer observer = {
	.sessions_changed = on_sessions_changed,
	.engine_ended = on_engine_ended,
	.engines_changed = succession_changed,
	.accounts_changed = succession_changes,
	.session_unplaced = tenant_place,
	.engine_wanted = tenant_replace_engine,
	.session_overdue = tenant_give_up,
	.session_readable = engine_client_readable,
	.received = engine_receive,
	.starts_taking = on_engine_takes_messages,
	.returned = orders_engine_returned,
	.ready = report_engine_ready,
	.gone = report_engine_ended,
	.answered = report_arrived,
	.traced = trace_take,
	.session_ended = trace_session_ends,
	.tenant_identified = on_tenant_identified,
};

static struct supervisor *connect_parts(const struct options *options,
					const struct configuration *configuration,
					const struct runtime_directory *directory,
					const struct listener *listener)
{
	parts.supervisor = (struct supervisor){
		.options = *options,
		.configuration = *configuration,
		.directory = *directory,
		.listener = *listener,
		.observer = &observer,
		.privileged = geteuid() == 0 && !options->user,
		.overflow_uid =
			user_namespace_outsiders(USER_NAMESPACE_MAP, USER_NAMESPACE_OVERFLOW),
		.since_ns = clock_now_ns(),
		.since_unix_seconds = (uint64_t)time(NULL),
		.account_file = &parts.account_file,
		.succession = &parts.succession,
		.keeper = &parts.keeper,
		.orphans = &parts.orphans,
		.groups = &parts.groups,
		.sharing = &parts.sharing,
		.arbiter = &parts.arbiter,
		.admin = &parts.admin,
		.inquiries = &parts.inquiries,
		.job_watch = &parts.job_watch,
		.trace = &parts.trace,
	};
	struct supervisor *supervisor = &parts.supervisor;
	TAILQ_INIT(&supervisor->tenants);
	TAILQ_INIT(&supervisor->jobs.list);
	TAILQ_INIT(&supervisor->inquiries->list);
	supervisor->listener.connected = on_client_connected;
	supervisor->listener.starved = on_listener_starved;
	supervisor->listener.context = supervisor;
	(void)snprintf(supervisor->session_path, sizeof(supervisor->session_path), "%s",
		       listener->path);
	supervisor->listener.path = supervisor->session_path;
	return supervisor;
}

int supervisor_run(const struct options *options, const struct configuration *configuration,
		   const struct runtime_directory *directory, const struct listener *listener)
{
	struct supervisor *supervisor = connect_parts(options, configuration, directory, listener);
	int r = engine_program_find(options->engine, supervisor->engine_program,
				    sizeof(supervisor->engine_program));
	if (r < 0) {
		log_error("service", "cannot find the engine's program %s: %s",
			  options->engine ? options->engine : "", strerror(-r));
		return EXIT_FAILURE;
	}
	supervisor_find_cache(supervisor);
	r = decode_arena_init(&supervisor->arena, DECODE_BYTES_MAX);
	if (r == 0)
		r = uv_loop_init(&supervisor->loop);
	if (r < 0) {
		log_error("service", "the event loop cannot be set up: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	r = supervisor_start(supervisor);
	if (r == 0) {
		notify_ready(&supervisor->notify, &supervisor->loop);
		log_info("service", "sycld %s serves %s at %s", SYCLD_VERSION,
			 supervisor->privileged ? "every user" : "its own user",
			 supervisor->session_path);
		supervisor_check_idle(supervisor);
		(void)uv_run(&supervisor->loop, UV_RUN_DEFAULT);
	}
	supervisor_finish(supervisor);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
