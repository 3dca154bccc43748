/*
 * The service's own state: one loop, one thread. It parses nothing that a session's client sent,
 * and loads no vendor's library.
 */
#ifndef SYCLD_SUPERVISOR_SUPERVISOR_H
#define SYCLD_SUPERVISOR_SUPERVISOR_H

#include "admin/admin.h"
#include "base/configuration.h"
#include "engine/groups.h"
#include "service/observer.h"
#include "base/listener.h"
#include "base/notify.h"
#include "base/options.h"
#include "engine/orphans.h"
#include "packet.h"
#include "admin/report.h"
#include "base/runtime_directory.h"
#include "engine/sharing.h"
#include "engine/standby.h"
#include "engine/succession.h"
#include "service/tenant.h"
#include "admin/trace.h"
#include "service/unsettled.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct supervisor {
	uv_loop_t loop;
	struct options options;
	struct configuration configuration;
	struct runtime_directory directory;
	struct listener listener;
	struct admin admin;
	struct succession succession;
	struct notify notify;
	struct decode_arena arena; /* of whatever message is being looked at; emptied by the next */
	const struct service_observer *observer;
	struct tenant_list tenants;
	unsigned tenant_count;
	unsigned engine_count; /* without the standby */
	unsigned held_count;   /* of these, that are held (engine_lost.h) */
	struct standby_keeper keeper;
	struct orphans orphans;
	struct engine_groups groups;
	struct sharing sharing;
	unsigned session_count;
	struct unsettled unsettled;
	unsigned arriving_count; /* tenant_arrivals.h, of all tenants */
	uv_timer_t arrivals;
	uint64_t last_session;
	struct inquiry_list inquiries;
	unsigned inquiry_count;
	uint64_t last_inquiry;
	struct engine_log_window
		unknown_log; /* of all users together whom the user database does not know */
	struct trace trace;
	bool privileged; /* may become any uid; otherwise only this one is served */
	uid_t outsiders; /* stands for all users that this user namespace does not have; -1: it has
			    all */
	bool stopping;
	bool drained; /* nobody new is served, as an operator wants it */
	uint64_t since_ns;
	uint64_t since_unix_seconds;
	char engine_program[PATH_MAX];
	char cache_path[PATH_MAX]; /* "": engines keep nothing */
	char session_path[sizeof(((struct runtime_directory *)0)->path) +
			  sizeof(SESSION_SOCKET_NAME)];
	uv_signal_t terminate;
	uv_signal_t interrupt;
	uv_signal_t reload;
	uv_signal_t hand_over;
	uv_timer_t idle;
	uv_timer_t stop_deadline;
};

#endif
