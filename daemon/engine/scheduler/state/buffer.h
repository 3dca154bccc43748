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

/* Most spans or pieces of one buffer; see dependencies.h. */
#define SCHED_INTERVALS_MAX 4096u
/* Above this number, equal neighbours are joined; fewer are likely to be cut again. */
#define SCHED_INTERVALS_KEPT 64u
#define SCHED_LINKS_MAX      16384u /* nodes of one buffer, for readers of several spans */
/* Most nodes of all buffers; beyond that no span or piece is divided, see dependencies.h. */
#define SCHED_NODES_MAX  (2u << 20)
#define SCHED_VISITS_MAX (1u << 18) /* spans and pieces that one task may visit */
#define SCHED_HOST_PLACE 0u

/* Part of a buffer: the open tasks that write or read it, in the order of submission. */
struct sched_span {
	struct interval interval;
	struct task *writer;   /* the last writer, while it is open */
	uint64_t waited;       /* identity of the latest task that has waited for this span */
	bool waited_as_writer; /* that task waited as a writer waits, for all uses */
	struct task_link_list readers, host_readers; /* open uses since that write */
};

/* Part of a buffer: where its contents are. */
struct sched_piece {
	struct interval interval;
	uint64_t valid;              /* bit per place that has the contents; 0: none */
	uint64_t hosts;              /* bit per buffer whose host range has them */
	struct task *author;         /* the task that writes these contents, while it is open */
	struct sched_cause *poison;  /* the cause with which the write failed; NULL: it did not */
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
	/* The memory's buffer, on a unified device or if the contents are not shared; else NULL. */
	struct sched_buffer *buffer;
	struct sched_contents *contents; /* the contents of the memory, if `buffer` is NULL */
	struct scheduler_device *device;
	uint64_t size_bytes;
	/* Host range that the memory is a view of; NULL: the device allocates the memory. */
	void *host;
	enum backend_export_kind export_kind;
	struct backend_image image;    /* the same as in `contents` */
	bool imported;                 /* made from `shared` or `native`, once */
	struct sched_account *account; /* the account that is charged for the memory; NULL: none */
	struct list account_link;
	uint64_t native;   /* the application's native memory; 0: none */
	bool is_temporary; /* a temporary of a graph: the backend's graph may have its own memory
			      for it (graph.h) */
	uint64_t gathered; /* device thread: stamp of the latest graph that lists it */
	struct backend_shared_memory shared;
	struct backend_fault fault; /* device thread: why the memory could not be imported */
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
	/* Memories on devices with memory of their own; for an image, on all devices. */
	struct sched_memory *memories;
	/* The memory in which shared contents live for good; NULL: the contents are not shared. */
	struct sched_memory *home;
	struct scheduler_device *home_device; /* device of `home`, set before `home` is made; the
						 only device of a temporary */
	bool is_temporary;
	uint32_t home_place;
	struct interval_map spans, pieces; /* maps of [0, size_bytes), or of [0, 1) without bytes */
	struct sched_span first_span;
	struct sched_piece first_piece;
	uint64_t
		relieved; /* identity of the latest task for which everything possible was joined */
	uint32_t links;   /* nodes in use by readers */
	uint32_t planned; /* nodes that the task with identity `planned_for` will need */
	uint64_t planned_for;
	uint32_t references; /* number of buffers with these contents */
	uint64_t host_bits;  /* host bits that these buffers use */
};

struct sched_buffer {
	struct sched_contents *contents; /* `own`, or the contents that other buffers share */
	uint32_t references;             /* open tasks and the owner */
	uint16_t frees_away;             /* at most one for each device and view */
	uint16_t host_reads; /* accesses so far that only read; it may start again at 0 */
	/* The buffer's bit in a piece's `hosts`; 0: none was free, so its host range never counts
	 * as valid. */
	uint64_t host_bit;
	struct sched_contents own;
	struct sched_memory *memories; /* views of devices with unified memory */
	struct scheduler *scheduler;
	uint64_t number; /* counts buffers; for dumps */
	void *owner, *host;
	/* A bit for each device with which the host range was registered when the scheduler's
	 * `host_changes` had the value `registered_at`. */
	uint64_t registered, registered_at;
	/* The account that is charged for its device memory; NULL: none. */
	struct sched_account *account;
	struct sched_notice notice;
};

void sched_buffer_drop(struct sched_buffer *buffer);
void sched_memory_freed(void *object);
void sched_contents_init(struct sched_contents *contents, struct sched_buffer *buffer,
			 uint64_t size_bytes, uint64_t valid);
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
/* The same; NULL: the memory is not there and cannot be created. */
struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device);

#endif
