/* USM that a backend allocates, and its commands. */
#ifndef SYCL_ENGINE_SCHED_USM_H
#define SYCL_ENGINE_SCHED_USM_H

#include "base/mailbox.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/task.h"

#include "backend.h"

#include <stdint.h>

/* An allocation or a variable of a program. */
struct sched_usm {
	struct sched_message message;
	struct scheduler_device *device;
	void *owner;
	enum backend_usm_kind kind;
	uint64_t size_bytes, alignment_bytes;
	struct sched_program *program; /* program of the variable `name`, held until it is found;
					  NULL: an allocation */
	char *name;                    /* NULL: an allocation */
	struct sched_notice notice;
	/* the loader's, until the message comes back, as is `size_bytes` of a variable */
	void *pointer; /* NULL: not allocated */
	struct backend_fault fault;
};

void sched_usm_returned(void *object);
void sched_usm_notify(void *object);
/* `at`: storage for the pattern of a fill. */
void sched_usm_fill_command(struct task_command *command, const struct task_request *request,
			    uint8_t *at);

#endif
