/* Causes of failures, and faults as the client receives them. */
#include "base/cause.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sched_cause no_memory = {
	.fault = {.status = STATUS_MEMORY_ALLOCATION,
		  .text = "a command failed, and there was no memory to record the reason"},
};

struct sched_cause *sched_cause_create(const struct backend_fault *fault)
{
	struct sched_cause *cause = malloc(sizeof(*cause));
	if (!cause)
		return &no_memory;
	cause->references = 1;
	cause->fault = *fault;
	return cause;
}

struct sched_cause *sched_cause_hold(struct sched_cause *cause)
{
	if (cause != &no_memory)
		cause->references++;
	return cause;
}

void sched_cause_drop(struct sched_cause *cause)
{
	if (cause && cause != &no_memory && --cause->references == 0)
		free(cause);
}

void sched_cause_derive(const struct sched_cause *cause, struct backend_fault *fault_out)
{
	struct backend_fault fault = {.status = STATUS_DEPENDENCY_FAILED,
				      .native_code = cause->fault.native_code};
	const char *before = cause->fault.status == STATUS_DEPENDENCY_FAILED
				     ? ""
				     : "a command that it depends on failed: ";
	size_t used = strlen(before);
	memcpy(fault.text, before, used);
	size_t length = strnlen(cause->fault.text, sizeof(cause->fault.text));
	if (length > sizeof(fault.text) - 1 - used)
		length = sizeof(fault.text) - 1 - used;
	memcpy(fault.text + used, cause->fault.text, length);
	*fault_out = fault;
}

void sched_fault_complete(struct backend_fault *fault, int negative_errno)
{
	if (fault->device_lost)
		fault->status = STATUS_DEVICE_LOST;
	/* An input/output error alone does not mean a lost device: the driver would have reported
	 * the loss. */
	if (fault->status == STATUS_SUCCESS)
		fault->status =
			negative_errno == -EIO ? STATUS_RUNTIME : status_from_errno(negative_errno);
	if (fault->text[0] == '\0')
		(void)snprintf(fault->text, sizeof(fault->text), "the driver refused: %s",
			       strerrordesc_np(-negative_errno));
}
