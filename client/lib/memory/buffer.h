/* Buffers, images and host accessors. Making a buffer: it is named, given its shared memory,
 * announced to the service. */
#ifndef SYCL_CLIENT_BUFFER_H
#define SYCL_CLIENT_BUFFER_H

#include "memory/host_access.h"
#include "platform/platform.h"

struct host_block {
	struct object object; /* of no connection */
	void *memory;
	uint64_t size_bytes;
	sycl_free_function *free_memory;
	void *context;
};

/*
 * A buffer, or a part or a view of one (`root`): the service has roots only. Parts have the id of
 * their root, so that any of them can name it. Marks of use, of writing back and of host accessors
 * are in the root.
 */
struct buffer {
	struct object object;
	struct remote remote;  /* of a root */
	struct buffer *root;   /* whose bytes these are, held; NULL: a root */
	struct buffer *family; /* the one that ends with the last of its parts, held; NULL: itself.
				  Of parts without bytes not root */
	uint64_t origin_bytes; /* in the root */
	bool is_part;          /* a sub-buffer, or a view of one: orders by its own range */
	uint64_t size_bytes, element_bytes;
	sycl_range range;        /* in elements */
	void *address;           /* its shared memory; NULL for 0 bytes */
	_Atomic uint32_t owners; /* of a family: handles of buffers and parts that the caller has */
	sycl_host_memory kind;
	void *host;               /* that is written back to: borrowed, or of the block */
	struct host_block *block; /* held */
	void *use_mutex;          /* pthread_mutex_t, the caller's; NULL: none */
	_Atomic(void *) final_data;
	_Atomic uint32_t final_data_set; /* 1: final_data replaces host, also when it is NULL */
	_Atomic uint32_t write_back;     /* 0: cancelled */
	_Atomic uint32_t used;           /* a command group was submitted that requires it */
	_Atomic uint32_t modified;       /* ... or a host accessor was made that writes */
	_Atomic uint32_t host_accessors; /* held now */
	_Atomic uint32_t graphs;         /* that can be changed, and use it (L11) */
	_Atomic uint32_t pages; /* enum own_pages: where the first contents are; changes under the
				   state lock */
	bool is_temporary; /* of graphs: without memory of its own, `address` is NULL; of a root */
	sycl_share_kind share; /* how it can be exported, or was imported */
	uint32_t share_device; /* the service's number of the device that has the memory then */
	struct bridge_import *imports; /* of a root, where it is open in contexts of the program's
					  (bridge_memory.c); under open_lock */
	void (*close_imports)(struct buffer *root); /* NULL: there are no imports */
	uint32_t image_format; /* of an image, which has a handle of its own kind: `range` counts
				  pixels; else 0 */
	bool image_layered;    /* ... its first dimension counts layers */
};

struct image {
	struct buffer buffer;
};

static inline struct buffer *buffer_root(struct buffer *buffer)
{
	return buffer->root ? buffer->root : buffer;
}

struct host_image {
	struct object object;
	struct host_access access;
	struct buffer *image;
	uint32_t mode;
};

struct host_accessor {
	struct object object;
	struct host_access access;
	struct buffer *buffer;
	void *pointer;
};

DEFINE_PIN(buffer, sycl_buffer, HANDLE_BUFFER)
DEFINE_PIN(host_block, sycl_host_block, HANDLE_HOST_BLOCK)
DEFINE_PIN(host_accessor, sycl_host_accessor, HANDLE_HOST_ACCESSOR)
DEFINE_PIN(image, sycl_image, HANDLE_IMAGE)
DEFINE_PIN(host_image, sycl_host_image, HANDLE_HOST_IMAGE)

struct buffer_plan {
	void *host;               /* the first contents; of a block: NULL */
	struct host_block *block; /* of SHARED */
	void *use_mutex;
	uint64_t size_bytes;
	sycl_host_memory kind;
	sycl_share_kind share;
	uint32_t device; /* the service's number of it; of a shared one */
	/*
	 * Announces it to the service; `place` is NULL for 0 bytes. *announced_out: the service has
	 * the name, also when this fails. NULL: one-way, by BufferCreate.
	 */
	sycl_result (*announce)(const struct buffer *buffer, const Sycl__V1__ArenaRange *place,
				const struct buffer_plan *plan, bool *announced_out);
	const struct sycl_shared_memory *shared; /* the memory that `announce` imports */
	bool is_temporary;     /* a temporary of graphs, which has no shared memory */
	uint32_t image_format; /* 0: a buffer */
	sycl_range image_range;
	bool image_layered;
};

/* The handle is an image's if the plan is of one. */
sycl_result buffer_make(struct connection *connection, const struct buffer_plan *plan,
			sycl_buffer *buffer_out);
/* share.c: what another process needs to open it, without waiting for what is to write it. A root
 * that can be exported; a round trip. */
sycl_result share_export_at_once(struct buffer *buffer, struct sycl_shared_memory *shared);
/* buffer_release.c: end one of the caller's references; pinned. `writes_back` false: what there is
 * to write back is lost. */
sycl_result buffer_end(struct buffer *buffer, bool writes_back, uint64_t deadline_ns);

/* buffer_parts.c: SYCL_ERROR_INVALID where a graph that can still be changed uses the buffer (L11).
 */
sycl_result buffer_check_graphs(struct buffer *buffer);
/* buffer_parts.c: may a group on this device use it? C14 */
sycl_result buffer_check_origin(const struct buffer *buffer, const struct device *device);

#endif
