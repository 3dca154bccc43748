/* Between the files of spill.h; all of the device's thread. */
#ifndef SYCL_ENGINE_WORKER_SPILL_INTERNAL_H
#define SYCL_ENGINE_WORKER_SPILL_INTERNAL_H

#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/spill/spill.h"

static inline struct worker_spill *spill_of(struct scheduler_device *device)
{
	return &device->worker.spill;
}

/* In a device's step, before commands set aside are tried again: notes which memories they will
 * use, and in which order. */
void worker_spill_mark_needs(struct scheduler_device *device);
/* After they were tried again: brings memories that commands in line will use, and makes room for
 * these. Only copies are begun. */
void worker_spill_look_ahead(struct scheduler_device *device);

/* Called for each memory that the command names. Memories that a graph names are pinned once it is
 * made. */
typedef void spill_mark_function(const struct spill_order *order, struct spill_entry *entry);
void worker_spill_mark(struct scheduler_device *device, const struct task_command *command,
		       spill_mark_function *mark);
/* Marks memories that are in flight, or that the present command needs. */
void worker_spill_mark_all(struct scheduler_device *device);
/*
 * A memory of that size was chosen to leave. Is it better to wait for another one? Then the choice
 * is made again in time.
 */
bool worker_spill_defers(struct scheduler_device *device, uint64_t bytes);
/*
 * Makes a memory from a spare one, or by the driver. `is_full_out`: the driver has no room for it.
 */
int worker_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory **made_out, bool *is_full_out,
			     struct backend_fault *fault);
/* True if an AWAY memory may begin to come. False while another one comes into the place of a
 * LEAVING memory. */
bool worker_spill_may_come(const struct worker_spill *spill);
/* A LEAVING memory whose place this memory could take. NULL: there is none, or there is better
 * room. */
struct sched_memory *worker_spill_find_before(const struct worker_spill *spill,
					      const struct sched_memory *memory);
/* Begins to bring back a memory that is AWAY, into the place of `before`. WORKER_SPILL_WAIT: it has
 * begun. */
int worker_spill_begin_to_follow(struct scheduler_device *device, struct sched_memory *memory,
				 struct sched_memory *before, struct backend_fault *fault);
/*
 * Begins to bring back a memory that is AWAY, into `made`, which is taken in any case.
 * WORKER_SPILL_WAIT: it has begun.
 */
int worker_spill_begin_to_come(struct scheduler_device *device, struct sched_memory *memory,
			       struct backend_memory *made, struct backend_fault *fault);
/*
 * Begins to send a PRESENT memory away, for `instead`. 1: it stays. -ENOMEM: the host has no room.
 * Another error: the device is lost.
 */
int worker_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory,
				const struct sched_memory *instead, struct backend_fault *fault);

/* Sends the copy of one part between the device and a piece. 0: the copy is in flight; or a
 * negative errno. */
int worker_spill_send_part(struct scheduler_device *device, enum spill_direction direction,
			   const struct sched_memory *memory, const struct spill_piece *piece,
			   uint64_t offset_bytes, struct backend_fault *fault);
/*
 * Sends as many parts as possible: a memory that takes the place of another waits for that one. If
 * `is_bad` is set afterwards, the rest could not be sent.
 */
void worker_spill_send_parts(struct scheduler_device *device, enum spill_direction direction,
			     struct sched_memory *memory, struct backend_fault *fault);

/* A memory's copy in this direction is over. Notes it, if a trace is taken. */
void worker_spill_note_copy(struct scheduler_device *device, const struct sched_memory *memory,
			    enum spill_direction direction);
/* The counts of spills have changed: wakes the front thread, unless it has yet to report others. */
void worker_spill_tell(struct scheduler_device *device);
void worker_spill_be_present(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory *handle);
void worker_spill_free_host(struct sched_memory *memory);
/* A spare memory of that size, without a call of the driver. NULL: there is none. */
struct backend_memory *worker_spill_take_spare(struct worker_spill *spill, uint64_t size_bytes);
/* Memory of the device that nothing uses. */
void worker_spill_add_spare(struct scheduler_device *device, struct backend_memory *handle,
			    uint64_t size_bytes);
/* Frees all spare memories. False: there were none. */
bool worker_spill_free_spares(struct scheduler_device *device);

static inline bool worker_spill_is_image(const struct sched_memory *memory)
{
	return memory->image.dimensions > 0;
}

/* Bytes on the device that will be free when the leaving memories have left. */
static inline uint64_t worker_spill_room_to_come(const struct worker_spill *spill)
{
	return spill->ways[SPILL_OUT].bytes - spill->given_bytes;
}

static inline struct sched_memory *worker_spill_memory_of(struct spill_entry *entry)
{
	return (struct sched_memory *)(void *)((char *)entry -
					       offsetof(struct sched_memory, spill.entry));
}

#endif
