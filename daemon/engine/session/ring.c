/* The engine's side of a session's two rings: it reads with a budget, and writes with
 * back-pressure. */
#include "session/session.h"
#include "session/hooks.h"
#include "wake.h"

#include <string.h>
#include <sys/socket.h>

#define SENT_AT_ONCE_MOST 4u /* in a turn, because completions and other clients wait meanwhile */

enum waiting_kind { WAITING_REPLY, WAITING_SLOT };

/*
 * A reply that did not fit into the reply ring; or a reply or slot write that must stay behind one.
 */
struct waiting {
	struct list link;
	enum waiting_kind kind;
	uint32_t slot, sequence, status; /* fields of a slot write */
	uint32_t bytes;                  /* size of a reply */
	uint8_t packed[];
};

/* True if an event has occurred that the sleeping client awaits, or one that may end its wait
 * otherwise. */
static bool client_awaits(struct session *session)
{
	uint64_t awaits =
		atomic_load_explicit(&session->header->client_awaits, memory_order_relaxed);
	uint64_t slot = (awaits >> 32) - 1;
	if (session->notify_any || awaits == RING_AWAITS_ANY || slot >= COMPLETION_SLOTS)
		return true;
	uint32_t sequence =
		atomic_load_explicit(&session->slots[slot].sequence, memory_order_relaxed);
	return sequence_reached(sequence, (uint32_t)awaits);
}

void session_notify(struct session *session, enum notify_kind kind)
{
	session->notify_any |= kind == NOTIFY_ANY;
	if (list_empty(&session->notify_link))
		list_push_back(&session->engine->notify, &session->notify_link);
}

void session_wake_client(struct session *session)
{
	/* The bytes of Packet{wake}: field 5, empty. */
	static const uint8_t packed_wake[] = {0x2a, 0x00};
	if (session->state != SESSION_OPEN)
		return;
	bool sleeps = wake_is_asleep(&session->header->client_sleeps) && client_awaits(session) &&
		      wake_claim(&session->header->client_sleeps);
	session->notify_any = false;
	/* EAGAIN: datagrams are pending, so the client is awake or about to be. The poll detects a
	 * peer that has hung up. */
	if (sleeps && packet_socket_send(session->socket, packed_wake, sizeof(packed_wake), NULL, 0,
					 MSG_DONTWAIT) == 0)
		session->engine->wakes_sent++;
}

static void push_waiting(struct session *session, struct waiting *entry)
{
	list_push_back(&session->waiting, &entry->link);
	session->waiting_bytes += sizeof(*entry) + entry->bytes;
	session_notify(session, NOTIFY_ANY); /* the client must make room, whatever it waits for */
	if (session->waiting_bytes > SESSION_WAITING_BYTES_MAX)
		session_fail(session, STATUS_QUOTA,
			     "the reply ring was not emptied while %u MiB of replies waited",
			     SESSION_WAITING_BYTES_MAX >> 20);
}

static void pop_waiting(struct session *session, struct waiting *entry)
{
	list_remove(&entry->link);
	session->waiting_bytes -= sizeof(*entry) + entry->bytes;
	free(entry);
}

void session_drop_waiting(struct session *session)
{
	while (!list_empty(&session->waiting))
		pop_waiting(session, list_entry(session->waiting.next, struct waiting, link));
}

/* Reserves room for a reply of that size. 0; -EAGAIN: there is none now; other values: the session
 * will close. */
static int reserve_reply(struct session *session, uint32_t bytes, void **payload_out)
{
	int r = ring_writer_reserve(&session->replies, RING_RECORD_MESSAGE, bytes, payload_out);
	if (r == -EPROTO)
		return session_violation(session, "the tail of the reply ring is out of range");
	return r;
}

/* Adds a reply behind those that wait for room. */
static struct waiting *add_waiting_reply(struct session *session, uint32_t bytes)
{
	struct waiting *entry = calloc(1, sizeof(*entry) + bytes);
	if (!entry) {
		session_cut_off(session, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a reply");
		return NULL;
	}
	entry->kind = WAITING_REPLY;
	entry->bytes = bytes;
	return entry;
}

static void push_waiting_reply(struct session *session, struct waiting *entry)
{
	push_waiting(session, entry);
	session_make_hot(session);
}

void session_reply_flat(struct session *session, const struct flat_message *reply)
{
	uint8_t packed[FLAT_MESSAGE_BYTES];
	if (session->state != SESSION_OPEN)
		return;
	const uint32_t bytes = (uint32_t)flat_message_pack(reply, packed);
	if (list_empty(&session->waiting)) {
		void *payload;
		int r = reserve_reply(session, bytes, &payload);
		if (r == 0) {
			memcpy(payload, packed, bytes);
			ring_writer_commit(&session->replies);
			session_notify(session, NOTIFY_IF_AWAITED);
		}
		if (r != -EAGAIN)
			return;
	}
	struct waiting *entry = add_waiting_reply(session, bytes);
	if (!entry)
		return;
	memcpy(entry->packed, packed, bytes);
	push_waiting_reply(session, entry);
}

void session_reply(struct session *session, const Sycl__V1__Reply *reply)
{
	if (session->state != SESSION_OPEN)
		return;
	size_t bytes = sycl__v1__reply__get_packed_size(reply);
	if (bytes > PACKET_BYTES_MAX) {
		session_fail(session, STATUS_RUNTIME,
			     "a reply of %zu bytes does not fit into a record", bytes);
		return;
	}
	if (list_empty(&session->waiting)) {
		void *payload;
		int r = reserve_reply(session, (uint32_t)bytes, &payload);
		if (r == 0) {
			(void)sycl__v1__reply__pack(reply, payload);
			ring_writer_commit(&session->replies);
			session_notify(session, NOTIFY_ANY);
		}
		if (r != -EAGAIN)
			return;
	}
	struct waiting *entry = add_waiting_reply(session, (uint32_t)bytes);
	if (!entry)
		return;
	(void)sycl__v1__reply__pack(reply, entry->packed);
	push_waiting_reply(session, entry);
}

void session_write_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status)
{
	if (session->state != SESSION_OPEN)
		return;
	if (list_empty(&session->waiting)) {
		session_store_slot(session, slot, sequence, status);
		return;
	}
	struct waiting *entry = calloc(1, sizeof(*entry));
	if (!entry) {
		session_cut_off(session, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a completion");
		return;
	}
	entry->kind = WAITING_SLOT;
	entry->slot = slot;
	entry->sequence = sequence;
	entry->status = status;
	push_waiting(session, entry);
}

/* Moves waiting replies and slot writes into the ring. True: none is left. */
static bool flush_waiting(struct session *session)
{
	while (!list_empty(&session->waiting)) {
		struct waiting *entry = list_entry(session->waiting.next, struct waiting, link);
		if (entry->kind == WAITING_REPLY) {
			void *payload;
			if (reserve_reply(session, entry->bytes, &payload) < 0)
				return false;
			memcpy(payload, entry->packed, entry->bytes);
			ring_writer_commit(&session->replies);
			session_notify(session, NOTIFY_ANY);
		} else {
			session_store_slot(session, entry->slot, entry->sequence, entry->status);
		}
		pop_waiting(session, entry);
	}
	return true;
}

/* True if the session must not be read, because there is no room for replies to its requests. */
static bool session_is_stalled(const struct session *session)
{
	return !list_empty(&session->waiting) || outbox_waiting(&session->outbox) ||
	       session->awaited;
}

void session_make_hot(struct session *session)
{
	if (session->state == SESSION_OPEN && list_empty(&session->hot_link))
		list_push_back(&session->engine->woken, &session->hot_link);
}

/* Keeps the record of a launch whose graph the device builds first. It is run when the graph is
 * built. */
static bool defer_for_graph(struct session *session, const Sycl__V1__Command *command,
			    uint32_t bytes)
{
	if (command->body_case != SYCL__V1__COMMAND__BODY_COMMAND_GROUP ||
	    !session->engine->hooks->awaits_graph(session, command->command_group))
		return false;
	session->deferred = malloc(bytes ? bytes : 1);
	if (!session->deferred) {
		session->awaited = NULL; /* node by node then */
		return false;
	}
	memcpy(session->deferred, session->engine->record, bytes);
	session->deferred_bytes = bytes;
	return true;
}

static int next_record(struct session *session, uint16_t *kind_out, uint32_t *bytes_out)
{
	struct engine *engine = session->engine;
	if (!session->deferred) {
		session->record_place = ring_reader_place(&session->submit);
		int r = ring_reader_next(&session->submit, engine->record, kind_out, bytes_out);
		session->record += r > 0;
		return r;
	}
	memcpy(engine->record, session->deferred, session->deferred_bytes);
	*kind_out = RING_RECORD_MESSAGE;
	*bytes_out = session->deferred_bytes;
	free(session->deferred);
	session->deferred = NULL;
	return 1;
}

/* Negative: the session will close. */
static int unpack_command(struct session *session, uint32_t bytes,
			  const Sycl__V1__Command **command_out)
{
	struct engine *engine = session->engine;
	ProtobufCMessage *message;
	int r = message_unpack(&sycl__v1__command__descriptor, &engine->decode, engine->record,
			       bytes, &message);
	if (r < 0)
		return session_violation(session,
					 r == -ENOMEM
						 ? "record %llu unpacks to more than is allowed"
						 : "record %llu cannot be decoded",
					 (unsigned long long)session->record);
	*command_out = (const Sycl__V1__Command *)message;
	return 0;
}

/* More than 0: ran one record; the value is its cost. 0: there is none. Negative: the session will
 * close. */
static int run_record(struct session *session)
{
	struct engine *engine = session->engine;
	uint16_t kind;
	uint32_t bytes;
	int r = next_record(session, &kind, &bytes);
	if (r == 0)
		return 0;
	if (r < 0)
		return session_violation(
			session,
			"the submit ring's head, or the head of a record, is out of range");
	engine->commands_decoded++;
	if (kind == RING_RECORD_RESUBMIT)
		return engine->hooks->run_resubmit(session, engine->record, bytes);
	const Sycl__V1__Command *command =
		flat_command_unpack(&engine->flat, engine->record, bytes);
	if (!command)
		r = unpack_command(session, bytes, &command);
	if (r < 0)
		return r;
	session->record_cost = 0;
	if (defer_for_graph(session, command, bytes))
		return 0;
	r = engine->hooks->run_command(session, command);
	/* A record with a thousand requirements, or a graph with many nodes, is more work than a
	 * usual one. */
	return r < 0 ? r : 1 + (int)(bytes / SESSION_RECORD_BYTES + session->record_cost);
}

static bool session_is_far_ahead(struct session *session)
{
	/* Most sessions never are. */
	if (session->groups_open < READ_AHEAD_SHARED / 2 && session->ahead.since_ns == 0)
		return false;
	return !session->engine->never_window &&
	       read_ahead_holds(&session->ahead, session->groups_open,
				sched_account_sent(session->work) > 0, session->engine->now_ns);
}

bool session_is_held(struct session *session)
{
	return session->ahead.since_ns != 0 && session_is_far_ahead(session);
}

/*
 * If this is the only awake session and its ring is empty, its commands are sent now. No other
 * command could join them, and the device works during the rest of the turn. False: more records
 * may follow.
 */
static bool reply_send_at_once(struct session *session)
{
	struct engine *engine = session->engine;
	if (engine->hot.next != engine->hot.previous || ring_reader_has_more(&session->submit))
		return false;
	scheduler_flush(engine->scheduler);
	return true;
}

uint32_t session_turn(struct session *session, bool shared)
{
	struct engine *engine = session->engine;
	const uint32_t records = shared ? SESSION_RECORDS_SHARED : SESSION_RECORDS_ALONE;
	wake_cancel_sleep(&session->header->engine_sleeps);
	session->has_more_records = false;
	session->ahead.most = shared ? READ_AHEAD_SHARED : READ_AHEAD_ALONE;
	if (!flush_waiting(session) || session_is_stalled(session) || session->paused)
		return 0;
	uint32_t done = 0, sent_at_once = 0;
	while (done < records && session->state == SESSION_OPEN &&
	       list_empty(&session->doomed_link) && !session_is_stalled(session) &&
	       !session_is_far_ahead(session)) {
		session->turn_left = records - done;
		int r = run_record(session);
		if (r < 0)
			return done + 1;
		if (r == 0)
			break;
		done += (uint32_t)r;
		/* The client may have submitted another record during the driver's call. */
		if (reply_send_at_once(session) && (++sent_at_once == SENT_AT_ONCE_MOST ||
						    !ring_reader_has_more(&session->submit)))
			break;
		scheduler_send_early(engine->scheduler);
	}
	session->has_more_records = done >= records && session->ahead.since_ns == 0;
	if (done) {
		ring_reader_publish(&session->submit);
		if (wake_claim(&session->header->client_wants_room))
			session_notify(session, NOTIFY_ANY);
	}
	return done;
}

/* True: the session may sleep. It continues when its graph is built, when the socket is writable,
 * or when the reply ring has the room that is requested here. */
static bool sleep_stalled(struct session *session)
{
	if (session->awaited && list_empty(&session->waiting))
		return true;
	if (list_empty(&session->waiting))
		return true;
	wake_prepare_sleep(&session->header->engine_wants_room);
	if (!flush_waiting(session))
		return true;
	wake_cancel_sleep(&session->header->engine_wants_room);
	return session_is_stalled(session);
}

bool session_sleep(struct session *session)
{
	bool sleeps;
	if (session_is_stalled(session)) {
		sleeps = sleep_stalled(session);
	} else if (session_is_held(session)) {
		list_remove(&session->hot_link);
		list_push_back(&session->engine->held, &session->hot_link);
		return true;
	} else {
		wake_prepare_sleep(&session->header->engine_sleeps);
		sleeps = session->paused || !ring_reader_has_more(&session->submit);
		if (!sleeps)
			wake_cancel_sleep(&session->header->engine_sleeps);
	}
	if (sleeps)
		list_remove(&session->hot_link);
	return sleeps;
}
