/* The report of an engine to a supervisor that did not start it. */
#include "process/engine.h"
#include "session/engine_state.h"
#include "session/session.h"

#include "control.pb-c.h"

#define SESSIONS_PER_PART 100u /* a session's part is at most 400 bytes */

struct return_part {
	Sycl__V1__ReturnedSession sessions[SESSIONS_PER_PART];
	Sycl__V1__ReturnedSession *list[SESSIONS_PER_PART];
	Sycl__V1__SessionHandOff hand_offs[SESSIONS_PER_PART];
};

/* Called for closing sessions as well: their end is reported when all of their memory is free. */
static void fill_hand_off(struct return_part *part, size_t index, const struct session *session)
{
	Sycl__V1__SessionHandOff *hand_off = &part->hand_offs[index];
	sycl__v1__session_hand_off__init(hand_off);
	hand_off->session = session->peer.session;
	hand_off->uid = session->peer.uid;
	hand_off->gid = session->peer.gid;
	hand_off->pid = (uint32_t)session->peer.pid;
	hand_off->since_ns = session->peer.since_ns;
	hand_off->proof = session->peer.proof;
	Sycl__V1__ReturnedSession *out = &part->sessions[index];
	sycl__v1__returned_session__init(out);
	out->hand_off = hand_off;
	out->open = session->state != SESSION_HANDSHAKE;
	out->command = (char *)(uintptr_t)session->command;
	part->list[index] = out;
}

int engine_show(struct engine *engine, const struct show_options *options)
{
	CLEANUP(free_pointer) struct return_part *part = malloc(sizeof(*part));
	if (!part)
		return -ENOMEM;
	Sycl__V1__EngineReturn message = SYCL__V1__ENGINE_RETURN__INIT;
	message.protocol = CONTROL_PROTOCOL;
	message.version = (char *)(uintptr_t)SYCLD_VERSION;
	message.token =
		(ProtobufCBinaryData){options->token_bytes, (uint8_t *)(uintptr_t)options->token};
	message.sessions = part->list;
	for (struct list *link = engine->sessions.next; link != &engine->sessions;
	     link = link->next) {
		if (message.n_sessions == SESSIONS_PER_PART) {
			message.more = true;
			int r = options->send(options->context, &message);
			if (r < 0)
				return r;
			message.more = false;
			message.token.len = 0;
			message.n_sessions = 0;
		}
		fill_hand_off(part, message.n_sessions++, list_entry(link, struct session, link));
	}
	return options->send(options->context, &message);
}
