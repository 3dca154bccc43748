/*
 * Memory and events that the sessions of one engine share with each other and with other processes.
 * They are found by their external names. The kernel decides whether a descriptor is one that this
 * engine has exported; a handle is compared byte by byte. Neither decides which client may use it:
 * all sessions of an engine have one uid (control.c checks). Front thread; never blocks.
 */
#ifndef SYCL_ENGINE_SHARES_H
#define SYCL_ENGINE_SHARES_H

#include "backend.h"
#include "base/intrusive_list.h"

struct buffer;
struct engine;
struct sched_event;

/* Exported memory occupies whole granules of the device's memory. So a session is charged for whole
 * ones. */
#define SHARE_GRANULE_BYTES (2ull << 20)
#define SHARE_HANDLE_BYTES  64u

/* The memory of an exportable buffer. Exists as long as a session of this engine holds it. */
struct shared_memory {
	struct list link;    /* link in engine.shared_memories */
	struct list buffers; /* struct buffer.shared_link; never empty */
	uint32_t device;
	enum backend_export_kind kind;
	uint64_t size_bytes;
	uint64_t stamp;                    /* number of the latest group that has named it */
	bool exported;                     /* `name` is known */
	struct backend_shared_memory name; /* the descriptor is this engine's own; -1: none */
};

/* Makes the memory of a new exportable buffer. NULL: no memory. */
struct shared_memory *shared_memory_create(struct engine *engine, enum backend_export_kind kind,
					   uint32_t device, uint64_t size_bytes);
void shared_memory_join(struct shared_memory *memory, struct buffer *buffer);
/* The last buffer frees the structure and closes its descriptor. */
void shared_memory_leave(struct buffer *buffer);
/* Returns any of its buffers that sessions hold. */
struct buffer *shared_memory_any(const struct shared_memory *memory);
/* Called after an export. The first name is kept, so that the memory is recognised later. Takes the
 * name's descriptor, also on failure. -ENOSYS: this kernel cannot compare descriptors. */
int shared_memory_name(struct shared_memory *memory, const struct backend_shared_memory *name);
/*
 * Finds memory by a descriptor (VMM) or a handle (CUDA_IPC). NULL: this engine has not exported it.
 */
struct shared_memory *shared_memory_find(const struct engine *engine,
					 const struct backend_shared_memory *name);

/* Compares whether two descriptors refer to the same open file. 1 or 0; -ENOSYS: this kernel has no
 * such call. */
int descriptors_equal(int a, int b);
/* True if the descriptor may be memory: a memfd, or a character device as vendors use. Queries of
 * other kinds could block the thread. */
bool descriptor_may_be_memory(int descriptor);

/* An event of a device. Exists as long as a session of this engine holds it, or the device is
 * making it. */
struct event_share {
	struct list link;   /* link in engine.event_shares */
	struct list events; /* struct shared_event.link */
	uint32_t device;
	struct sched_event *sched; /* NULL: released, and only the scheduler's reply is missing */
	bool named;                /* `handle` is known */
	/* The application's own event: it has no handle, and is not recorded here. */
	bool is_native;
	bool answered; /* the scheduler has reported whether it could be made */
	uint8_t handle[SHARE_HANDLE_BYTES];
};

/* `handle` NULL: a new event. NULL: no memory. */
struct event_share *event_share_create(struct engine *engine, uint32_t device,
				       const uint8_t *handle);
void event_share_free(struct event_share *share);
struct event_share *event_share_find(const struct engine *engine, uint32_t device,
				     const uint8_t *handle);

/* Called after the scheduler's end: frees open requests without a reply. */
void shares_fini(struct engine *engine);

#endif
