/*
 * The succession of services. A service follows another one, which was restarted or killed, and
 * takes over the engines that continue (engine/return.h). While a service runs, it keeps data for
 * the next one in the folder (service/service_state.h). What the last one left there is restored
 * before (engine/restore.h).
 */
#ifndef SYCLD_SUPERVISOR_SUCCESSION_H
#define SYCLD_SUPERVISOR_SUCCESSION_H

#include "base/listener.h"
#include "base/runtime_directory.h"
#include "service/open_sessions.h"
#include "service/service_state.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct supervisor;

/* The supervisor's part. */
struct succession {
	uint8_t secret[SERVICE_SECRET_BYTES]; /* key of session_proof */
	uint64_t sessions_before; /* value in the file: numbers from here on may not be assigned */
	bool is_open;
	bool has_failed;           /* the file could not be written; logged once, and tried again */
	struct open_sessions open; /* engine/listed.h */
	bool list_has_failed;      /* `open` could not be written; logged once */
	bool is_far; /* numbers jump ahead, to those that the next service will not assign either */
	struct listener listener; /* for engines that return */
	uv_timer_t
		while_over; /* until the accounts are written, or a failed write is tried again */
	uv_prepare_t turn_over; /* active: the file is written before the loop sleeps */
	char path[RUNTIME_DIRECTORY_BYTES + sizeof("/" ENGINE_SOCKET_NAME)];
};

/*
 * Called after restore_last_service: reads the accounts, and listens for the engines that return.
 * 0, also if they cannot return, which is logged. A negative errno: the accounts cannot be read
 * now, so this service must not begin.
 */
int succession_open(struct supervisor *supervisor);

/* Called when engines have left service: the file is written before the loop sleeps. */
void succession_changed(struct supervisor *supervisor);

/* Writes the file. */
void succession_write_now(struct supervisor *supervisor);

/* As succession_changed, after a while, because the accounts have changed. */
void succession_changes(struct supervisor *supervisor);

/* Sends the engine its identity for the next service, and writes the file before it can get a
 * session. */
void succession_engine_ready(struct engine *engine);

/* Returns the number for the next session. It is used up when the session is made. */
uint64_t succession_session_number(struct supervisor *supervisor);

/* Called at the service's end, while its engines are still connected: writes the data for the next
 * service. The loop must run once more. */
void succession_close(struct supervisor *supervisor);

#endif
