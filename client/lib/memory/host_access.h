/*
 * Bytes of a buffer for the host. The engine grants access when the bytes are in the shared memory.
 */
#ifndef SYCL_CLIENT_HOST_ACCESS_H
#define SYCL_CLIENT_HOST_ACCESS_H

#include "connection/connection.h"

struct arena_range;
struct buffer;

/* A request for the host, or for a device; see HostAccess in proto/command.proto. */
struct host_access {
	struct remote remote;
	uint32_t slot, value;
};

/*
 * Request bytes of a buffer for the host, without waiting. The remote holds them from the grant on
 * until it is released, which host_access_end does.
 */
sycl_result host_access_request(struct buffer *buffer, uint32_t mode, uint64_t offset_bytes,
				uint64_t size_bytes, struct host_access *access);
/*
 * Requests only these bytes of a root buffer: groups wait for each other by these bytes, as with a
 * sub-buffer.
 */
sycl_result host_access_request_part(struct buffer *buffer, uint32_t mode,
				     const struct arena_range *bytes, struct host_access *access);
/*
 * Waits until the engine has answered every access that was requested so far, if it can without
 * waiting for a device. Then accesses that the engine grants at once are settled, and refused ones
 * have failed.
 */
sycl_result host_access_answered(struct connection *connection);
/* Granted, refused or failed: nothing is left to wait for. */
bool host_access_settled(struct buffer *buffer, const struct host_access *access);
/* Granted, and neither refused nor failed. */
bool host_access_granted(struct buffer *buffer, const struct host_access *access);
/* Waits until the access is settled; 0: granted. */
sycl_result host_access_wait(struct buffer *buffer, struct host_access *access,
			     uint64_t deadline_ns);
/* Ends the access, also before the engine has granted it. Groups then no longer wait for it. */
void host_access_end(struct connection *connection, struct host_access *access);

#endif
