/* Making a buffer: named, given its shared memory, announced to the service. */
#ifndef SYCL_CLIENT_BUFFER_H
#define SYCL_CLIENT_BUFFER_H

#include "connection/client_objects.h"

struct buffer_plan {
	void *host;               /* the first contents; of a block: NULL */
	struct host_block *block; /* of SHARED */
	void *use_mutex;
	uint64_t size_bytes;
	sycl_host_memory kind;
	sycl_share_kind share;
	uint32_t device; /* the service's number of it; of a shared one */
	/*
	 * Tell the service of it; `place` is NULL for 0 bytes. *announced_out: the service knows
	 * the name, also when this fails. NULL: one-way, by BufferCreate.
	 */
	sycl_result (*announce)(const struct buffer *buffer, const Sycl__V1__ArenaRange *place,
				const struct buffer_plan *plan, bool *announced_out);
	const struct sycl_shared_memory *shared; /* what `announce` imports */
	bool is_temporary;                       /* of graphs: without shared memory */
	uint32_t image_format;                   /* 0: a buffer */
	sycl_range image_range;
	bool image_layered;
};

/* The handle is an image's where the plan says so. */
sycl_result buffer_make(struct connection *connection, const struct buffer_plan *plan,
			sycl_buffer *buffer_out);
/* share.c: what another process needs to open it, without waiting for what is to write it. A root
 * that can be exported; a round trip. */
sycl_result share_export_at_once(struct buffer *buffer, struct sycl_shared_memory *shared);
/* buffer_release.c: end one of the caller's references; pinned. `writes_back` false: what there is
 * to write back is lost. */
sycl_result buffer_end(struct buffer *buffer, bool writes_back, uint64_t deadline_ns);

#endif
