/* The service's own state: one loop, one thread. The service parses no data that a session's client
 * sent, and loads no vendor's library. */
#ifndef SYCLD_SUPERVISOR_SUPERVISOR_H
#define SYCLD_SUPERVISOR_SUPERVISOR_H

#include "base/order_origin.h"
#include "base/configuration.h"
#include "service/job.h"
#include "service/observer.h"
#include "base/listener.h"
#include "base/notify.h"
#include "base/options.h"
#include "packet.h"
#include "base/runtime_directory.h"
#include "service/tenant.h"
#include "service/unsettled.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct account_file;
struct admin;
struct arbiter;
struct engine_groups;
struct inquiries;
struct job_watch;
struct orphans;
struct sharing;
struct standby_keeper;
struct succession;
struct trace;

struct supervisor {
	uv_loop_t loop;
	struct options options;
	struct configuration configuration;
	struct runtime_directory directory;
	struct listener listener;
	struct notify notify;
	/* Memory of the message that is being read; the next message reuses it. */
	struct decode_arena arena;
	const struct service_observer *observer;
	struct tenant_list tenants;
	unsigned tenant_count;
	struct jobs jobs;
	char cgroup_mount[CGROUP_MOUNT_BYTES]; /* "": there is none */
	unsigned engine_count;                 /* number of engines without the standby */
	unsigned held_count; /* number of held engines among these (engine/lost.h) */
	unsigned session_count;
	struct unsettled unsettled;
	unsigned arriving_count; /* engine/tenant_arrivals.h, of all tenants */
	uv_timer_t arrivals;
	uint64_t last_session;
	struct engine_log_window
		unknown_log; /* Shared by all users that are not in the user database. */
	bool privileged; /* the service may change to any uid; otherwise it serves only its own */
	/* The uid that stands for all users missing in this user namespace; -1: none is missing. */
	uid_t overflow_uid;
	bool stopping;
	bool drained; /* an operator has ordered that no new session is accepted */
	struct order_origin drained_by;
	struct limit_orders orders; /* for all users */
	/* admin/orders_sessions.h: orders for single sessions under the last service. */
	struct kept_pause *pauses;
	struct kept_session_limit *session_limits;
	uint32_t pause_count;
	uint32_t session_limit_count;
	uint64_t since_ns;
	uint64_t since_unix_seconds;
	char engine_program[PATH_MAX];
	char cache_path[PATH_MAX]; /* "": engines keep no built kernels */
	char session_path[sizeof(((struct runtime_directory *)0)->path) +
			  sizeof(SESSION_SOCKET_NAME)];
	uv_signal_t terminate;
	uv_signal_t interrupt;
	uv_signal_t reload;
	uv_signal_t hand_over;
	uv_timer_t idle;
	uv_timer_t stop_deadline;
	/* Parts of higher folders, and used only there. The composition root owns them. */
	struct account_file *account_file;
	struct succession *succession;
	struct standby_keeper *keeper;
	struct orphans *orphans;
	struct engine_groups *groups;
	struct sharing *sharing;
	struct arbiter *arbiter;
	struct admin *admin;
	struct inquiries *inquiries;
	struct job_watch *job_watch;
	struct trace *trace;
};

#endif
