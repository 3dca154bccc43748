/* Between the files of spill.h; all of the device's thread. */
#ifndef SYCL_ENGINE_SCHED_SPILL_INTERNAL_H
#define SYCL_ENGINE_SCHED_SPILL_INTERNAL_H

#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/spill.h"

/* In a device's step, before those that were set aside are tried again: what they will use, and in
 * which order. */
void sched_spill_line_up(struct scheduler_device *device);
/* ... and when they have been: bring what those in line will use, and make room for it. Copies
 * alone are begun. */
void sched_spill_look_ahead(struct scheduler_device *device);

/* For each memory that the command names; what a graph names is pinned once it is made. */
typedef void spill_mark_function(const struct spill_order *order, struct spill_entry *entry);
void sched_spill_mark(struct scheduler_device *device, const struct task_command *command,
		      spill_mark_function *mark);
/* What is in flight, or needed by the command at hand. */
void sched_spill_mark_all(struct scheduler_device *device);
/* Of so much, something has just been chosen. Is it worth while to wait for what would be better?
 * Then it is looked again in time. */
bool sched_spill_defers(struct scheduler_device *device, uint64_t bytes);
/* From what others have left, or from the driver. `is_full_out`: not, as there is no room. */
int sched_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			    struct backend_memory **made_out, bool *is_full_out,
			    struct backend_fault *fault);
/* May what is AWAY begin to come? Not while another one follows what leaves. */
bool sched_spill_may_come(const struct sched_spill *spill);
/* What leaves, and whose place on the device it could have. NULL: there is none, or room that is
 * better. */
struct sched_memory *sched_spill_find_before(const struct sched_spill *spill,
					     const struct sched_memory *memory);
/* It is AWAY, and may come. SCHED_SPILL_WAIT: it has begun. */
int sched_spill_begin_to_follow(struct scheduler_device *device, struct sched_memory *memory,
				struct sched_memory *before, struct backend_fault *fault);
/* It is AWAY, and may come. SCHED_SPILL_WAIT: it has begun. `made` is taken in any case. */
int sched_spill_begin_to_come(struct scheduler_device *device, struct sched_memory *memory,
			      struct backend_memory *made, struct backend_fault *fault);
/* It is PRESENT; `instead` needs the room. 1: it stays. -ENOMEM: because there is no room in the
 * host. Another error: the device is lost. */
int sched_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory,
			       const struct sched_memory *instead, struct backend_fault *fault);

void sched_spill_be_present(struct scheduler_device *device, struct sched_memory *memory,
			    struct backend_memory *handle);
void sched_spill_give_host(struct sched_memory *memory);
/* Memory of the device that nothing uses. */
void sched_spill_give_spare(struct scheduler_device *device, struct backend_memory *handle,
			    uint64_t size_bytes);
/* False: there were none. */
bool sched_spill_free_spares(struct scheduler_device *device);

static inline bool sched_spill_is_image(const struct sched_memory *memory)
{
	return memory->image.dimensions > 0;
}

/* On the device, when what leaves has left, and nobody's yet. */
static inline uint64_t sched_spill_room_to_come(const struct sched_spill *spill)
{
	return spill->ways[SPILL_OUT].bytes - spill->given_bytes;
}

static inline struct sched_memory *sched_spill_memory_of(struct spill_entry *entry)
{
	return (struct sched_memory *)(void *)((char *)entry -
					       offsetof(struct sched_memory, spill.entry));
}

#endif
