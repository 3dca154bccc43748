/* Shared memory for data. The engine makes it, both sides map it, and the client chooses its
 * ranges. */
#include "session/session.h"
#include "session/hooks.h"
#include "base/range_check.h"
#include "usm_window.h"

#include "session.pb-c.h"

#include <inttypes.h>
#include <string.h>

static void send_arena_grant(struct session *session, uint32_t index, const struct arena *arena,
			     const struct backend_fault *fault)
{
	Sycl__V1__ArenaGrant message = SYCL__V1__ARENA_GRANT__INIT;
	message.arena = index;
	if (arena) {
		message.size_bytes = arena->region->size_bytes;
	} else {
		message.code = fault->status;
		message.text = (char *)(uintptr_t)fault->text;
	}
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = arena ? 1 : 0;
	packet.body_case = SYCL__V1__PACKET__BODY_ARENA_GRANT;
	packet.arena_grant = &message;
	int r = outbox_send(&session->outbox, &packet.base, arena ? arena->region->fd : -1);
	if (r < 0)
		session_fail(session, STATUS_CONNECTION_LOST, "an arena could not be granted: %s",
			     strerror(-r));
	if (outbox_waiting(&session->outbox))
		session_watch_socket(session);
}

static int check_arena_create(const struct session *session, const Sycl__V1__ArenaCreate *message,
			      struct backend_fault *fault)
{
	const struct session_limits *limits = &session->limits;
	if (message->arena >= limits->arenas)
		return fault_set(fault, STATUS_QUOTA,
				 "a session may have at most %" PRIu64 " arenas", limits->arenas);
	if (session->arenas[message->arena])
		return fault_set(fault, STATUS_INVALID, "arena %u is in use", message->arena);
	if (message->size_bytes == 0 || !range_aligned(message->size_bytes, ARENA_ALIGNMENT_BYTES))
		return fault_set(fault, STATUS_INVALID,
				 "an arena's size is a multiple of %u bytes, and not 0",
				 ARENA_ALIGNMENT_BYTES);
	if (message->address && !usm_place_good(message->address, message->size_bytes))
		return fault_set(fault, STATUS_INVALID, "an arena for USM cannot lie at %#" PRIx64,
				 message->address);
	if (!range_inside(session->usage.arena_bytes, message->size_bytes, limits->arena_bytes))
		return fault_set(fault, STATUS_QUOTA,
				 "a session's arenas may have at most %" PRIu64 " bytes together",
				 limits->arena_bytes);
	if (!range_inside(session->engine->arena_bytes, message->size_bytes,
			  session->engine->options.limits.tenant_arena_bytes))
		return fault_set(
			fault, STATUS_QUOTA,
			"the arenas of all of this user's sessions may have at most %" PRIu64
			" bytes together",
			session->engine->options.limits.tenant_arena_bytes);
	return 0;
}

int session_arena_register(struct arena *arena)
{
	if (arena->host)
		return 0;
	return scheduler_host_register(arena->session->engine->scheduler, arena->region->address,
				       arena->region->size_bytes, &arena->host);
}

static int create_arena(struct session *session, const Sycl__V1__ArenaCreate *message,
			struct arena **arena_out)
{
	struct arena *arena = calloc(1, sizeof(*arena));
	if (!arena)
		return -ENOMEM;
	void *place =
		(void *)(uintptr_t)
			message->address; // NOLINT(performance-no-int-to-ptr): the client's choice
	int r = place ? memory_region_create_at("sycl-usm", message->size_bytes, place,
						&arena->region)
		      : memory_region_create("sycl-arena", message->size_bytes, &arena->region);
	if (r < 0) {
		free(arena);
		return r;
	}
	arena->session = session;
	list_init(&arena->graphs);
	arena->is_placed = place != NULL;
	/* Transfers also work without registration, but slower. */
	(void)session_arena_register(arena);
	arena->index = message->arena;
	session->arenas[message->arena] = arena;
	session->usage.arena_bytes += message->size_bytes;
	session->engine->arena_bytes += message->size_bytes;
	*arena_out = arena;
	return 0;
}

int command_arena_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__ArenaCreate *message = command->arena_create;
	struct arena *arena = NULL;
	struct backend_fault fault;
	if (check_arena_create(session, message, &fault) == 0) {
		int r = create_arena(session, message, &arena);
		if (r == -EEXIST)
			(void)fault_set(&fault, STATUS_INVALID,
					"other memory is at %#" PRIx64 " already",
					message->address);
		else if (r < 0)
			(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
					"an arena could not be made: %s", strerror(-r));
	}
	send_arena_grant(session, message->arena, arena, &fault);
	if (arena)
		close_fd(&arena->region->fd);
	return 0;
}

static void unmap_arena(void *owner)
{
	struct arena *arena = owner;
	/* A client may keep its descriptor. The pages that the engine has written would stay
	 * charged to the service, so they are freed. */
	if (!arena->is_left)
		memory_region_empty(arena->region);
	(void)memory_region_free(arena->region);
	free(arena);
}

/* The session may be freed before the devices have released the memory. */
static void session_arena_free(struct arena *arena)
{
	arena->session->usage.arena_bytes -= arena->region->size_bytes;
	arena->session->engine->hooks->arena_ended(arena);
	arena->session->engine->arena_bytes -= arena->region->size_bytes;
	arena->session->arenas[arena->index] = NULL;
	scheduler_host_unregister(arena->host, unmap_arena, arena);
}

int command_arena_destroy(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__ArenaDestroy *message = command->arena_destroy;
	struct arena *arena =
		message->arena < session->arena_room ? session->arenas[message->arena] : NULL;
	struct backend_fault fault;
	if (!arena)
		(void)fault_set(&fault, STATUS_INVALID, "there is no arena %u", message->arena);
	else if (arena->users)
		(void)fault_set(&fault, STATUS_INVALID,
				"arena %u is in use by %u buffers and copies", message->arena,
				arena->users);
	else {
		session_arena_free(arena);
		return 0;
	}
	reply_status(session, session->record, 0, &fault);
	return 0;
}

void session_arenas_free(struct session *session)
{
	for (uint64_t i = 0; i < session->arena_room; i++) {
		if (!session->arenas[i])
			continue;
		session->arenas[i]->is_left = session->is_cut_off;
		session_arena_free(session->arenas[i]);
	}
}

int session_arena_range(struct session *session, const Sycl__V1__ArenaRange *range,
			uint64_t size_bytes, uint64_t alignment, struct arena **arena_out,
			void **address_out, struct backend_fault *fault)
{
	if (!range)
		return fault_set(fault, STATUS_INVALID, "a range of an arena is missing");
	struct arena *arena =
		range->arena < session->arena_room ? session->arenas[range->arena] : NULL;
	if (!arena)
		return fault_set(fault, STATUS_INVALID, "there is no arena %u", range->arena);
	if (!range_inside(range->offset_bytes, range->size_bytes, arena->region->size_bytes))
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " bytes at %" PRIu64 " are not inside arena %u",
				 range->size_bytes, range->offset_bytes, range->arena);
	if (range->size_bytes < size_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "a range of %" PRIu64 " bytes cannot hold %" PRIu64,
				 range->size_bytes, size_bytes);
	if (!range_aligned(range->offset_bytes, alignment))
		return fault_set(fault, STATUS_INVALID, "%" PRIu64 " is not a multiple of %" PRIu64,
				 range->offset_bytes, alignment);
	*arena_out = arena;
	*address_out = (uint8_t *)arena->region->address + range->offset_bytes;
	return 0;
}
