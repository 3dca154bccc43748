/*
 * One engine: a loop on one thread (the front thread) that owns sessions, the scheduler's state and
 * the build service. Everything here is called on the front thread, but for what says otherwise.
 * Nothing is opened or asked before a session wants it.
 */
#ifndef SYCL_ENGINE_ENGINE_H
#define SYCL_ENGINE_ENGINE_H

#include "build/service.h"
#include "process/limits.h"

#include "command.pb-c.h"
#include "control.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

struct engine;
struct scheduler;
struct session;

#define SESSION_DEVICES_TOLD 16u /* in what is reported of a session: it may have used more */

/* What a session has used of devices. */
struct device_usages {
	const Sycl__V1__DeviceUsage *rows;
	uint32_t count;
};

/* What an engine tells whoever gave it its sessions. Any may be NULL. Texts are good during the
 * call. */
struct engine_observer {
	void *context;
	void (*session_open)(void *context, uint64_t session, const char *command);
	void (*session_closed)(void *context, uint64_t session, const char *command,
			       const char *reason, const Sycl__V1__Usage *usage,
			       const struct device_usages *devices);
	/* There are more open devices than before; bit n: device n. Told with the next turn, not at
	 * once. */
	void (*devices_opened)(void *context, uint64_t devices);
	/* It has begun to want a device, and who divides its time does not look. */
	void (*wants_device)(void *context, uint32_t watch);
};

#define ENGINE_SLICE_US 500u

struct engine_options {
	uint64_t warm_devices;       /* bit n: open device n at the start: it will be asked for */
	bool in_application;         /* embedded: the process is not the engine's to end */
	bool end_with_last_session;  /* as engine_drain from the start: embedded, and tests */
	const char *cache_directory; /* copied; NULL: nothing is kept */
	const char *const
		*backend_options; /* "cuda:peer_path=host"; copied; NULL ends it; NULL: none */
	struct session_limits limits;
	bool spills; /* what a full device has no room for goes to the host, unless SYCLD_SPILL=0 is
			in the environment */
	uint64_t slice_us; /* of launches that are sent in parts; 0: none is. ENGINE_SLICE_US unless
			      somebody says otherwise */
	uint64_t hello_timeout_ns; /* 0: 10 s */
};

/* Takes the build service (NULL: sources cannot be built), also on failure. 0 or a negative errno.
 */
int engine_create(const struct engine_options *options, struct build_service *builds,
		  struct engine **engine_out);
/* Not while engine_run runs, nor after it failed. Accepts NULL, returns NULL. */
struct engine *engine_free(struct engine *engine);

void engine_observe(struct engine *engine, const struct engine_observer *observer);
uv_loop_t *engine_loop(struct engine *engine);
/* For what is known of its devices. The engine's. */
struct scheduler *engine_scheduler(struct engine *engine);
/* The flight page's descriptor, for sending on; the engine's. It can only be read through. */
int engine_flight_fd(const struct engine *engine);
/* The page itself, until the engine is freed. */
struct flight_page *engine_flight(const struct engine *engine);

struct session_peer {
	uint64_t session; /* its number, as people see it */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	uint64_t since_ns, proof; /* the supervisor's words, for engine_show */
};

/*
 * Serve a peer: takes the socket (SOCK_SEQPACKET) and the pidfd (-1: none), also on failure. The
 * session begins with the handshake. Before engine_run or on its thread.
 */
int engine_add_session(struct engine *engine, int socket, int pidfd,
		       const struct session_peer *peer);
/* The same, but the peer is only told why it is not served (STATUS_QUOTA). */
int engine_refuse_session(struct engine *engine, int socket, int pidfd,
			  const struct session_peer *peer, const char *text);

/*
 * Until the engine is told to end and its sessions have. -ETIMEDOUT: their work would not end in
 * time; -EIO: a device's driver can do nothing more in this process, which must end at once,
 * without touching it again. Blocks.
 */
int engine_run(struct engine *engine);
/* It is about to return -EIO: whoever comes now is another engine's. Front thread. */
bool engine_is_lost(const struct engine *engine);
/*
 * After -EIO, and before the process is gone, because the driver takes its time to take a context
 * apart: every client learns it now. They come back at once, so the supervisor must know before
 * them.
 */
void engine_hang_up(struct engine *engine);
/* End when the last session has; at once without any. */
void engine_drain(struct engine *engine);
/* After engine_drain, if it has not ended: sessions may come again. */
void engine_resume(struct engine *engine);
/* What it has opened so far is told once more. */
void engine_tell_devices(struct engine *engine);
/* End the sessions, then the engine. They get `drain_ns` for ending by themselves, then their work
 * as long again as ENGINE_GRACE_NS. */
void engine_stop(struct engine *engine, uint64_t drain_ns);
/* As engine_stop(engine, 0), from any thread or signal-safe context. */
void engine_stop_from_anywhere(struct engine *engine);

#define ENGINE_GRACE_NS 5000000000ull

/*
 * Devices' time is divided among users: what is granted here, and where to write what is claimed.
 * Takes both descriptors, also on failure: then it is as before. 0 or a negative errno.
 */
int engine_divide(struct engine *engine, int grants, int claims);
/* Nobody does so any more. */
void engine_divide_no_more(struct engine *engine);
/* After engine_run: nothing of it runs or waits any more, so its user is charged no time of a
 * device. */
void engine_claim_nothing(struct engine *engine);

/* Answer a report request: `send` is called once per message, the last without `more`. */
struct report_options {
	uint64_t request;
	bool discover;
	void *context;
	int (*send)(void *context, const ProtobufCMessage *control);
};
int engine_report(struct engine *engine, const struct report_options *options);

/* Show itself to another supervisor: as above, with EngineReturn messages. */
struct show_options {
	const uint8_t *token;
	size_t token_bytes;
	void *context;
	int (*send)(void *context, const Sycl__V1__EngineReturn *message);
};
int engine_show(struct engine *engine, const struct show_options *options);

#endif
