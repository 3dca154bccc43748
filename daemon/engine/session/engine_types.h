/* Options, limits and peers of an engine, and the observer of its sessions. */
#ifndef SYCL_ENGINE_ENGINE_TYPES_H
#define SYCL_ENGINE_ENGINE_TYPES_H

#include "scheduler/public/scheduler.h"
#include "session/limits.h"

#include "command.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Number of devices in a session's report, of which it may have used more. */
#define SESSION_DEVICES_REPORTED 16u

struct room_figures;

/* A session's use of a device. */
struct device_usages {
	const Sycl__V1__DeviceUsage *rows;
	uint32_t count;
};

/* An engine's reports to the owner of its sessions. Each may be NULL. Texts are valid during the
 * call. */
struct engine_observer {
	void *context;
	void (*session_open)(void *context, uint64_t session, const char *command);
	void (*session_closed)(void *context, uint64_t session, const char *command,
			       const char *reason, const Sycl__V1__Usage *usage,
			       const struct device_usages *devices);
	/* More devices are open than before; bit n: device n. Reported with the next turn, not at
	 * once. */
	void (*devices_opened)(void *context, uint64_t devices);
	/*
	 * The engine now needs a device whose time is divided, and which the divider does not poll.
	 */
	void (*wants_device)(void *context, uint32_t watch);
	/* As the scheduler's on_room_wanted and on_room_made. */
	void (*room_wanted)(void *context, const uint8_t *uuid, uint64_t bytes,
			    const struct room_figures *figures);
	void (*room_made)(void *context, uint64_t request, const struct room_figures *figures);
	/* As the scheduler's on_spilled. */
	void (*spilled)(void *context, const struct scheduler_spilled *spilled);
};

#define ENGINE_SLICE_US 500u

struct engine_options {
	struct scheduler_devices devices; /* the devices that sessions may use */
	uint64_t warm_devices; /* bit n: open device n at the start, because it will be requested */
	bool in_application;   /* embedded: the engine must not end the process */
	/* Behave as after engine_drain from the start: embedded, and tests. */
	bool end_with_last_session;
	const char *cache_directory; /* copied; NULL: no cache */
	const char *const
		*backend_options; /* "cuda:peer_path=host"; copied; NULL ends it; NULL: none */
	struct session_limits limits;
	/* Contents that do not fit on a full device move to the host, unless the environment has
	 * SYCLD_SPILL=0. */
	bool spills;
	/* Not the embedded library, which has no filter: the process may start others for good. */
	bool filter_is_basic;
	/* Device time of each part of a split launch; 0: no launch is split. The default is
	 * ENGINE_SLICE_US. */
	uint64_t slice_us;
	uint64_t hello_timeout_ns; /* 0: 10 s */
};

struct session_peer {
	uint64_t session; /* the session's number in reports and logs */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	uint64_t since_ns, proof; /* from the supervisor, for engine_show */
};

#endif
