/*
 * The service's state of an engine process (engine/engine.h has the functions):
 *
 *   STARTING --ready--> READY --stop, hang-up--> STOPPING --exit--> (reaped, freed)
 *       \                ^   \--- this service ends: the process goes on (engine_abandon)
 *        \               |                    \--- the next one: RETURNING --comes back (engine/return.h)--> READY
 *         \------------- exit, time-out ------------------/                 \--exit--> (freed)
 *
 * One that has given up its devices is settled at its hang-up (engine/lost.h), and is STOPPING
 * until its process has ended.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_STATE_H
#define SYCLD_SUPERVISOR_ENGINE_STATE_H

#include "base/configuration.h"
#include "base/device_set.h"
#include "protocol_limits.h"
#include "service/claims_state.h"
#include "service/session.h"
#include "service/tenant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

enum engine_state { ENGINE_STARTING, ENGINE_READY, ENGINE_STOPPING, ENGINE_RETURNING };

enum {
	ENGINE_REQUESTS_MAX = 4, /* report requests without a reply; more are not sent */
	ENGINE_PLACES = 1024,    /* slots of the hash table of sessions by number */
	ENGINE_INVALID_MAX = 64, /* unrequested messages after which the engine is ended */
	ENGINE_REASON_BYTES = 128,
};

struct engine_log;
struct engine_share;
struct job;
struct memory_region;

/* engine/arbiter.h: the engine's state in the division of devices' memory. Cases are named by
 * number. */
struct engine_memory {
	uint64_t wanted;  /* the case that it began; 0: none */
	uint64_t ask;     /* the engine's own number of its request */
	uint64_t request; /* request to which the engine has not replied; 0: none */
	uint64_t asked;   /* the case of this request */
	uint64_t bytes;   /* the bytes that the engine must free */
	uint64_t known;   /* the case for which these figures were claimed */
	uint64_t held_bytes, spillable_bytes, capacity_bytes;
	/* Set when the engine did not free the bytes that it had to: nothing is requested until
	 * then. */
	uint64_t unreliable_until_ns;
	uint64_t window_ns; /* start of the window in which its requests are counted */
	unsigned asks;
};

struct engine {
	TAILQ_ENTRY(engine) link; /* link in the tenant's list */
	struct tenant *tenant;
	/* It serves the sessions of this job only; NULL: of no job, or the job has ended. */
	struct job *job;
	enum engine_state state;
	bool was_ready;
	bool had_session; /* the engine had a session, or one that could not be handed on */
	bool adopted;     /* the engine was the standby */
	/* The engine replaces one that lost a device, so it opens devices at once. */
	bool is_replacement;
	bool stop_requested; /* this service requested the engine's end, which is no failure */
	bool is_child;       /* a child of this process, so its exit status will be known */
	/* engine/lost.h: the engine has ended for its tenant, but its process may still exist. */
	bool is_lost;
	bool is_held;   /* is_lost: its process is kept for a while */
	bool has_token; /* the engine can return to the next service */
	uint8_t token[ENGINE_TOKEN_BYTES];
	uint64_t start_ticks; /* process_start_ticks */
	/* RETURNING: it was refused for good. The next members are the progress of its return. */
	bool is_refused;
	bool return_begun;
	/* The engine is of another release: it keeps its sessions and gets no new ones. */
	bool is_older;
	/* The devices of its tenant have changed: it keeps its sessions and gets no new ones. */
	bool is_retired;
	bool sessions_listed; /* engine/listed.h: its sessions are in the file for the next service
			       */
	unsigned returns_lost;
	char kill_reason[ENGINE_REASON_BYTES]; /* reason for SIGKILL; "": it was not sent */
	/* Reason of an ordered end, before SIGKILL; "": none was ordered. */
	char end_reason[ENGINE_REASON_BYTES];
	pid_t pid;
	int pidfd;
	int control;
	struct engine_log *log; /* the engine's standard error; NULL: it is not read */
	uint64_t since_ns;
	uint64_t since_unix_seconds;
	uint64_t idle_since_ns; /* set while it has no session */

	struct session_list waiting;                /* accepted, not handed on */
	struct session_list silent;                 /* the same, and is_silent */
	struct session_list sessions;               /* handed on */
	struct session_place places[ENGINE_PLACES]; /* handed on, found by number */
	unsigned waiting_count;                     /* length of both lists */
	unsigned sessions_count;

	/* The limits that the engine was started with, or received last. 0: its own default.
	 * UINT64_MAX: unknown, because an earlier service or configuration started it. */
	uint64_t limits_sent[CONFIGURATION_LIMITS];
	/* The devices that the engine was started with. Not known if its service kept a state of
	 * format 1. */
	bool devices_known;
	struct configuration_devices allowed;

	struct engine_memory memory;
	struct engine_share *share; /* engine/sharing.h; NULL: it takes no part in the division */
	/* The devices that it reports as open, of backends that can open devices ahead. */
	struct device_set devices;
	/* The engine's flight page, read-only; NULL until it is ready. */
	struct memory_region *flight;
	uint64_t requests[ENGINE_REQUESTS_MAX]; /* requests without a reply; 0: free entry */
	/* How many parts of the report for each of these have arrived. An engine may send parts of
	 * several reports in turn, and still none has an unlimited number. */
	unsigned report_parts[ENGINE_REQUESTS_MAX];
	struct engine_claims claims;
	uint64_t trace_request; /* the latest request for which it has sent trace records */
	size_t trace_bytes;     /* size of these records so far */
	uint64_t trace_noted;   /* the trace for which the log has its source of times */
	unsigned invalid_messages;
	/* Reports about spills in the present window (engine/spilled.c). */
	uint64_t spilled_since_ns;
	unsigned spilled_reports;

	uv_poll_t *control_poll; /* NULL: `control` is not watched */
	int control_events;
	uv_poll_t exit_poll;
	uv_timer_t deadline; /* deadline of the start, of the stop, or of holding the engine */
	uv_timer_t idle;
	unsigned open_handles;
};

#endif
