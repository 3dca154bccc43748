/*
 * Memory and events that the sessions of one engine share with each other and with other processes.
 * They are found by their names outside. The kernel decides whether a descriptor is one that this
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

/* Exported memory fills whole granules of the device's memory, so a session is charged for whole
 * ones. */
#define SHARE_GRANULE_BYTES (2ull << 20)
#define SHARE_HANDLE_BYTES  64u

/* The memory of an exportable buffer, as long as a session of this engine holds it. */
struct shared_memory {
	struct list link;    /* link in engine.shared_memories */
	struct list buffers; /* struct buffer.shared_link; never empty */
	uint32_t device;
	enum backend_export_kind kind;
	uint64_t size_bytes;
	uint64_t stamp;                    /* the latest group that has named it */
	bool exported;                     /* `name` is known */
	struct backend_shared_memory name; /* the descriptor is this engine's own; -1: none */
};

/* For a new buffer that can be exported. NULL: no memory. */
struct shared_memory *shared_memory_create(struct engine *engine, enum backend_export_kind kind,
					   uint32_t device, uint64_t size_bytes);
void shared_memory_join(struct shared_memory *memory, struct buffer *buffer);
/* With the last buffer the memory is forgotten, its descriptor closed. */
void shared_memory_leave(struct buffer *buffer);
/* Buffers of it that sessions hold: any of them. */
struct buffer *shared_memory_any(const struct shared_memory *memory);
/*
 * The memory was exported: the first name counts, so that it is recognised later. Takes the name's
 * descriptor, also on failure. -ENOSYS: this kernel cannot compare descriptors.
 */
int shared_memory_name(struct shared_memory *memory, const struct backend_shared_memory *name);
/* By a descriptor (VMM) or a handle (CUDA_IPC). NULL: it is not of this engine. */
struct shared_memory *shared_memory_find(const struct engine *engine,
					 const struct backend_shared_memory *name);

/* Do two descriptors mean the same open file? 1 or 0; -ENOSYS: this kernel has no such call. */
int descriptors_equal(int a, int b);
/* Could it be memory at all: a memfd, or a character device as vendors use? Queries of others could
 * block the thread. */
bool descriptor_may_be_memory(int descriptor);

/* An event of a device, as long as a session of this engine holds it, or the device still makes it.
 */
struct event_share {
	struct list link;   /* link in engine.event_shares */
	struct list events; /* struct shared_event.link */
	uint32_t device;
	struct sched_event *sched; /* NULL: released, and only the scheduler's reply is missing */
	bool named;                /* `handle` is known */
	bool is_native; /* the application's own: it has no handle, and is not recorded here */
	bool answered;  /* the scheduler has reported how making it went */
	uint8_t handle[SHARE_HANDLE_BYTES];
};

/* `handle` NULL: a new one. NULL: no memory. */
struct event_share *event_share_create(struct engine *engine, uint32_t device,
				       const uint8_t *handle);
void event_share_free(struct event_share *share);
struct event_share *event_share_find(const struct engine *engine, uint32_t device,
				     const uint8_t *handle);

/* The scheduler has ended: free requests without a reply. */
void shares_fini(struct engine *engine);

#endif
