/*
 * The succession of services: one follows another, which was restarted or killed, and takes over
 * the engines that go on (engine/return.h). Data for the next service is kept in the folder while
 * this one runs (service/service_state.h), and engines of the last one are expected back.
 */
#ifndef SYCLD_SUPERVISOR_SUCCESSION_H
#define SYCLD_SUPERVISOR_SUCCESSION_H

#include "base/listener.h"
#include "base/runtime_directory.h"
#include "service/service_state.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct supervisor;

/* The supervisor's part. */
struct succession {
	uint8_t secret[SERVICE_SECRET_BYTES]; /* key of session_proof */
	uint64_t sessions_before; /* value in the file: numbers from here on may not be given */
	bool is_open;
	bool has_failed; /* the file could not be written: logged once, and tried again */
	bool is_far; /* numbers jump ahead, to those that the next service will not give either */
	struct listener listener; /* for engines that return */
	uv_timer_t
		while_over; /* until the accounts are written, or a failed write is tried again */
	char path[RUNTIME_DIRECTORY_BYTES + sizeof("/" ENGINE_SOCKET_NAME)];
};

/*
 * Read what the last service left, expect its engines, and listen for them. 0, also when they
 * cannot come back, which is logged. A negative errno: what was left cannot be read now, so this
 * service must not begin.
 */
int succession_open(struct supervisor *supervisor);

/* Engines have started or left service: write the file. */
void succession_changed(struct supervisor *supervisor);

/* The same after a while: the accounts have changed. */
void succession_changes(struct supervisor *supervisor);

/* Send the engine its identity for the next service; then as succession_changed. */
void succession_engine_ready(struct engine *engine);

/* The number for the next session; it is used up when the session is made. */
uint64_t succession_session_number(struct supervisor *supervisor);

/* The service ends, and its engines are still connected: write what the next service needs. The
 * loop must run once more. */
void succession_close(struct supervisor *supervisor);

#endif
