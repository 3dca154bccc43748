/* Buffers that other processes use: creation, export and import. Shared events are in
 * shared_event.c. */
#include "memory/buffer.h"

#include "clock.h"
#include "device_features.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static_assert(sizeof(struct sycl_shared_memory) == 96, "part of the interface");

static sycl_result share_check_kind(const struct device *device, sycl_share_kind share)
{
	uint32_t feature =
		share == SYCL_SHARE_VMM ? DEVICE_FEATURE_EXPORT_VMM : DEVICE_FEATURE_EXPORT_IPC;
	if (share != SYCL_SHARE_VMM && share != SYCL_SHARE_CUDA_IPC)
		return error_set(SYCL_ERROR_INVALID, "%d is no kind of sharing", (int)share);
	if (!(device->facts->features & feature))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s cannot share memory by %s",
				 device->facts->name,
				 share == SYCL_SHARE_VMM ? "a descriptor" : "a handle");
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_create_exportable(sycl_device handle, void *host,
						   uint64_t size_bytes, sycl_host_memory kind,
						   sycl_share_kind share, sycl_buffer *buffer_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(buffer_out);
	sycl_result result = share_check_kind(device, share);
	if (result)
		return result;
	if (size_bytes == 0)
		return error_set(SYCL_ERROR_INVALID, "a buffer of 0 bytes has no memory to share");
	struct buffer_plan plan = {.host = host,
				   .size_bytes = size_bytes,
				   .kind = kind,
				   .share = share,
				   .device = device->facts->device};
	return buffer_make(device->object.connection, &plan, buffer_out);
}

/* An answer to BufferExport. */
struct exported {
	struct pending pending;
	uint32_t kind;
	uint64_t mapped_bytes;
	bool has_handle;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
};

static void share_take_exported(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct exported *exported = pending->context;
	if (reply->body_case != SYCL__V1__REPLY__BODY_BUFFER_EXPORTED)
		return;
	const Sycl__V1__BufferExported *message = reply->buffer_exported;
	exported->kind = (uint32_t)message->kind;
	exported->mapped_bytes = message->size_bytes;
	exported->has_handle = message->handle.len == sizeof(exported->handle);
	if (exported->has_handle)
		memcpy(exported->handle, message->handle.data, sizeof(exported->handle));
}

static bool buffer_grant_arrived(struct connection *c, void *context)
{
	(void)c;
	return ((struct pending_grant *)context)->descriptor >= 0;
}

static void expect_grant(struct connection *c, struct pending_grant *grant)
{
	(void)pthread_mutex_lock(&c->state_lock);
	grant->next = c->grants;
	c->grants = grant;
	(void)pthread_mutex_unlock(&c->state_lock);
}

static void withdraw_grant(struct connection *c, struct pending_grant *grant)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct pending_grant **link = &c->grants;
	while (*link != grant)
		link = &(*link)->next;
	*link = grant->next;
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* Sends the request, and waits for the answer and, for a descriptor, for the grant. The grant may
 * come before or after the answer. */
static sycl_result share_request_export(struct buffer *buffer, bool at_once, uint64_t deadline_ns,
					struct exported *exported, struct pending_grant *grant)
{
	struct connection *c = buffer->object.connection;
	Sycl__V1__BufferExport export = SYCL__V1__BUFFER_EXPORT__INIT;
	export.buffer = buffer->remote.id;
	export.at_once = at_once;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	command.buffer_export = &export;
	exported->pending.take = share_take_exported;
	exported->pending.context = exported;
	exported->pending.runs = !at_once;
	expect_grant(c, grant);
	sycl_result result = connection_request(c, &command, &exported->pending, deadline_ns);
	if (!result && exported->kind == SYCL_SHARE_VMM)
		result = connection_wait(c, buffer_grant_arrived, grant, 0, deadline_ns);
	withdraw_grant(c, grant);
	return result;
}

static sycl_result export_buffer(struct buffer *buffer, bool at_once, uint64_t deadline_ns,
				 struct sycl_shared_memory *shared)
{
	if (buffer->share == SYCL_SHARE_NONE)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"the buffer was not made to be exported");
	sycl_result result = remote_check(&buffer->remote);
	if (result)
		return result;
	struct exported exported = {.kind = SYCL_SHARE_NONE};
	struct pending_grant grant = {.buffer = buffer->remote.id, .descriptor = -1};
	result = share_request_export(buffer, at_once, deadline_ns, &exported, &grant);
	bool complete =
		exported.kind == (uint32_t)buffer->share &&
		(buffer->share == SYCL_SHARE_VMM
			 ? grant.descriptor >= 0 && exported.mapped_bytes >= buffer->size_bytes
			 : exported.has_handle);
	if (!result && !complete)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service exported another buffer than the requested one");
	if (result) {
		close_fd(&grant.descriptor);
		return result;
	}
	bool by_descriptor = buffer->share == SYCL_SHARE_VMM;
	if (!by_descriptor)
		close_fd(&grant.descriptor);
	*shared = (struct sycl_shared_memory){.struct_bytes = sizeof(*shared),
					      .kind = exported.kind,
					      .descriptor = grant.descriptor,
					      .size_bytes = buffer->size_bytes,
					      .mapped_bytes = exported.mapped_bytes};
	if (!by_descriptor)
		memcpy(shared->handle, exported.handle, sizeof(shared->handle));
	return SYCL_SUCCESS;
}

sycl_result share_export_at_once(struct buffer *buffer, struct sycl_shared_memory *shared)
{
	return export_buffer(buffer, true, UINT64_MAX, shared);
}

static sycl_result buffer_export(sycl_buffer handle, uint64_t deadline_ns,
				 struct sycl_shared_memory *shared)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(shared);
	if (shared->struct_bytes != sizeof(*shared))
		return error_set(SYCL_ERROR_INVALID, "struct_bytes is %u, not %zu",
				 shared->struct_bytes, sizeof(*shared));
	return export_buffer(buffer, false, deadline_ns, shared);
}

SYCL_API sycl_result sycl_buffer_export(sycl_buffer buffer, struct sycl_shared_memory *shared)
{
	return buffer_export(buffer, UINT64_MAX, shared);
}

SYCL_API sycl_result sycl_buffer_export_for(sycl_buffer buffer, uint64_t timeout_ns,
					    struct sycl_shared_memory *shared)
{
	return buffer_export(buffer, clock_deadline_ns(timeout_ns), shared);
}

/* Sends the descriptor ahead of the record that names it. */
static sycl_result send_descriptor(struct connection *c, uint64_t buffer, int descriptor)
{
	Sycl__V1__BufferGrant grant = SYCL__V1__BUFFER_GRANT__INIT;
	grant.buffer = buffer;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = 1;
	packet.body_case = SYCL__V1__PACKET__BODY_BUFFER_GRANT;
	packet.buffer_grant = &grant;
	int r = message_send(c->socket, &packet.base, &descriptor, 1, 0);
	if (r == 0)
		return SYCL_SUCCESS;
	if (r == -EPIPE || r == -ECONNRESET)
		connection_probe(c);
	sycl_result lost = connection_check(c);
	return lost ? lost : error_set_errno(r, "the descriptor could not be sent");
}

static sycl_result announce_import(const struct buffer *buffer, const Sycl__V1__ArenaRange *place,
				   const struct buffer_plan *plan, bool *announced_out)
{
	struct connection *c = buffer->object.connection;
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
	Sycl__V1__BufferImport import = SYCL__V1__BUFFER_IMPORT__INIT;
	import.buffer = buffer->remote.id;
	import.size_bytes = buffer->size_bytes;
	import.range = (Sycl__V1__ArenaRange *)(uintptr_t)place;
	import.kind = (Sycl__V1__ExportKind)plan->share;
	import.device = plan->device;
	import.shared_bytes = plan->shared->mapped_bytes;
	if (plan->share == SYCL_SHARE_CUDA_IPC) {
		memcpy(handle, plan->shared->handle, sizeof(handle));
		import.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_IMPORT;
	command.buffer_import = &import;
	struct pending pending = {.take = NULL};
	/* One import at a time, so that at most one descriptor waits for its record. */
	(void)pthread_mutex_lock(&c->import_lock);
	sycl_result result = SYCL_SUCCESS;
	if (plan->share == SYCL_SHARE_VMM)
		result = send_descriptor(c, buffer->remote.id, plan->shared->descriptor);
	*announced_out = result == SYCL_SUCCESS;
	if (!result)
		result = connection_request(c, &command, &pending, UINT64_MAX);
	(void)pthread_mutex_unlock(&c->import_lock);
	return result;
}

SYCL_API sycl_result sycl_buffer_import(sycl_device handle, const struct sycl_shared_memory *shared,
					sycl_buffer *buffer_out)
{
	PIN(device, device, handle);
	REQUIRE_OUTPUT(buffer_out);
	if (!shared || shared->struct_bytes != sizeof(*shared) || shared->reserved != 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"shared: NULL, or struct_bytes or reserved is wrong; start from SYCL_SHARED_MEMORY_INIT");
	sycl_result result = share_check_kind(device, (sycl_share_kind)shared->kind);
	if (result)
		return result;
	if (shared->kind == SYCL_SHARE_VMM && shared->descriptor < 0)
		return error_set(SYCL_ERROR_INVALID, "%d is no descriptor", shared->descriptor);
	if (shared->size_bytes == 0 || shared->size_bytes > shared->mapped_bytes)
		return error_set(SYCL_ERROR_INVALID,
				 "a buffer of %" PRIu64 " bytes in shared memory of %" PRIu64
				 " bytes",
				 shared->size_bytes, shared->mapped_bytes);
	struct buffer_plan plan = {.size_bytes = shared->size_bytes,
				   .kind = SYCL_HOST_NONE,
				   .share = (sycl_share_kind)shared->kind,
				   .device = device->facts->device,
				   .announce = announce_import,
				   .shared = shared};
	return buffer_make(device->object.connection, &plan, buffer_out);
}
