/* Launches in a row, and perhaps a read, as one command (fake_device_options.rows). They run as
 * commands of their own, of which only the last one is reported; none runs behind one that failed.
 */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_ROW_MAX 9u

struct backend_row {
	struct backend_device *device;
	uint32_t count;
	struct fake_command *commands[FAKE_ROW_MAX]; /* NULL: not set yet */
};

int fake_row_make(struct backend_device *device, uint32_t count, struct backend_row **row_out)
{
	if (!device->slot->options.rows || count > FAKE_ROW_MAX)
		return -EAGAIN;
	struct backend_row *row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->device = device;
	row->count = count;
	*row_out = row;
	return 0;
}

void fake_row_free(struct backend_row *row)
{
	for (uint32_t i = 0; row && i < row->count; i++)
		free(row->commands[i]);
	free(row);
}

int fake_row_set(struct backend_row *row, uint32_t index, const struct backend_command *command)
{
	const bool is_last = index + 1 == row->count;
	if (command->kind != BACKEND_COMMAND_LAUNCH &&
	    (command->kind != BACKEND_COMMAND_READ || !is_last))
		return -EAGAIN;
	struct fake_command *copy = fake_command_copy(NULL, command, NULL, 0, 0);
	if (!copy)
		return -ENOMEM;
	free(row->commands[index]);
	row->commands[index] = copy;
	return 0;
}

static void append_locked(struct backend_lane *lane, struct fake_command *command)
{
	if (lane->last)
		lane->last->next = command;
	else
		lane->first = command;
	lane->last = command;
}

int fake_row_submit(struct backend_lane *lane, struct backend_row *row,
		    const struct backend_command *last, uint64_t sequence,
		    struct backend_fault *fault_out)
{
	struct fake_command *parts[FAKE_ROW_MAX];
	(void)last;
	for (uint32_t i = 0; i < row->count; i++) {
		const struct backend_command *command = &row->commands[i]->command;
		parts[i] = fake_command_check(lane, command, fault_out) < 0
				   ? NULL
				   : fake_command_copy(lane, command, NULL, 0, sequence);
		if (parts[i])
			continue;
		while (i > 0)
			free(parts[--i]);
		return -EAGAIN;
	}
	fake_lock();
	const bool is_lost = fake_lost_locked(lane->device, fault_out);
	for (uint32_t i = 0; i < row->count; i++) {
		parts[i]->row_index = i;
		parts[i]->row_goes_on = i + 1 < row->count;
		if (is_lost)
			free(parts[i]);
		else
			append_locked(lane, parts[i]);
	}
	fake_unlock();
	return is_lost ? -EAGAIN : 0;
}

void fake_row_ended_locked(struct fake_command *command, struct fake_command *next)
{
	if (command->fault.status != STATUS_SUCCESS && !command->burst.failed)
		command->burst.failed = 1u << command->row_index;
	if (!command->row_goes_on || !command->burst.failed)
		return;
	next->burst.failed = command->burst.failed;
	next->fault = command->fault;
}
