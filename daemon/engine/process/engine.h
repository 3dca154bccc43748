/*
 * An engine: a loop on one thread (the front thread) that owns sessions, the scheduler's state and
 * the build service. All functions here are called on the front thread, unless noted otherwise. No
 * device is opened or queried before a session needs it.
 */
#ifndef SYCL_ENGINE_ENGINE_H
#define SYCL_ENGINE_ENGINE_H

#include "build/service.h"
#include "session/engine_types.h"

#include "control.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

struct engine;
struct scheduler;
struct session;

/* Takes the build service (NULL: sources cannot be built), also on failure. 0 or a negative errno.
 */
int engine_create(const struct engine_options *options, struct build_service *builds,
		  struct engine **engine_out);
/* Must not be called while engine_run runs, nor after engine_run failed. Accepts NULL, returns
 * NULL. */
struct engine *engine_free(struct engine *engine);

void engine_observe(struct engine *engine, const struct engine_observer *observer);
uv_loop_t *engine_loop(struct engine *engine);
/* The engine's scheduler, for facts about its devices. */
struct scheduler *engine_scheduler(struct engine *engine);
/* The flight page's descriptor, for sending on; the engine's. It can only be read through. */
int engine_flight_fd(const struct engine *engine);
/* The page itself, until the engine is freed. */
struct flight_page *engine_flight(const struct engine *engine);

/*
 * Serve a peer: takes the socket (SOCK_SEQPACKET) and the pidfd (-1: none), also on failure. The
 * session begins with the handshake. Before engine_run or on its thread.
 */
int engine_add_session(struct engine *engine, int socket, int pidfd,
		       const struct session_peer *peer);
/* The same, but the peer only gets the reason why it is not served (STATUS_QUOTA). */
int engine_refuse_session(struct engine *engine, int socket, int pidfd,
			  const struct session_peer *peer, const char *text);

/*
 * Runs until the engine is ordered to end and its sessions have ended. -ETIMEDOUT: their work would
 * not end in time. -EIO: a device's driver can do nothing more in this process, which must end at
 * once, without another call of the driver. Blocks.
 */
int engine_run(struct engine *engine);
/* engine_run is about to return -EIO: new sessions belong to another engine. Front thread. */
bool engine_is_lost(const struct engine *engine);
/*
 * Closes the supervisor's connection, then those of all clients. Called after -EIO and before the
 * process ends, because the driver takes long to take a context apart. Clients connect again at
 * once, so the supervisor must get the hang-up before them.
 */
void engine_hang_up(struct engine *engine);
/* End when the last session has; at once without any. */
void engine_drain(struct engine *engine);
/* After engine_drain, if the engine has not ended: new sessions are accepted again. */
void engine_resume(struct engine *engine);
/* Reports the open devices once more, with the next turn. */
void engine_report_devices(struct engine *engine);
/* End the sessions, then the engine. They get `drain_ns` for ending by themselves, then their work
 * as long again as ENGINE_GRACE_NS. */
void engine_stop(struct engine *engine, uint64_t drain_ns);
/* As engine_stop(engine, 0); may be called on any thread and in a signal handler. */
void engine_stop_from_anywhere(struct engine *engine);

#define ENGINE_GRACE_NS 5000000000ull

/*
 * Devices' time is divided among users: what is granted here, and where to write what is claimed.
 * Takes both descriptors, also on failure: then it is as before. 0 or a negative errno.
 */
int engine_divide(struct engine *engine, int grants, int claims);
/* Devices' time is divided no more. */
void engine_divide_no_more(struct engine *engine);
/* After engine_run: nothing of it runs or waits any more, so its user is charged no time of a
 * device. */
void engine_claim_nothing(struct engine *engine);

/* Reply to a report request: `send` is called once per message, the last without `more`. */
struct report_options {
	uint64_t request;
	bool discover;
	struct sensors **sensors; /* created for the first device that may have sensors */
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
