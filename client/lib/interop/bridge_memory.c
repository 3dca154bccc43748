/* The memory of buffers in contexts of the program: opened when it is first needed, closed
 * with the buffer. */
#include "interop/bridge.h"

#include "memory/buffer.h"
#include "handler/handler.h"

#include <stdlib.h>
#include <string.h>

struct bridge_import {
	struct bridge_import *next;    /* the buffer's next import */
	struct bridge_import *sibling; /* the next import of the context, while that is open */
	struct bridge_context *context;
	sycl_share_kind kind;
	cuda_address address;
	uint64_t mapped_bytes;
};

static cuda_result import_map(const struct cuda_driver *cuda, struct bridge_import *import,
			      cuda_allocation allocation)
{
	const struct cuda_access access = {.location_kind = CUDA_LOCATION_DEVICE,
					   .location = import->context->device,
					   .flags = CUDA_ACCESS_READ_WRITE};
	cuda_result result =
		cuda->cuMemAddressReserve(&import->address, import->mapped_bytes, 0, 0, 0);
	if (result != CUDA_OK)
		return result;
	result = cuda->cuMemMap(import->address, import->mapped_bytes, 0, allocation, 0);
	if (result == CUDA_OK) {
		result = cuda->cuMemSetAccess(import->address, import->mapped_bytes, &access, 1);
		if (result == CUDA_OK)
			return result;
		(void)cuda->cuMemUnmap(import->address, import->mapped_bytes);
	}
	(void)cuda->cuMemAddressFree(import->address, import->mapped_bytes);
	return result;
}

/* Maps the memory of a descriptor. The mapping holds the memory. */
static cuda_result open_descriptor(const struct cuda_driver *cuda, struct bridge_import *import,
				   int descriptor)
{
	cuda_allocation allocation = 0;
	void *number = (void *)(intptr_t)descriptor; /* NOLINT(performance-no-int-to-ptr) */
	cuda_result result =
		cuda->cuMemImportFromShareableHandle(&allocation, number, CUDA_HANDLE_DESCRIPTOR);
	if (result != CUDA_OK)
		return result;
	result = import_map(cuda, import, allocation);
	(void)cuda->cuMemRelease(allocation);
	return result;
}

static cuda_result open_handle(const struct cuda_driver *cuda, struct bridge_import *import,
			       const uint8_t *bytes)
{
	struct cuda_ipc_memory handle;
	memcpy(handle.bytes, bytes, sizeof(handle.bytes));
	return cuda->cuIpcOpenMemHandle_v2(&import->address, handle, CUDA_IPC_LAZY_PEER);
}

/* The context is current, if it still exists. Mappings outlive a context that the program has
 * destroyed. */
static void close_import(const struct bridge_import *import, bool is_there)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	if (import->kind == SYCL_SHARE_VMM) {
		(void)cuda->cuMemUnmap(import->address, import->mapped_bytes);
		(void)cuda->cuMemAddressFree(import->address, import->mapped_bytes);
	} else if (is_there) {
		(void)cuda->cuIpcCloseMemHandle(import->address);
	}
}

/* With open_lock. */
static void leave_context(struct bridge_import *import)
{
	cuda_context popped = NULL;
	const struct cuda_driver *cuda = cuda_driver_get();
	struct bridge_import **at = &import->context->imports;
	while (*at != import)
		at = &(*at)->sibling;
	*at = import->sibling;
	if (bridge_is_stuck(import->context->connection->bridge, import->context))
		return;
	int mode = CUDA_CAPTURE_RELAXED;
	cuda_driver_exchange_mode(cuda, &mode);
	bool is_there = cuda->cuCtxPushCurrent_v2(import->context->context) == CUDA_OK;
	close_import(import, is_there);
	if (is_there)
		(void)cuda->cuCtxPopCurrent_v2(&popped);
	cuda_driver_exchange_mode(cuda, &mode);
}

static void bridge_memory_close(struct buffer *root)
{
	struct bridge *bridge = root->object.connection->bridge;
	if (!root->imports)
		return;
	(void)pthread_mutex_lock(&bridge->open_lock);
	while (root->imports) {
		struct bridge_import *import = root->imports;
		root->imports = import->next;
		if (import->context)
			leave_context(import);
		free(import);
	}
	(void)pthread_mutex_unlock(&bridge->open_lock);
}

/* With the lock. */
static sycl_result open_import(struct bridge_context *context, struct buffer *root,
			       cuda_address *address_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	struct sycl_shared_memory shared = SYCL_SHARED_MEMORY_INIT;
	sycl_result result = share_export_at_once(root, &shared);
	if (result)
		return result;
	CLEANUP(close_fd) int descriptor = shared.descriptor;
	struct bridge_import *import = malloc(sizeof(*import));
	if (!import)
		return error_no_memory();
	*import = (struct bridge_import){.context = context,
					 .kind = (sycl_share_kind)shared.kind,
					 .mapped_bytes = shared.mapped_bytes};
	cuda_result opened = import->kind == SYCL_SHARE_VMM
				     ? open_descriptor(cuda, import, descriptor)
				     : open_handle(cuda, import, shared.handle);
	if (opened != CUDA_OK) {
		free(import);
		return cuda_driver_error(opened,
					 "a buffer's memory cannot be opened in this process");
	}
	import->next = root->imports;
	root->imports = import;
	root->close_imports = bridge_memory_close;
	import->sibling = context->imports;
	context->imports = import;
	*address_out = import->address;
	return SYCL_SUCCESS;
}

/* With the context current. */
static sycl_result bridge_memory_find(struct bridge_context *context, struct buffer *root,
				      cuda_address *address_out)
{
	struct bridge *bridge = root->object.connection->bridge;
	sycl_result result = SYCL_SUCCESS;
	int mode = CUDA_CAPTURE_RELAXED;
	(void)pthread_mutex_lock(&bridge->open_lock);
	struct bridge_import *import = root->imports;
	while (import && import->context != context)
		import = import->next;
	if (import) {
		*address_out = import->address;
	} else {
		cuda_driver_exchange_mode(cuda_driver_get(), &mode);
		result = open_import(context, root, address_out);
		cuda_driver_exchange_mode(cuda_driver_get(), &mode);
	}
	(void)pthread_mutex_unlock(&bridge->open_lock);
	return result;
}

sycl_result bridge_open_memories(const struct handler *handler, uint64_t *memories)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < handler->requirements.count && !result; i++) {
		struct buffer *root = buffer_root(handler_requirement_at(handler, i)->buffer);
		cuda_address address = 0;
		if (root->size_bytes > 0)
			result = bridge_memory_find(handler->bridge, root, &address);
		memories[i] = address;
	}
	return result;
}

sycl_result bridge_memory_get(struct bridge_context *context, struct buffer *root,
			      uint64_t *address_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	cuda_address address = 0;
	cuda_result entered = cuda->cuCtxPushCurrent_v2(context->context);
	if (entered != CUDA_OK)
		return cuda_driver_error(entered,
					 "the CUDA context of a host task cannot be made current");
	sycl_result result = bridge_memory_find(context, root, &address);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
	if (!result)
		*address_out = address;
	return result;
}

void bridge_memory_leave(struct bridge_context *context, bool is_there)
{
	while (context->imports) {
		struct bridge_import *import = context->imports;
		context->imports = import->sibling;
		close_import(import, is_there);
		import->context = NULL;
	}
}
