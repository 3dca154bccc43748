/* Buffers: their contents by interval, and the memory that these have on devices. */
#ifndef SYCL_ENGINE_SCHED_BUFFER_H
#define SYCL_ENGINE_SCHED_BUFFER_H

#include "base/interval_map.h"
#include "base/mailbox.h"
#include "scheduler/device.h"
#include "scheduler/notice.h"
#include "scheduler/task.h"
#include "worker/spill.h"

#include "backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SCHED_INTERVALS_MAX                                                                        \
	4096u /* of one buffer, for order and for places; see dependencies.h                       \
	       */
#define SCHED_INTERVALS_KEPT                                                                       \
	64u /* before equal ones are joined that nobody asks for in one: likely to be cut again */
#define SCHED_LINKS_MAX 16384u /* of one buffer: readers that are linked into several spans */
#define SCHED_NODES_MAX                                                                            \
	(2u << 20) /* of all buffers; with more nothing is cut any more, see dependencies.h        \
		    */
#define SCHED_VISITS_MAX                                                                           \
	(1u << 18) /* parts of buffers that the requirements of one task may have together */
#define SCHED_HOST_PLACE 0u

/* Part of a buffer: who has it, in the order of submission. */
struct sched_span {
	struct interval interval;
	struct task *writer;   /* the last one, while it is open */
	uint64_t waited;       /* identity of the task that has seen it last, to wait ... */
	bool waited_as_writer; /* ... for all that is here */
	struct task_link_list readers, host_readers; /* open, since that write */
};

/* Part of a buffer: where its contents are. */
struct sched_piece {
	struct interval interval;
	uint64_t valid;      /* bit per place; 0: no contents anywhere */
	uint64_t hosts;      /* of the host's place: bit per buffer in whose range they are good */
	struct task *author; /* whose write these contents are, while it is open */
	struct sched_cause *poison;  /* that write failed */
	struct task_link_list moves; /* open, since that write */
};

/* What comes from one pool: many are needed at a time or none. */
union sched_node {
	struct task_link link;
	struct sched_span span;
	struct sched_piece piece;
};

/* The memory of contents on one device; for a device with unified memory a view of the host's range
 * of a buffer. */
struct sched_memory {
	struct sched_message message;
	struct sched_memory *next;
	struct sched_buffer
		*buffer; /* whose it is: then of a unified device, or of contents of its own ... */
	struct sched_contents *contents; /* ... or NULL, and whose then */
	struct scheduler_device *device;
	uint64_t size_bytes;
	void *host; /* NULL: memory of its own */
	enum backend_export_kind export_kind;
	struct backend_image image;    /* as of its contents */
	bool imported;                 /* made from `shared` or `native`, never again */
	struct sched_account *account; /* whose device memory it is; NULL: nobody's */
	struct list account_link;
	uint64_t native;   /* the application's memory; 0: none */
	bool is_temporary; /* of a graph: a graph of the backend's may have memory of its own for it
			      (graph.h) */
	uint64_t gathered; /* device thread: the latest making of a graph that has it in its list */
	struct backend_shared_memory shared;
	struct backend_fault fault; /* device thread: why it could not be imported */
	/* Made by its device's thread; NULL: not made yet. Also read by the thread of a device that
	 * copies from it. */
	_Atomic(struct backend_memory *) handle; /* NULL also while it is not there: spill.h */
	struct spill_memory spill;
};

/*
 * What is in a buffer, by interval. Two maps, because what orders and what is touched differ: a
 * ranged accessor orders like its whole buffer (C21). A buffer that nobody uses in parts has one
 * span and one piece, and no nodes.
 */
struct sched_contents {
	struct scheduler *scheduler;
	uint64_t size_bytes;
	struct backend_image image; /* dimensions 0: a buffer */
	struct sched_memory
		*memories; /* of devices with memory of their own; of an image of all devices */
	struct sched_memory *home; /* one of them: shared, and here for good; NULL: not shared */
	struct scheduler_device
		*home_device; /* its device, set before it is made; of a temporary: the only one */
	bool is_temporary;
	uint32_t home_place;
	struct interval_map spans,
		pieces; /* of [0, size_bytes), or of [0, 1) if there are no bytes */
	struct sched_span first_span;
	struct sched_piece first_piece;
	uint64_t relieved; /* identity of the last task for which all that could be was joined */
	uint32_t links;    /* nodes that readers have */
	uint32_t planned;  /* and that the task will have whose identity is `planned_for` */
	uint64_t planned_for;
	uint32_t references; /* of shared ones: buffers */
	uint64_t host_bits;  /* that these have */
};

struct sched_buffer {
	struct sched_contents *contents; /* `own`, or shared with other buffers */
	uint32_t references;             /* open tasks, and the owner */
	uint32_t frees_away;
	uint64_t host_bit; /* for its own range in a piece's hosts; 0: there are too many, it is
			      never good */
	struct sched_contents own;
	struct sched_memory *memories; /* of devices with unified memory */
	struct scheduler *scheduler;
	uint64_t number; /* in the order of making, for people */
	void *owner, *host;
	struct sched_account *account; /* pays for what it has on devices; NULL: nobody */
	struct sched_notice notice;
};

void sched_buffer_drop(struct sched_buffer *buffer);
void sched_memory_freed(struct sched_memory *memory);
void sched_contents_init(struct sched_contents *contents, struct sched_buffer *buffer,
			 uint64_t size_bytes, uint64_t valid);
void sched_contents_fini(struct sched_contents *contents);
/*
 * An image's memory is opaque to the host, also on a device with unified memory, and so is the
 * application's own, and a temporary's has no host range: there it is a place of its own, which is
 * the device's index + 1 as everywhere else.
 */
static inline uint32_t sched_place_of(const struct sched_contents *contents,
				      const struct scheduler_device *device)
{
	return contents->image.dimensions > 0 || contents->home_device == device ? device->index + 1
										 : device->place;
}
/* Of that buffer on that device, made here if it is new. -ENOMEM; -ENOSPC: beyond a quota. */
int sched_memory_need(struct sched_buffer *buffer, struct scheduler_device *device,
		      struct sched_memory **memory_out);
/* The same; NULL: neither there nor to be had. */
struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device);

#endif
