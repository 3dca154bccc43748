/*
 * The standby: one engine process that was started ahead and has no user yet, with the devices
 * prepared that tenants use. The next tenant that needs an engine gets it (engine_start), and
 * another one is started a moment later.
 *
 *   (none) --a tenant uses a device--> [rest] -> STARTING -> READY --taken--> (none)
 *                                          ^                  \--more devices are used--> STARTING
 *                                          \-- failed: a longer rest     \--no user of them--> ENDING -> (none)
 *
 * There is none while no engine has such a device open: nothing is done before it is needed. It
 * runs nothing of a tenant's before it is taken, and never serves a second tenant.
 */
#ifndef SYCLD_SUPERVISOR_STANDBY_H
#define SYCLD_SUPERVISOR_STANDBY_H

#include "base/device_set.h"
#include "engine/log.h"
#include "engine/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct standby;
struct supervisor;
struct tenant;

enum standby_state { STANDBY_NONE, STANDBY_STARTING, STANDBY_READY, STANDBY_ENDING };

/* The supervisor's part. */
struct standby_keeper {
	struct standby *standby; /* NULL: none */
	uv_timer_t rest;         /* until the next one is started */
	uv_timer_t idle;         /* until a standby whose devices are no longer used is ended */
	unsigned failures;       /* failures in a row */
	/*
	 * Since when the next one is postponed for engines that open their devices; 0: it is not.
	 */
	uint64_t put_off_ns;
	struct engine_log_window log;   /* room of standbys in the log */
	struct device_set unpreparable; /* devices that cannot be prepared */
};

void standby_init(struct supervisor *supervisor);

/* Called when the devices in use or the configuration have changed: starts, prepares or ends the
 * standby, now or after a while. */
void standby_review(struct supervisor *supervisor);

/* Called when the configuration was read again: a standby that was started before is not handed out
 * any more. */
void standby_renew(struct supervisor *supervisor);

/* Takes the standby if it is ready; the caller then owns its process. False: there is none. */
bool standby_take(struct supervisor *supervisor, struct engine_process *process_out);

/* Called when a taken standby became an engine, or failed to, for a reason that is logged. */
void standby_succeeded(struct supervisor *supervisor);
void standby_failed(struct supervisor *supervisor, const char *why);
/* Counts and logs the failure of a standby, which postpones the next one. */
void standby_count_failure(struct supervisor *supervisor, const char *why);
/* Called when the standby that this tenant took died before it became an engine, which may have
 * been the tenant's fault. */
void standby_misadopted(struct tenant *tenant, int wait_status);

/* Called at the service's end: ends the standby, and starts no other. */
void standby_stop(struct supervisor *supervisor);
/* Called after the loop was stopped: kills a standby that still exists. The loop must run once
 * more. */
void standby_abandon(struct supervisor *supervisor);

/* Returns the standby's state, for operators. 0 and STANDBY_NONE: there is none. */
enum standby_state standby_describe(const struct supervisor *supervisor, pid_t *pid_out,
				    uint64_t *since_ns_out);

#endif
