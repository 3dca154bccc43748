/* Buffers, images and host accessors. Making a buffer: it is named, given its shared memory,
 * announced to the service. */
#ifndef SYCL_CLIENT_BUFFER_H
#define SYCL_CLIENT_BUFFER_H

#include "memory/host_access.h"
#include "platform/platform.h"

struct host_block {
	struct object object; /* an object without a connection */
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
	struct remote remote; /* only a root has one */
	struct buffer *root;  /* the buffer that has the bytes, held; NULL: this is a root */
	/* The buffer from which this part was made, held. It ends with the last of its parts. NULL:
	 * this is no part. A part without bytes has a family but no root. */
	struct buffer *family;
	uint64_t origin_bytes; /* offset in the root */
	bool is_part;          /* a sub-buffer, or a view of one, which orders by its own range */
	uint64_t size_bytes, element_bytes;
	sycl_range range;        /* in elements */
	void *address;           /* the shared memory; NULL for 0 bytes */
	_Atomic uint32_t owners; /* for a family: the caller's handles of buffers and parts */
	sycl_host_memory kind;
	void *host; /* the memory that is written back to: borrowed, or of the block */
	struct host_block *block; /* held */
	void *use_mutex;          /* pthread_mutex_t, the caller's; NULL: none */
	_Atomic(void *) final_data;
	_Atomic uint32_t final_data_set; /* 1: final_data replaces host, also when it is NULL */
	_Atomic uint32_t write_back;     /* 0: cancelled */
	_Atomic uint32_t used;     /* a command group was submitted that requires the buffer */
	_Atomic uint32_t modified; /* ... or a host accessor was made that writes */
	_Atomic uint32_t host_accessors; /* accessors that are held now */
	_Atomic uint32_t graphs; /* graphs that use the buffer and can still be changed (L11) */
	_Atomic uint32_t pages;  /* enum own_pages: where the first contents are; changes under the
				    state lock */
	bool is_temporary; /* of graphs: without memory of its own, `address` is NULL; of a root */
	sycl_share_kind share; /* how the buffer can be exported, or was imported */
	uint32_t share_device; /* the service's number of the device that has the shared memory */
	/*
	 * For a root: its openings in contexts of the program (bridge_memory.c); under open_lock.
	 */
	struct bridge_import *imports;
	void (*close_imports)(struct buffer *root); /* NULL: there are no imports */
	uint32_t image_format; /* of an image, which has a handle of its own kind: `range` counts
				  pixels; else 0 */
	bool image_layered;    /* the first dimension of the image counts layers */
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
	struct host_block *block; /* the block of SYCL_HOST_SHARED */
	void *use_mutex;
	uint64_t size_bytes;
	sycl_host_memory kind;
	sycl_share_kind share;
	uint32_t device; /* for a shared buffer: the service's number of the device */
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

/* The handle is an image's if the plan is for an image. */
sycl_result buffer_make(struct connection *connection, const struct buffer_plan *plan,
			sycl_buffer *buffer_out);
/* share.c: gets the data with which another process opens the buffer, without waiting for groups
 * that will write it. For a root that can be exported; a round trip. */
sycl_result share_export_at_once(struct buffer *buffer, struct sycl_shared_memory *shared);
/* buffer_release.c: ends one of the caller's references; pinned. `writes_back` false: contents that
 * were to be written back are lost. */
sycl_result buffer_end(struct buffer *buffer, bool writes_back, uint64_t deadline_ns);

/* buffer_parts.c: SYCL_ERROR_INVALID where a graph that can still be changed uses the buffer (L11).
 */
sycl_result buffer_check_graphs(struct buffer *buffer);
/* buffer_parts.c: checks that a group on this device may use the buffer (C14). */
sycl_result buffer_check_origin(const struct buffer *buffer, const struct device *device);

#endif
