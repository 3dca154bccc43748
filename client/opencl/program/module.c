/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPIR-V modules: whether bytes are one, and the values of its specialization constants. A value is
 * written into the driver's copy of the module, because that is all that specialization is: the
 * service gets a module whose constants have these defaults.
 */
#include "program/program.h"

#include <string.h>

enum { MAGIC = 0x07230203, HEADER_WORDS = 5 };
enum {
	OP_TYPE_BOOL = 20,
	OP_TYPE_INT = 21,
	OP_TYPE_FLOAT = 22,
	OP_SPEC_CONSTANT_TRUE = 48,
	OP_SPEC_CONSTANT_FALSE = 49,
	OP_SPEC_CONSTANT = 50,
	OP_DECORATE = 71,
};
enum { DECORATION_SPEC_ID = 1 };

struct instruction {
	uint32_t *words; /* the first has the number of words and the opcode */
	uint32_t count;
	uint16_t op;
};

/* The instruction at `*at`, which then is the place of the next one. False: there is none, or the
 * rest is none. */
static bool module_next(uint32_t *words, size_t total, size_t *at, struct instruction *out)
{
	if (*at >= total)
		return false;
	const uint32_t count = words[*at] >> 16;
	if (count == 0 || count > total - *at)
		return false;
	*out = (struct instruction){&words[*at], count, (uint16_t)words[*at]};
	*at += count;
	return true;
}

bool module_is_good(const void *bytes, size_t count)
{
	uint32_t magic = 0;
	if (count % sizeof(magic) != 0 || count < HEADER_WORDS * sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == MAGIC;
}

/* The first instruction behind `*at` with that opcode and these operands: word `place` is `value`.
 */
static bool module_find(uint32_t *words, size_t total, size_t *at, uint16_t op, uint32_t place,
			uint32_t value, struct instruction *out)
{
	while (module_next(words, total, at, out))
		if (out->op == op && out->count > place && out->words[place] == value)
			return true;
	return false;
}

/* Bytes of a constant of that type, as a program gives them. 0: no type of a constant. */
static size_t constant_bytes(uint32_t *words, size_t total, uint32_t type)
{
	struct instruction found;
	size_t at = HEADER_WORDS;
	while (module_next(words, total, &at, &found)) {
		if (found.count < 2 || found.words[1] != type)
			continue;
		if (found.op == OP_TYPE_BOOL)
			return 1;
		if ((found.op == OP_TYPE_INT || found.op == OP_TYPE_FLOAT) && found.count > 2)
			return found.words[2] <= 64 ? found.words[2] / 8 : 0;
	}
	return 0;
}

/* The literal of a small number is a word of its own, with zeroes above: in OpenCL's modules all
 * integers are unsigned. */
static void write_number(struct instruction *constant, const void *value, size_t bytes)
{
	uint32_t low = 0;
	if (bytes == sizeof(uint64_t)) {
		memcpy(&constant->words[3], value, bytes);
		return;
	}
	memcpy(&low, value, bytes);
	constant->words[3] = low;
}

static void write_boolean(struct instruction *constant, const void *value)
{
	unsigned char is_true = 0;
	memcpy(&is_true, value, 1);
	constant->words[0] = constant->count << 16 |
			     (uint32_t)(is_true ? OP_SPEC_CONSTANT_TRUE : OP_SPEC_CONSTANT_FALSE);
}

/* Sets the constant with the result `id`. False: there is none of so many bytes. */
static bool set_constant(uint32_t *words, size_t total, uint32_t id, size_t bytes,
			 const void *value)
{
	struct instruction found;
	size_t at = HEADER_WORDS;
	while (module_next(words, total, &at, &found)) {
		const bool is_boolean =
			found.op == OP_SPEC_CONSTANT_TRUE || found.op == OP_SPEC_CONSTANT_FALSE;
		if ((!is_boolean && found.op != OP_SPEC_CONSTANT) || found.count < 3 ||
		    found.words[2] != id)
			continue;
		const size_t wanted = constant_bytes(words, total, found.words[1]);
		if (wanted == 0 || wanted != bytes ||
		    (!is_boolean && found.count < 4 + (bytes == sizeof(uint64_t))))
			return false;
		if (is_boolean)
			write_boolean(&found, value);
		else
			write_number(&found, value, bytes);
		return true;
	}
	return false;
}

cl_int module_set_constant(uint32_t *words, size_t bytes, cl_uint spec_id, size_t value_bytes,
			   const void *value)
{
	const size_t total = bytes / sizeof(*words);
	struct instruction decoration;
	size_t at = HEADER_WORDS;
	cl_int code = CL_INVALID_SPEC_ID;
	while (module_find(words, total, &at, OP_DECORATE, 2, DECORATION_SPEC_ID, &decoration)) {
		if (decoration.count < 4 || decoration.words[3] != spec_id)
			continue;
		if (!set_constant(words, total, decoration.words[1], value_bytes, value))
			return CL_INVALID_VALUE;
		code = CL_SUCCESS;
	}
	return code;
}
