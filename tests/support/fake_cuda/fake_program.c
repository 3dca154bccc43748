/* A module's text, its variables and its bodies. */
#include "fake_code.h"

#include <stdlib.h>
#include <string.h>

struct fake_program *fake_program_make(void)
{
	return calloc(1, sizeof(struct fake_program));
}

static void code_free(struct fake_code *code)
{
	for (unsigned i = 0; i < code->count; i++)
		for (unsigned n = 0; n < code->instructions[i].operand_count; n++)
			free(code->instructions[i].operands[n].elements);
	free(code->instructions);
	free(code->name);
	free(code);
}

void fake_program_free(struct fake_program *program)
{
	if (!program)
		return;
	while (program->codes) {
		struct fake_code *code = program->codes;
		program->codes = code->next;
		code_free(code);
	}
	if (program->data)
		fake_range_drop(program->data);
	free(program->text);
	free(program);
}

const struct fake_variable *fake_program_variable(const struct fake_program *program,
						  const char *name, size_t length)
{
	for (unsigned i = 0; i < program->variable_count; i++) {
		const struct fake_variable *variable = &program->variables[i];
		if (variable->length == length && memcmp(variable->name, name, length) == 0)
			return variable;
	}
	return NULL;
}

struct fake_code *fake_program_code(const struct fake_program *program, const char *name,
				    size_t length)
{
	for (struct fake_code *code = program->codes; code; code = code->next)
		if (strlen(code->name) == length && memcmp(code->name, name, length) == 0)
			return code;
	return NULL;
}

bool fake_code_is_empty(const struct fake_code *code)
{
	return !code || code->count == 0 ||
	       (code->count == 1 && code->instructions[0].opcode == OP_RET);
}

bool fake_code_waits(const struct fake_code *code)
{
	static const char wait[] = "griddepcontrol.wait";

	for (unsigned i = 0; code && i < code->count; i++)
		if (code->instructions[i].text_length == sizeof(wait) - 1 &&
		    memcmp(code->instructions[i].text, wait, sizeof(wait) - 1) == 0)
			return true;
	return false;
}

bool fake_program_global(const struct fake_program *program, const char *name,
			 CUdeviceptr *address_out, size_t *size_out)
{
	const struct fake_variable *variable =
		program ? fake_program_variable(program, name, strlen(name)) : NULL;

	if (!variable || variable->space == SPACE_SHARED)
		return false;
	if (address_out)
		*address_out = variable->offset;
	if (size_out)
		*size_out = variable->size;
	return true;
}
