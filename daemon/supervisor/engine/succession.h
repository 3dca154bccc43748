/*
 * One service follows another, which was restarted or killed, and takes over the engines that go on
 * (engine_return.h): what the next one must know is kept in the folder while this one runs
 * (service_state.h), and engines of the last one are waited for.
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
	uint8_t secret[SERVICE_SECRET_BYTES]; /* of session_proof */
	uint64_t sessions_before; /* as the file has it: from here on no number may be given */
	bool is_open;
	bool has_failed; /* the file could not be written: told once, and tried again */
	bool is_far; /* since then numbers are given that the next service will not give either */
	struct listener listener; /* for engines that come back */
	uv_timer_t while_over;    /* until what tenants have used is written, or what failed */
	char path[RUNTIME_DIRECTORY_BYTES + sizeof("/" ENGINE_SOCKET_NAME)];
};

/*
 * Read what the last service left, expect its engines, and listen for them. 0, also when they
 * cannot come back, which is logged. A negative errno: what was left cannot be read now, so this
 * service must not begin.
 */
int succession_open(struct supervisor *supervisor);

/* Engines came, or left service: keep it. */
void succession_changed(struct supervisor *supervisor);

/* The same in a while: what tenants have used. */
void succession_changes(struct supervisor *supervisor);

/* It is told by what the next service will know it; then as succession_changed. */
void succession_engine_ready(struct engine *engine);

/* The number that the next session gets, if it comes about. */
uint64_t succession_session_number(struct supervisor *supervisor);

/* The service ends, and its engines are still with it: keep what the next one will want. The loop
 * must run once more. */
void succession_close(struct supervisor *supervisor);

#endif
