#include "engine/return.h"

#include "cleanup.h"
#include "engine/succession.h"
#include "account/file.h"
#include "engine/engine.h"
#include "engine/end.h"
#include "engine/listed.h"
#include "engine/sessions.h"
#include "engine/control.h"
#include "flight_page.h"
#include "poll_now.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "base/session_proof.h"
#include "service/supervisor.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	VERSION_BYTES = 32,
	WHY_BYTES = 128,
	RETURNS_MAX = 16,
	/*
	 * Most sessions of a tenant with which an engine may return. It is above what any limit of
	 * sessions permits. The tenant's own limit is not used: it may have been lowered while the
	 * sessions were open, and its section of the configuration is not known yet.
	 */
	SESSIONS_MAX = 4096,
};

struct engine *engine_return_find(struct supervisor *supervisor, pid_t pid)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->state == ENGINE_RETURNING && engine->pid == pid)
				return engine;
	return NULL;
}

bool engine_return_has_page(const struct engine *engine)
{
	return engine->tenant->uid == geteuid();
}

/* True if the process has ended. Another process may have its number then. */
static bool engine_has_ended(const struct engine *engine)
{
	struct pollfd ended = {.fd = engine->pidfd, .events = POLLIN};
	return poll_now(&ended, 1) != 0;
}

/* Takes the socket. The peer has the engine's number, and the engine is alive now, so no other
 * process had the number meanwhile. */
void engine_return_connected(void *context, int connection)
{
	struct supervisor *supervisor = context;
	CLEANUP(foreign_socket_close) int socket = connection;
	pid_t pid = 0;
	uid_t uid = 0;
	gid_t gid = 0;
	if (supervisor->stopping || packet_socket_peer(socket, &pid, &uid, &gid) < 0)
		return;
	struct engine *engine = engine_return_find(supervisor, pid);
	if (!engine || engine->tenant->uid != uid || engine->is_refused || engine->control >= 0 ||
	    engine_has_ended(engine)) {
		log_debug("engine", "uid %lu, pid %ld is not an engine that this service expects",
			  (unsigned long)uid, (long)pid);
		return;
	}
	bool wants_page = engine_return_has_page(engine);
	if (wants_page)
		foreign_socket_allow_descriptors(socket);
	if (engine_attach(engine, take_fd(&socket)) == 0 &&
	    engine_send_greeting(engine, wants_page) < 0)
		engine_detach(engine);
}

void engine_return_starved(void *context, int connection)
{
	(void)context;
	foreign_socket_close(&connection);
}

static void return_refuse(struct engine *engine, const char *why)
{
	log_warning("engine", "pid %ld of uid %lu continues without this service: %s",
		    (long)engine->pid, (unsigned long)engine->tenant->uid, why);
	(void)engine_send_taken(engine, why, -1);
	engine->is_refused = true;
	engine_detach(engine);
	engine_release_waiting(engine);
}

static bool token_matches(const struct engine *engine, const ProtobufCBinaryData *token)
{
	unsigned different = token->len != sizeof(engine->token);
	for (size_t i = 0; !different && i < sizeof(engine->token); i++)
		different |= token->data[i] ^ engine->token[i];
	return !different;
}

/* Handles the first part of its return. False: it was refused. */
static bool return_receive_first(struct engine *engine, const Sycl__V1__EngineReturn *message,
				 struct packet_fds *fds)
{
	char why[WHY_BYTES], version[VERSION_BYTES];
	if (message->protocol != CONTROL_PROTOCOL) {
		text_copy_printable(version, sizeof(version), message->version);
		(void)snprintf(
			why, sizeof(why),
			"it is of release %s and speaks control protocol %u, this service %u",
			version, (unsigned)message->protocol, CONTROL_PROTOCOL);
		return_refuse(engine, why);
		return false;
	}
	if (!token_matches(engine, &message->token)) {
		return_refuse(engine, "its token is wrong");
		return false;
	}
	if (engine_return_has_page(engine) &&
	    memory_region_map(packet_fds_take(fds, 0), sizeof(struct flight_page), 0,
			      &engine->flight) < 0) {
		return_refuse(engine, "its flight page is not valid");
		return false;
	}
	/* The engine keeps its sessions. New ones get an engine of the release that was installed
	 * meanwhile. */
	text_copy_printable(version, sizeof(version), message->version);
	engine->is_older = strcmp(version, SYCLD_VERSION) != 0;
	if (engine->is_older)
		engine_refuse_new_sessions(engine);
	engine->return_begun = true;
	return true;
}

/* Sessions that wait for an engine are not counted: they have no proof. */
static unsigned sessions_of_engines(const struct tenant *tenant)
{
	const struct engine *engine;
	unsigned count = 0;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		count += engine->sessions_count;
	return count;
}

/* Sessions of other tenants are not searched: the proof is for one uid. */
static bool tenant_has_session(const struct tenant *tenant, uint64_t id)
{
	struct engine *engine;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		if (engine_session(engine, id))
			return true;
	return false;
}

/* True if a service wrote this hand-off for this engine's user, and the session is new here. */
static bool hand_off_is_genuine(struct engine *engine, const Sycl__V1__SessionHandOff *hand_off)
{
	const struct supervisor *supervisor = engine->tenant->supervisor;
	if (!hand_off || hand_off->uid != engine->tenant->uid || hand_off->session == 0 ||
	    tenant_has_session(engine->tenant, hand_off->session))
		return false;
	const struct session_claim claim = {hand_off->session, hand_off->since_ns, hand_off->uid,
					    hand_off->gid, hand_off->pid};
	return session_proof(supervisor->succession->secret, &claim) == hand_off->proof;
}

static bool return_receive_session(struct engine *engine, const Sycl__V1__ReturnedSession *returned)
{
	const Sycl__V1__SessionHandOff *hand_off = returned->hand_off;
	if (!hand_off_is_genuine(engine, hand_off) ||
	    !engine_may_return_with(engine, hand_off->session))
		return false;
	struct peer peer = {
		.pid = (pid_t)hand_off->pid,
		.uid = hand_off->uid,
		.gid = hand_off->gid,
		.pidfd = -1,
	};
	if (returned->command)
		text_copy_printable(peer.command, sizeof(peer.command), returned->command);
	account_file_recall(engine->tenant->supervisor, hand_off->session, &peer);
	struct session *session = session_new(hand_off->session, -1, &peer);
	if (!session)
		return false;
	session->job = engine->job ? engine->job->number : 0;
	session_back_date(session, hand_off->since_ns);
	session->phase = returned->open ? SESSION_OPEN : SESSION_HANDSHAKE;
	engine_session_returned(engine, session);
	return true;
}

static void return_finish(struct engine *engine)
{
	struct tenant *tenant = engine->tenant;
	struct memory_region *flight = engine->flight;
	CLEANUP(close_fd) int log = -1;
	int ours = -1;
	/* The engine's standard error was lost with the former service. Without descriptors for a
	 * new one it stays lost. */
	(void)engine_log_pair(&ours, &log);
	engine_log_follow(engine, ours);
	if (engine_send_taken(engine, NULL, log) < 0) {
		engine_detach(engine);
		return;
	}
	foreign_socket_refuse_descriptors(engine->control);
	struct engine **place = engine_place(engine);
	if (!*place && !engine->is_older && !engine->is_retired &&
	    (engine->job || !tenant->supervisor->configuration.engine_per_session))
		*place = engine;
	log_info("engine", "pid %ld of uid %lu is back; sessions: %u", (long)engine->pid,
		 (unsigned long)tenant->uid, engine->sessions_count);
	engine->return_begun = false;
	engine_settle_list(engine);
	tenant->supervisor->observer->returned(engine);
	engine_became_ready(engine, flight);
}

void engine_return_lost(struct engine *engine)
{
	if (++engine->returns_lost < RETURNS_MAX)
		engine_detach(engine);
	else
		return_refuse(engine, "it starts its return too often");
}

void engine_return_receive(struct engine *engine, const Sycl__V1__EngineReturn *message,
			   struct packet_fds *fds)
{
	if (!engine->return_begun && !return_receive_first(engine, message, fds))
		return;
	for (size_t i = 0; i < message->n_sessions; i++) {
		if (sessions_of_engines(engine->tenant) >= SESSIONS_MAX) {
			return_refuse(engine, "its user has more sessions than a user can have");
			return;
		}
		if (!return_receive_session(engine, message->sessions[i])) {
			return_refuse(engine, "it names a session that it does not have");
			return;
		}
	}
	if (!message->more)
		return_finish(engine);
	else if (message->n_sessions == 0)
		return_refuse(engine, "the list of its sessions is too long");
}
