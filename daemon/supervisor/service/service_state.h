/*
 * The state that a service leaves in its folder for the next one. It has the engines that continue,
 * how each is identified, and the use of devices by tenants. It is one small file, replaced as a
 * whole, that only the service's user can read or write. It holds the engines' tokens in plain
 * form, because a user that may read it may also read the service's memory.
 */
#ifndef SYCLD_SUPERVISOR_SERVICE_STATE_H
#define SYCLD_SUPERVISOR_SERVICE_STATE_H

#include "base/device_set.h"
#include "base/session_proof.h"
#include "protocol_limits.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVICE_STATE_ENTRIES_MAX = 8192 };

struct service_state_engine {
	uint32_t uid;
	uint32_t pid;
	/* Start of its process (process_start_ticks), because another process may have the pid by
	 * now. */
	uint64_t start_ticks;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint64_t since_unix_seconds;
	uint8_t token[ENGINE_TOKEN_BYTES];
	uint32_t current; /* 1: it takes its tenant's new sessions */
	/* 1: it was refused and continues by itself; kept here so that it can be ended. */
	uint32_t refused;
	/* From here on members of format 2; 0 if the file has format 1. */
	uint32_t retired; /* 1: it gets no new session any more */
	uint32_t devices; /* an enum service_state_devices: what it was started with */
	struct device_set listed;
	/* From here on members of format 3; 0 if the file has an earlier one. */
	uint32_t sessions_listed; /* 1: its sessions are in the file `sessions_mark` names */
	uint32_t reserved;
};

enum service_state_devices {
	SERVICE_STATE_DEVICES_UNKNOWN = 0,
	SERVICE_STATE_DEVICES_ALL = 1,
	SERVICE_STATE_DEVICES_LISTED = 2, /* only `listed` */
};

enum { /* an engine in earlier formats */
       SERVICE_STATE_ENGINE_1_BYTES = 56,
       SERVICE_STATE_ENGINE_2_BYTES = 128,
};

static_assert(offsetof(struct service_state_engine, retired) == SERVICE_STATE_ENGINE_1_BYTES,
	      "part of the layout");
static_assert(offsetof(struct service_state_engine, sessions_listed) ==
		      SERVICE_STATE_ENGINE_2_BYTES,
	      "part of the layout");
static_assert(sizeof(struct service_state_engine) == 136, "part of the layout");

/* The use of devices by a tenant's ended sessions. */
struct service_state_account {
	uint32_t uid;
	uint32_t unknown;        /* 1: the uid was not in the user database at the last look-up */
	uint64_t sessions;       /* sessions that have ended */
	uint64_t engines_failed; /* engines that crashed, or ended because a device failed */
	uint64_t groups_submitted, groups_completed, groups_failed;
	uint64_t device_ns;
	uint64_t bytes_to_device, bytes_to_host;
};

static_assert(sizeof(struct service_state_account) == 72, "part of the layout");

struct service_state {
	uint8_t secret[SERVICE_SECRET_BYTES]; /* base/session_proof.h */
	uint64_t sessions_before; /* numbers below this one may have been assigned to sessions */
	uint32_t sessions_mark;   /* of the file of open sessions (open_sessions.h); 0: none */
	uint32_t engine_count;
	uint32_t account_count;
	struct service_state_engine *engines;   /* allocated */
	struct service_state_account *accounts; /* allocated */
};

/*
 * Reads the file. 0, or a negative errno. -ENOENT: there is none. -EPERM: another user owns it or
 * may use it. -EBADMSG: it is no such file, or damaged. -EPROTONOSUPPORT: it is of a release with
 * a format above 3. Other errors: it could not be read, and may be intact. Does not
 * block.
 */
int service_state_load(int folder, struct service_state *state_out);

/* Replaces the file, in format 3. 0 or a negative errno; on failure the previous file still exists.
 */
int service_state_save(int folder, const struct service_state *state);

/* Renames a file that cannot be used, so that an operator can examine it. 0 or a negative errno. */
int service_state_set_aside(int folder);

void service_state_fini(struct service_state *state);

#endif
