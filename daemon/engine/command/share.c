/* Buffers that other sessions and other processes use: export and import (F10). */
#include "command/command.h"
#include "session/shares.h"
#include "device_features.h"

#include "session.pb-c.h"

#include <inttypes.h>
#include <string.h>

static_assert((int)BACKEND_EXPORT_VMM == (int)SYCL__V1__EXPORT_KIND__EXPORT_KIND_VMM,
	      "numbers of the protocol");
static_assert((int)BACKEND_EXPORT_CUDA_IPC == (int)SYCL__V1__EXPORT_KIND__EXPORT_KIND_CUDA_IPC,
	      "numbers of the protocol");

static_assert(DEVICE_FEATURE_EXPORT_VMM == BACKEND_FEATURE_EXPORT_VMM &&
		      DEVICE_FEATURE_EXPORT_IPC == BACKEND_FEATURE_EXPORT_IPC &&
		      DEVICE_FEATURE_SHARED_EVENT == BACKEND_FEATURE_SHARED_EVENT &&
		      DEVICE_FEATURE_COOPERATIVE == BACKEND_FEATURE_COOPERATIVE &&
		      DEVICE_FEATURE_CLUSTER == BACKEND_FEATURE_CLUSTER &&
		      DEVICE_FEATURE_VARIABLE == BACKEND_FEATURE_VARIABLE &&
		      DEVICE_FEATURE_GRAPH_CONDITION == BACKEND_FEATURE_GRAPH_CONDITION &&
		      DEVICE_FEATURE_USM_MIGRATES == BACKEND_FEATURE_USM_MIGRATES,
	      "what clients see of backend.h");

/* An export without a reply of the device yet. */
struct export_request {
	struct buffer *buffer; /* a reference */
	uint64_t number;
};

int share_kind_feature(uint32_t kind, uint32_t *feature_out, struct backend_fault *fault)
{
	if (kind == BACKEND_EXPORT_VMM)
		*feature_out = BACKEND_FEATURE_EXPORT_VMM;
	else if (kind == BACKEND_EXPORT_CUDA_IPC)
		*feature_out = BACKEND_FEATURE_EXPORT_IPC;
	else
		return fault_set(fault, STATUS_INVALID, "%u is no kind of sharing", kind);
	return 0;
}

int share_admit(struct session *session, uint64_t size_bytes, uint64_t *charged_out,
		struct backend_fault *fault)
{
	if (size_bytes == 0)
		return fault_set(fault, STATUS_INVALID,
				 "a buffer of 0 bytes has no memory to share");
	if (session->shared_buffers >= SHARED_BUFFERS_MAX)
		return fault_set(fault, STATUS_QUOTA,
				 "a session may have at most %u buffers that are shared",
				 SHARED_BUFFERS_MAX);
	uint64_t granules =
		size_bytes / SHARE_GRANULE_BYTES + (size_bytes % SHARE_GRANULE_BYTES != 0);
	if (__builtin_mul_overflow(granules, SHARE_GRANULE_BYTES, charged_out))
		*charged_out = UINT64_MAX;
	return 0;
}

static int send_grant(struct session *session, uint64_t buffer, int descriptor)
{
	Sycl__V1__BufferGrant grant = SYCL__V1__BUFFER_GRANT__INIT;
	grant.buffer = buffer;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = 1;
	packet.body_case = SYCL__V1__PACKET__BODY_BUFFER_GRANT;
	packet.buffer_grant = &grant;
	int r = outbox_send(&session->outbox, &packet.base, descriptor);
	if (r < 0)
		session_fail(session, STATUS_CONNECTION_LOST,
			     "an exported buffer could not be granted: %s", strerror(-r));
	if (outbox_waiting(&session->outbox))
		session_watch_socket(session);
	return r;
}

static void reply_exported(struct session *session, uint64_t number, const struct buffer *buffer)
{
	struct backend_shared_memory *name = &buffer->shared->name;
	if (session->state != SESSION_OPEN)
		return;
	if (name->descriptor >= 0 && send_grant(session, buffer->object.id, name->descriptor) < 0)
		return;
	Sycl__V1__BufferExported exported = SYCL__V1__BUFFER_EXPORTED__INIT;
	exported.buffer = buffer->object.id;
	exported.kind = (Sycl__V1__ExportKind)name->kind;
	if (name->kind == BACKEND_EXPORT_CUDA_IPC)
		exported.handle = (ProtobufCBinaryData){sizeof(name->handle), name->handle};
	exported.size_bytes = name->size_bytes;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = number;
	reply.body_case = SYCL__V1__REPLY__BODY_BUFFER_EXPORTED;
	reply.buffer_exported = &exported;
	session_reply(session, &reply);
}

static int buffer_start_export(struct session *session, struct buffer *buffer, bool at_once,
			       struct backend_fault *fault)
{
	if (!buffer->shared)
		return fault_set(fault, STATUS_INVALID,
				 buffer->is_shared
					 ? "memory of another process is exported by that process"
					 : "the buffer was not made to be exported");
	if (session->exports_open >= SHARED_BUFFERS_MAX)
		return fault_set(fault, STATUS_QUOTA,
				 "%u exports are under way, and no more are allowed",
				 SHARED_BUFFERS_MAX);
	struct export_request *request = malloc(sizeof(*request));
	int r = -ENOMEM;
	if (request) {
		*request = (struct export_request){buffer, session->record};
		r = at_once ? sched_buffer_export_at_once(buffer->sched, request)
			    : sched_buffer_export(buffer->sched, request);
	}
	if (r < 0) {
		free(request);
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the buffer could not be exported: %s", strerror(-r));
	}
	(void)object_ref(&buffer->object);
	session->exports_open++;
	return 0;
}

int command_buffer_export(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__BufferExport *message = command->buffer_export;
	struct buffer *buffer;
	struct backend_fault fault;
	if (message->at_once && !(session->features & FEATURE_NATIVE))
		return session_violation(
			session,
			"a buffer is exported at once, but the session did not agree on that");
	int r = object_get(session, message->buffer, OBJECT_BUFFER, &buffer, &fault);
	if (r == 0)
		r = buffer_start_export(session, buffer, message->at_once, &fault);
	if (r > 0)
		reply_status(session, session->record, message->buffer, &fault);
	return r < 0 ? r : 0;
}

/* Under which name others find it: 0, or 1 with a fault. Takes the descriptor. */
static int buffer_keep_shared_name(struct buffer *buffer,
				   const struct backend_shared_memory *shared,
				   struct backend_fault *fault)
{
	if (!buffer->shared) {
		int descriptor = shared->descriptor;
		close_fd(&descriptor);
		return fault_set(fault, STATUS_INVALID, "the buffer was released");
	}
	if (shared_memory_name(buffer->shared, shared) < 0)
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"the system's kernel cannot compare descriptors, which sharing by descriptor needs");
	return 0;
}

struct session *buffer_exported(struct export_request *request,
				const struct backend_shared_memory *shared,
				const struct backend_fault *fault)
{
	struct buffer *buffer = request->buffer;
	struct session *session = buffer->object.session;
	struct backend_fault own;
	if (shared && buffer_keep_shared_name(buffer, shared, &own))
		fault = &own;
	else if (shared)
		fault = NULL;
	if (fault)
		reply_status(session, request->number, buffer->object.id, fault);
	else
		reply_exported(session, request->number, buffer);
	free(request);
	session->exports_open--;
	object_unref(&buffer->object);
	return session;
}

/* A copy of a BufferImport. The message itself is overwritten when its descriptor is taken from the
 * socket, since that unpacks another message. */
struct import {
	uint64_t buffer, size_bytes;
	uint32_t device;
	bool has_range;
	Sycl__V1__ArenaRange range;
	size_t handle_bytes;
	struct backend_shared_memory name;
};

static void copy_message(const Sycl__V1__BufferImport *message, struct import *import)
{
	*import = (struct import){.buffer = message->buffer,
				  .size_bytes = message->size_bytes,
				  .device = message->device};
	import->has_range = message->range != NULL;
	if (message->range)
		import->range = *message->range;
	import->handle_bytes = message->handle.len;
	if (message->handle.len == SHARE_HANDLE_BYTES)
		memcpy(import->name.handle, message->handle.data, SHARE_HANDLE_BYTES);
	import->name.kind = (enum backend_export_kind)message->kind;
	import->name.size_bytes = message->shared_bytes;
	import->name.descriptor = -1;
}

static int check_share_name(const struct import *import, struct backend_fault *fault)
{
	if (import->name.kind == BACKEND_EXPORT_CUDA_IPC &&
	    import->handle_bytes != SHARE_HANDLE_BYTES)
		return fault_set(fault, STATUS_INVALID,
				 "a handle of shared memory has %u bytes, not %zu",
				 SHARE_HANDLE_BYTES, import->handle_bytes);
	if (import->name.kind == BACKEND_EXPORT_VMM &&
	    !descriptor_may_be_memory(import->name.descriptor))
		return fault_set(fault, STATUS_INVALID, "the descriptor is no memory of a device");
	if (import->size_bytes > import->name.size_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "a buffer of %" PRIu64
				 " bytes does not fit into shared memory of %" PRIu64,
				 import->size_bytes, import->name.size_bytes);
	return 0;
}

/* The memory belongs to this engine: the buffer gets the same contents as the engine's other
 * buffer. */
static int join_shared_memory(struct buffer *buffer, const struct import *import,
			      struct shared_memory *memory, void *host, struct backend_fault *fault)
{
	if (memory->device != import->device)
		return fault_set(fault, STATUS_INVALID,
				 "the memory lies on device %u, not on device %u", memory->device,
				 import->device);
	if (memory->size_bytes != import->size_bytes ||
	    memory->name.size_bytes != import->name.size_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "the buffer has %" PRIu64 " bytes in %" PRIu64
				 " of shared memory, not %" PRIu64 " in %" PRIu64,
				 memory->size_bytes, memory->name.size_bytes, import->size_bytes,
				 import->name.size_bytes);
	int r = sched_buffer_share(shared_memory_any(memory)->sched, host, buffer, &buffer->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the buffer could not be imported: %s", strerror(-r));
	shared_memory_join(memory, buffer);
	return 0;
}

static int import_from_other_session(struct buffer *buffer, const struct import *import,
				     struct scheduler_device *device, void *host,
				     struct backend_fault *fault)
{
	struct session *session = buffer->object.session;
	int r = sched_buffer_import(session->engine->scheduler, device, &import->name,
				    import->size_bytes, host, buffer, &buffer->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the buffer could not be imported: %s", strerror(-r));
	buffer->number = session->record;
	/* The scheduler's reference, until the scheduler has replied. */
	(void)object_ref(&buffer->object);
	return 0;
}

static int import_buffer(struct session *session, struct buffer *buffer,
			 const struct import *import, struct backend_fault *fault)
{
	uint32_t feature;
	struct context_device found;
	uint64_t charged;
	struct arena *arena;
	void *host;
	if (share_kind_feature(import->name.kind, &feature, fault) ||
	    feature_device(session, import->device, feature, &found, fault) ||
	    share_admit(session, import->size_bytes, &charged, fault) ||
	    check_share_name(import, fault) ||
	    buffer_admit(session, charged, import->size_bytes,
			 import->has_range ? &import->range : NULL, &arena, &host, fault))
		return 1;
	buffer->object.backend = (uint32_t)found.ops->kind;
	struct shared_memory *memory = shared_memory_find(session->engine, &import->name);
	if (memory ? join_shared_memory(buffer, import, memory, host, fault)
		   : import_from_other_session(buffer, import, found.device, host, fault))
		return 1;
	buffer_settle(buffer, charged, import->size_bytes, arena);
	buffer->is_shared = true;
	session->shared_buffers++;
	if (memory)
		reply_done(session, session->record);
	return 0;
}

int command_buffer_import(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__BufferImport *message = command->buffer_import;
	struct import import;
	copy_message(message, &import);
	CLEANUP(close_fd) int descriptor = -1;
	if (import.name.kind == BACKEND_EXPORT_VMM &&
	    session_grant_take(session, import.buffer, &descriptor) < 0)
		return -EPROTO;
	import.name.descriptor = descriptor;
	struct buffer *buffer;
	int r = object_new(session, import.buffer, OBJECT_BUFFER, session->record, &buffer);
	if (r != 0)
		return r < 0 ? r : 0;
	struct backend_fault fault;
	if (import_buffer(session, buffer, &import, &fault))
		object_fail(&buffer->object, session->record, &fault);
	return 0;
}

struct session *buffer_imported(struct buffer *buffer, const struct backend_fault *fault)
{
	struct session *session = buffer->object.session;
	if (fault->status)
		object_fail(&buffer->object, buffer->number, fault);
	else
		reply_done(session, buffer->number);
	object_unref(&buffer->object);
	return session;
}

void buffer_share_end(struct buffer *buffer)
{
	shared_memory_leave(buffer);
}
