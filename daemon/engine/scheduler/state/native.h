/* Questions about native handles, and devices in native contexts. */
#ifndef SYCL_ENGINE_SCHED_NATIVE_H
#define SYCL_ENGINE_SCHED_NATIVE_H

#include "base/mailbox.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_buffer;

enum sched_native_question {
	SCHED_NATIVE_OPENED,
	SCHED_NATIVE_GET,
	SCHED_NATIVE_LANE_MAKE,
	SCHED_NATIVE_LANE_FREE, /* has no callback */
};

struct sched_native {
	struct sched_message message;
	struct scheduler_device *device;
	void *owner;
	enum sched_native_question question;
	enum backend_native_kind kind;
	uint32_t lane; /* home lane of a queue */
	void *object;  /* struct sched_memory, sched_program, sched_kernel, sched_event */
	bool makes;    /* creates the memory if it does not exist */
	struct sched_buffer *buffer; /* buffer of a memory, held until the reply */
	struct sched_notice notice;
	uint64_t native; /* the native handle: given or requested */
	struct backend_fault fault;
};

/* Adds a device behind the discovered ones, with one holder. -ENOSPC: there are too many. */
int sched_device_add(struct scheduler *scheduler, const struct scheduler_device_info *info,
		     uint64_t native_context, struct scheduler_device **device_out);

void sched_native_returned(void *object);
void sched_native_notify(void *object);
/* Stops devices of native contexts without holders and memories. */
void sched_native_retire(struct scheduler *scheduler);

#endif
