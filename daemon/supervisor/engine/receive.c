#include "engine/receive.h"

#include "account/account.h"
#include "control.pb-c.h"
#include "engine/arbiter.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "base/events.h"
#include "engine/sessions.h"
#include "engine/process.h"
#include "engine/return.h"
#include "flight_page.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "packet.h"
#include "base/session_proof.h"
#include "engine/sharing.h"
#include "engine/spilled.h"
#include "service/supervisor.h"
#include "base/text.h"
#include "trace_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Counts an invalid message. A few may be a mistake; many would keep the service busy. */
static void engine_count_invalid(struct engine *engine, const char *what)
{
	engine->invalid_messages++;
	log_debug("engine", "pid %ld of uid %lu: %s", (long)engine->pid,
		  (unsigned long)engine->tenant->uid, what);
	if (engine->invalid_messages == ENGINE_INVALID_MAX)
		engine_kill(engine, "it sends messages that were not requested");
}

static void receive_ready(struct engine *engine, const Sycl__V1__EngineReady *ready,
			  struct packet_fds *fds)
{
	if (engine->was_ready) {
		engine_count_invalid(engine, "reports twice that it is ready");
		return;
	}
	struct memory_region *flight = NULL;
	int r = memory_region_map(packet_fds_take(fds, 0), sizeof(struct flight_page), 0, &flight);
	if (r < 0) {
		engine_kill(engine, "its flight page is not valid");
		return;
	}
	if (strcmp(ready->version, SYCLD_VERSION) != 0) {
		(void)memory_region_free(flight);
		engine_kill(engine, "it is of another version than this service");
		return;
	}
	/* From now on the tenant's code may run in the engine. */
	foreign_socket_refuse_descriptors(engine->control);
	engine_became_ready(engine, flight);
}

static struct event session_event(const struct engine *engine, const struct session *session,
				  enum event_kind kind)
{
	return (struct event){.kind = kind,
			      .has_uid = true,
			      .uid = engine->tenant->uid,
			      .session = session->id,
			      .pid = session->peer.pid};
}

static void receive_session_state(struct engine *engine, const Sycl__V1__Control *control)
{
	const Sycl__V1__SessionState *state = control->session_state;
	struct session *session = engine_session(engine, state->session);
	if (!session) {
		engine_count_invalid(engine, "names a session that it does not have");
		return;
	}
	switch (state->state) {
	case SYCL__V1__SESSION_STATE__STATE__STATE_OPEN:
		if (session->phase == SESSION_OPEN) {
			engine_count_invalid(engine, "opens a session twice");
			return;
		}
		engine_session_opened(session);
		if (state->command && *state->command)
			text_copy_printable(session->peer.command, sizeof(session->peer.command),
					    state->command);
		event_report(LOG_LEVEL_DEBUG, "session",
			     session_event(engine, session, EVENT_SESSION_OPENED),
			     "%llu open: pid %ld (%s)", (unsigned long long)session->id,
			     (long)session->peer.pid, session->peer.command);
		return;
	case SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED: {
		char reason[ENGINE_REASON_BYTES];
		text_copy_printable(reason, sizeof(reason), state->reason);
		event_report(LOG_LEVEL_DEBUG, "session",
			     session_event(engine, session, EVENT_SESSION_CLOSED),
			     "%llu closed: pid %ld (%s): %s", (unsigned long long)session->id,
			     (long)session->peer.pid, session->peer.command, reason);
		account_session_ended(engine->tenant, session, state);
		engine_session_closed(engine, session);
		return;
	}
	default:
		engine_count_invalid(engine, "names an unknown state");
	}
}

static uint64_t *engine_request_entry(struct engine *engine, uint64_t request)
{
	for (unsigned i = 0; request && i < ENGINE_REQUESTS_MAX; i++)
		if (engine->requests[i] == request)
			return &engine->requests[i];
	return NULL;
}

static void receive_report(struct engine *engine, const Sycl__V1__Control *control)
{
	const Sycl__V1__EngineReport *message = control->report;
	uint64_t *entry = engine_request_entry(engine, message->request);
	if (!entry) {
		engine_count_invalid(engine, "sends a report that was not requested");
		return;
	}
	engine->claims.delays_bytes_most = claims_delays_bytes_most(
		engine->tenant->was_found, engine->tenant->supervisor->configuration.engines);
	int r = claims_keep_report(engine, message,
				   &engine->report_parts[entry - engine->requests]);
	if (r < 0) {
		engine_kill(engine, r == -E2BIG ? "its report has too many parts"
						: "its report claims more than is possible");
		return;
	}
	if (r == 0)
		return;
	*entry = 0;
	engine->tenant->supervisor->observer->answered(engine, message->request);
}

/*
 * True if the trace has too many parts, counted over all requests, even if no client waits. An
 * endless trace would only keep the service busy. Engines reply to requests in order, so a second
 * reply to an earlier request has no effect.
 */
static bool trace_answer_is_endless(struct engine *engine, const Sycl__V1__EngineTrace *message)
{
	if (message->request > engine->trace_request) {
		engine->trace_request = message->request;
		engine->trace_bytes = 0;
	}
	engine->trace_bytes += message->records.len;
	return (message->more && message->records.len == 0) ||
	       engine->trace_bytes > TRACE_RECORDS_POLL * sizeof(struct trace_record);
}

static void receive_trace(struct engine *engine, const Sycl__V1__Control *control)
{
	const Sycl__V1__EngineTrace *message = control->trace;
	uint64_t *entry = engine_request_entry(engine, message->request);
	if (!entry) {
		engine_count_invalid(engine, "sends a trace that was not requested");
		return;
	}
	if (trace_answer_is_endless(engine, message) ||
	    !engine->tenant->supervisor->observer->traced(engine, message)) {
		engine_kill(engine, "it sends more of a trace than was requested");
		return;
	}
	if (message->more)
		return;
	*entry = 0;
	engine->tenant->supervisor->observer->answered(engine, message->request);
}

/* Each message has all open devices, and is sent only when their number has grown. So there are at
 * most as many messages as devices. */
static void receive_devices_in_use(struct engine *engine, const Sycl__V1__Control *control)
{
	const Sycl__V1__DevicesInUse *message = control->devices_in_use;
	struct device_set devices = {.devices = {0}};
	for (size_t i = 0; i < message->n_devices; i++) {
		unsigned backend = (unsigned)message->devices[i]->backend;
		if (backend >= DEVICE_SET_BACKENDS) {
			engine_count_invalid(engine, "names an unknown backend");
			return;
		}
		devices.devices[backend] |= message->devices[i]->devices;
	}
	device_set_add(&devices, &engine->devices);
	if (device_set_has(&engine->devices, &devices)) {
		engine_count_invalid(engine, "repeats a list of open devices");
		return;
	}
	engine_opened_devices(engine, &devices);
}

static void receive_wants(struct engine *engine, const Sycl__V1__Control *control)
{
	if (!sharing_engine_wants(engine, control->wants->watch))
		engine_count_invalid(engine, "requests a device when no such message is due");
}

static void receive_memory_wanted(struct engine *engine, const Sycl__V1__Control *control)
{
	if (!arbiter_memory_wanted(engine, control->memory_wanted))
		engine_count_invalid(engine, "requests memory when it may not");
}

static void receive_memory_state(struct engine *engine, const Sycl__V1__Control *control)
{
	if (!arbiter_memory_state(engine, control->memory_state))
		engine_count_invalid(engine, "reports memory that was not requested");
}

static void receive_spilled(struct engine *engine, const Sycl__V1__Control *control)
{
	if (!engine_has_spilled(engine, control->spilled))
		engine_count_invalid(engine, "reports spills of no device, or too often");
}

/* The function for each kind of message that comes without descriptors. */
static void (*const receivers[])(struct engine *, const Sycl__V1__Control *) = {
	[SYCL__V1__CONTROL__BODY_SESSION_STATE] = receive_session_state,
	[SYCL__V1__CONTROL__BODY_REPORT] = receive_report,
	[SYCL__V1__CONTROL__BODY_DEVICES_IN_USE] = receive_devices_in_use,
	[SYCL__V1__CONTROL__BODY_TRACE] = receive_trace,
	[SYCL__V1__CONTROL__BODY_WANTS] = receive_wants,
	[SYCL__V1__CONTROL__BODY_MEMORY_WANTED] = receive_memory_wanted,
	[SYCL__V1__CONTROL__BODY_MEMORY_STATE] = receive_memory_state,
	[SYCL__V1__CONTROL__BODY_SPILLED] = receive_spilled,
};

static void receive_message(struct engine *engine, const Sycl__V1__Control *control,
			    struct packet_fds *fds)
{
	size_t kind = (size_t)control->body_case;
	if (engine->state == ENGINE_RETURNING) {
		if (kind == SYCL__V1__CONTROL__BODY_ENGINE_RETURN)
			engine_return_receive(engine, control->engine_return, fds);
		else
			engine_kill(engine, "it comes back with a message of another kind");
	} else if (kind == SYCL__V1__CONTROL__BODY_READY) {
		receive_ready(engine, control->ready, fds);
	} else if (kind < sizeof(receivers) / sizeof(*receivers) && receivers[kind]) {
		receivers[kind](engine, control);
	} else {
		engine_count_invalid(engine, "sends a message of a kind that it may not send");
	}
}

void engine_receive(struct engine *engine, unsigned most)
{
	for (unsigned i = 0; i < most && engine->control >= 0 && !engine->kill_reason[0]; i++) {
		struct packet_fds fds = PACKET_FDS_INIT;
		ProtobufCMessage *message = NULL;
		/* An engine that is ready or returns may send no descriptors. Closing a tenant's
		 * file may block for ever if the tenant also serves its file system. */
		foreign_socket_begin();
		bool takes_descriptors = !engine->was_ready && (engine->state != ENGINE_RETURNING ||
								engine_return_has_page(engine));
		int r = message_receive(engine->control, &sycl__v1__control__descriptor,
					&engine->tenant->supervisor->arena, &message,
					takes_descriptors ? &fds : NULL, MSG_DONTWAIT);
		foreign_socket_end();
		if (r == -EAGAIN)
			return;
		/* The engine died with unread messages of this service. Its own earlier messages
		 * can still be read. */
		if (r == -ECONNRESET)
			continue;
		if (r == 0 || r == -EPIPE) {
			engine_control_lost(engine, "it has closed its control socket");
			return;
		}
		if (r < 0) {
			engine_kill(engine, "it sends invalid messages");
			return;
		}
		receive_message(engine, (const Sycl__V1__Control *)message, &fds);
		if (fds.count) {
			foreign_socket_begin();
			packet_fds_close(&fds);
			foreign_socket_end();
		}
	}
}
