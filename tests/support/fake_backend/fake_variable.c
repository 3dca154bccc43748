/* Variables of the fake backend's programs: memory that a program has and that USM commands reach
 * (R1). */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "variable ";

bool fake_variable_is(const char *line, size_t length)
{
	return length > sizeof(word) - 1 && memcmp(line, word, sizeof(word) - 1) == 0;
}

static struct fake_variable *find_variable(const struct backend_program *program, const char *name)
{
	struct fake_variable *variable = program->variables;
	while (variable && strcmp(variable->name, name) != 0)
		variable = variable->next;
	return variable;
}

int fake_variable_add(struct backend_program *program, const char *line, size_t length)
{
	char text[128];
	if (length >= sizeof(text))
		return -EINVAL;
	memcpy(text, line, length);
	text[length] = '\0';
	char *name = text + sizeof(word) - 1;
	char *size = strchr(name, ' ');
	if (!size || size == name || size - name >= 64)
		return -EINVAL;
	*size++ = '\0';
	uint64_t size_bytes = strtoull(size, NULL, 10);
	if (size_bytes == 0 || size_bytes > FAKE_ALLOCATION_BYTES_MAX ||
	    find_variable(program, name))
		return -EINVAL;
	struct fake_variable *variable = calloc(1, sizeof(*variable));
	uint8_t *data = calloc(1, size_bytes);
	if (!variable || !data) {
		free(variable);
		free(data);
		return -ENOMEM;
	}
	variable->next = program->variables;
	memcpy(variable->name, name, strlen(name) + 1); /* it fits: checked above */
	variable->size_bytes = size_bytes;
	variable->data = data;
	program->variables = variable;
	return 0;
}

void fake_variables_free(struct backend_program *program)
{
	while (program->variables) {
		struct fake_variable *variable = program->variables;
		program->variables = variable->next;
		free(variable->data);
		free(variable);
	}
}

void fake_program_drop(struct backend_program *program)
{
	fake_lock();
	uint32_t left = --program->references;
	fake_unlock();
	if (left > 0)
		return;
	fake_variables_free(program);
	free(program);
}

static bool is_usm_locked(const struct backend_device *device, const uint8_t *data)
{
	const struct fake_usm *usm = device->usm;
	while (usm && usm->data != data)
		usm = usm->next;
	return usm != NULL;
}

int fake_program_variable(struct backend_program *program, const char *name, void **pointer_out,
			  uint64_t *size_bytes_out, struct backend_fault *fault_out)
{
	struct backend_device *device = program->device;
	const struct fake_variable *variable = find_variable(program, name);
	if (!variable) {
		fake_fault(fault_out, STATUS_INVALID, "the program has no variable '%.100s'", name);
		return -ENOENT;
	}
	struct fake_usm *usm = calloc(1, sizeof(*usm));
	if (!usm) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a variable");
		return -ENOMEM;
	}
	*usm = (struct fake_usm){.kind = BACKEND_USM_DEVICE,
				 .data = variable->data,
				 .size_bytes = variable->size_bytes,
				 .program = program};
	fake_lock();
	bool is_taken = is_usm_locked(device, variable->data);
	if (!is_taken) {
		usm->next = device->usm;
		device->usm = usm;
		program->references++;
		device->slot->counters.usms++;
		device->slot->counters.usm_bytes += usm->size_bytes;
	}
	fake_unlock();
	if (is_taken) {
		free(usm);
		fake_fault(fault_out, STATUS_INVALID,
			   "the variable '%.100s' has been given out already", name);
		return -EEXIST;
	}
	*pointer_out = variable->data;
	*size_bytes_out = variable->size_bytes;
	return 0;
}
