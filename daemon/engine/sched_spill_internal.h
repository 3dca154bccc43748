/* Between the files of sched_spill.h; all of the device's thread. */
#ifndef SYCL_ENGINE_SCHED_SPILL_INTERNAL_H
#define SYCL_ENGINE_SCHED_SPILL_INTERNAL_H

#include "sched_internal.h"

/* In a device's step, before those that were set aside are tried again: what they will use, and in which order. */
void sched_spill_line_up(struct scheduler_device *device);
/* ... and when they have been: bring what those in line will use, and make room for it. Copies alone are begun. */
void sched_spill_look_ahead(struct scheduler_device *device);

/* For each memory that the command names; what a graph names is pinned once it is made. */
typedef void spill_mark_function(const struct spill_order *order, struct spill_entry *entry);
void sched_spill_mark(struct scheduler_device *device, const struct task_send *send, spill_mark_function *mark);
/* What is in flight, or needed by the command at hand. */
void sched_spill_mark_all(struct scheduler_device *device);
/* From what others have left, or from the driver. `is_full_out`: not, as there is no room. */
int sched_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			    struct backend_memory **made_out, bool *is_full_out, struct backend_fault *fault);
/* It is AWAY. SCHED_SPILL_WAIT: it has begun. `made` is taken in any case. */
int sched_spill_begin_to_come(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *made,
			      struct backend_fault *fault);
/* It is PRESENT. 1: it stays. -ENOMEM: because there is no room in the host. Another error: the device is lost. */
int sched_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory,
			       struct backend_fault *fault);

static inline struct sched_memory *sched_spill_memory_of(struct spill_entry *entry)
{
	return (struct sched_memory *)(void *)((char *)entry - offsetof(struct sched_memory, spill.entry));
}

#endif
