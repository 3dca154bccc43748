/* Buffers: their contents by interval, and the memory that these have on devices. */
#ifndef SYCL_ENGINE_SCHED_BUFFER_H
#define SYCL_ENGINE_SCHED_BUFFER_H

#include "base/interval_map.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/task.h"
#include "worker/state/spill.h"

#include "backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SCHED_INTERVALS_MAX                                                                        \
	4096u /* the limit of one buffer, for order and for places; see dependencies.h */
#define SCHED_INTERVALS_KEPT                                                                       \
	64u /* with more, equal neighbours are joined; fewer are likely to be cut again */
#define SCHED_LINKS_MAX 16384u /* nodes of one buffer, for readers of several spans */
#define SCHED_NODES_MAX                                                                            \
	(2u << 20) /* of all buffers; with more no span or piece is divided any more, see          \
		      dependencies.h */
#define SCHED_VISITS_MAX (1u << 18) /* spans and pieces that one task may visit */
#define SCHED_HOST_PLACE 0u

/* Part of a buffer: the open tasks that write or read it, in the order of submission. */
struct sched_span {
	struct interval interval;
	struct task *writer;   /* the last writer, while it is open */
	uint64_t waited;       /* identity of the latest task that has waited for this span */
	bool waited_as_writer; /* that task waited as a writer does, for all uses */
	struct task_link_list readers, host_readers; /* open uses since that write */
};

/* Part of a buffer: where its contents are. */
struct sched_piece {
	struct interval interval;
	uint64_t valid;              /* bit per place that has the contents; 0: none */
	uint64_t hosts;              /* bit per buffer whose host range has them */
	struct task *author;         /* the open task that writes these contents */
	struct sched_cause *poison;  /* the write failed with this cause */
	struct task_link_list moves; /* open uses since that write */
};

/* Links, spans and pieces come from one pool: many are needed at a time, or none. */
union sched_node {
	struct task_link link;
	struct sched_span span;
	struct sched_piece piece;
};

/*
 * Memory of contents on one device. On a device with unified memory: a view of one buffer's host
 * range.
 */
struct sched_memory {
	struct sched_message message;
	struct sched_memory *next;
	struct sched_buffer *buffer; /* its buffer, on a unified device or where the contents are
					not shared; else NULL */
	struct sched_contents *contents; /* its contents, where `buffer` is NULL */
	struct scheduler_device *device;
	uint64_t size_bytes;
	void *host; /* NULL: the device allocates it */
	enum backend_export_kind export_kind;
	struct backend_image image;    /* the same as in `contents` */
	bool imported;                 /* made from `shared` or `native`, once */
	struct sched_account *account; /* charged for it; NULL: none */
	struct list account_link;
	uint64_t native;   /* the application's native memory; 0: none */
	bool is_temporary; /* a temporary of a graph: the backend's graph may have its own memory
			      for it (graph.h) */
	uint64_t gathered; /* device thread: stamp of the latest graph that lists it */
	struct backend_shared_memory shared;
	struct backend_fault fault; /* device thread: why it could not be imported */
	/* Made by its device thread. Other device threads that copy from it read it, too. */
	_Atomic(struct backend_memory *) handle; /* NULL: not made yet, or spilled (spill.h) */
	struct spill_memory spill;
};

/*
 * The contents of a buffer, by interval. Spans have the order, pieces the places of contents. They
 * differ, because a ranged accessor orders like its whole buffer (C21). A buffer that is not used
 * in parts has one span, one piece and no nodes.
 */
struct sched_contents {
	struct scheduler *scheduler;
	uint64_t size_bytes;
	struct backend_image image; /* dimensions 0: a buffer */
	struct sched_memory
		*memories; /* of devices with their own memory; for an image, of all devices */
	struct sched_memory *home; /* shared contents live in this one for good; NULL: not shared */
	struct scheduler_device *home_device; /* device of `home`, set before `home` is made; the
						 only device of a temporary */
	bool is_temporary;
	uint32_t home_place;
	struct interval_map spans,
		pieces; /* of [0, size_bytes), or of [0, 1) where there are no bytes */
	struct sched_span first_span;
	struct sched_piece first_piece;
	uint64_t
		relieved; /* identity of the latest task for which everything possible was joined */
	uint32_t links;   /* nodes in use by readers */
	uint32_t planned; /* nodes that the task with identity `planned_for` will need */
	uint64_t planned_for;
	uint32_t references; /* buffers that share them */
	uint64_t host_bits;  /* host bits in use by these */
};

struct sched_buffer {
	struct sched_contents *contents; /* `own`, or those of other buffers */
	uint32_t references;             /* open tasks and the owner */
	uint32_t frees_away;
	uint64_t host_bit; /* its bit in a piece's `hosts`; 0: none was free, so its host range
			      never counts as valid */
	struct sched_contents own;
	struct sched_memory *memories; /* views of devices with unified memory */
	struct scheduler *scheduler;
	uint64_t number; /* counts buffers; for dumps */
	void *owner, *host;
	/* Bit per device with which its host range was registered when the scheduler's
	 * `host_changes` was so. */
	uint64_t registered, registered_at;
	struct sched_account *account; /* charged for its device memory; NULL: none */
	struct sched_notice notice;
};

void sched_buffer_drop(struct sched_buffer *buffer);
void sched_memory_freed(void *object);
void sched_contents_init(struct sched_contents *contents, struct sched_buffer *buffer,
			 uint64_t size_bytes, uint64_t valid);
void sched_contents_fini(struct sched_contents *contents);
/*
 * The place of contents on a device: its index + 1, or the host's place on a unified device.
 * Images, native memory and temporaries are never in the host's place: the host cannot read the
 * first two, and the last has no host range.
 */
static inline uint32_t sched_place_of(const struct sched_contents *contents,
				      const struct scheduler_device *device)
{
	return contents->image.dimensions > 0 || contents->home_device == device ? device->index + 1
										 : device->place;
}
/* The memory of the buffer on the device, created if it is new. -ENOMEM; -ENOSPC: beyond a quota.
 */
int sched_memory_need(struct sched_buffer *buffer, struct scheduler_device *device,
		      struct sched_memory **memory_out);
/* The same; NULL: it is not there and cannot be created. */
struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device);

#endif
