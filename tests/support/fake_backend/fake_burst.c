/* Several launches as one command (fake_device_options.bursts): the values of all launches are
 * stored beside it, and each launch runs with its own. */
#include "fake_internal.h"

#include "status.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static_assert(FAKE_BURST_MAX <= 32, "a bit each");

/* Returns the kernel's only value, or NULL if it has none. `*more_out`: it has further
 * arguments. */
static const struct backend_argument *burst_kernel_value(const struct backend_command *command,
							 bool *more_out)
{
	const struct backend_argument *value = NULL;
	*more_out = false;
	for (uint32_t i = 0; i < command->launch.argument_count; i++) {
		if (command->launch.arguments[i].kind != BACKEND_ARGUMENT_VALUE)
			continue;
		*more_out = value != NULL;
		value = &command->launch.arguments[i];
	}
	return value;
}

static bool is_fit(const struct backend_lane *lane, const struct backend_command *command,
		   uint32_t count)
{
	const struct fake_function *function = command->launch.kernel->function;
	bool more;
	const struct backend_argument *value = burst_kernel_value(command, &more);
	bool plain = function->special == FAKE_PLAIN || function->special == FAKE_FAIL ||
		     function->special == FAKE_FAIL_ODD;
	return lane->device->slot->options.bursts && count <= FAKE_BURST_MAX && plain &&
	       !function->samples && !more &&
	       (!value || value->value.size_bytes == sizeof(uint32_t)) &&
	       !fake_image_is_meant(command);
}

int fake_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out)
{
	struct fake_burst burst = {.count = count};
	bool more;
	if (!is_fit(lane, command, count))
		return -EAGAIN;
	const struct backend_argument *value = burst_kernel_value(command, &more);
	for (uint32_t i = 0; value && i < count; i++)
		memcpy(&burst.values[i],
		       (const uint8_t *)value->value.bytes + (size_t)i * value_stride_bytes,
		       sizeof(uint32_t));
	return fake_submit_as(lane, command, &burst, waits, wait_count, sequence, fault_out);
}

void fake_burst_run_locked(struct fake_command *command, void (*run)(struct fake_command *command))
{
	bool more;
	struct backend_fault first = {.status = STATUS_SUCCESS};
	struct backend_argument *value =
		(struct backend_argument *)burst_kernel_value(&command->command, &more);
	for (uint32_t i = 0; i < command->burst.count; i++) {
		if (value)
			value->value.bytes = &command->burst.values[i];
		run(command);
		if (command->fault.status == STATUS_SUCCESS)
			continue;
		if (!command->burst.failed)
			first = command->fault;
		command->burst.failed |= 1u << i;
		command->fault.status = STATUS_SUCCESS;
	}
	if (command->burst.failed)
		command->fault = first;
}
