#include "opencl/program/spirv.h"

#include "cleanup.h"

#include <string.h>

#define HEADER_WORDS 5u
#define IDS_MAX      (1u << 22)

/* SPIR-V's numbers of instructions. */
enum {
	OP_ENTRY_POINT = 15,
	OP_TYPE_INT = 21,
	OP_TYPE_FLOAT = 22,
	OP_TYPE_VECTOR = 23,
	OP_TYPE_IMAGE = 25,
	OP_TYPE_SAMPLER = 26,
	OP_TYPE_ARRAY = 28,
	OP_TYPE_STRUCT = 30,
	OP_TYPE_POINTER = 32,
	OP_FUNCTION = 54,
	OP_FUNCTION_PARAMETER = 55,
	OP_FUNCTION_END = 56,
};
enum { MODEL_KERNEL = 6 };
enum {
	CLASS_UNIFORM_CONSTANT = 0,
	CLASS_WORKGROUP = 4,
	CLASS_CROSS_WORKGROUP = 5,
	CLASS_FUNCTION = 7
};

/* Facts about an id that is a type. */
struct type {
	uint16_t op;
	uint32_t storage; /* storage class of a pointer */
	uint32_t bytes;   /* 0: not known */
};

struct reader {
	const char *kernel;
	struct type *types;
	uint32_t bound;
	uint32_t function; /* the kernel's id; 0: not found */
	bool inside, found;
	struct backend_argument_facts *arguments;
	uint32_t capacity, count;
};

static uint32_t spirv_word_at(const unsigned char *bytes, size_t index)
{
	uint32_t word;

	memcpy(&word, bytes + index * sizeof(word), sizeof(word));
	return word;
}

/* True if `text` begins at the word `from` and ends with a 0 inside the instruction. */
static bool spirv_text_is(const unsigned char *bytes, size_t from, size_t words, const char *text)
{
	size_t length = strlen(text);

	return length < words * 4 && memcmp(bytes + from * 4, text, length + 1) == 0;
}

static void record_type(struct reader *reader, uint16_t op, const uint32_t *operands,
			uint32_t count)
{
	uint32_t id = count > 0 ? operands[0] : 0;
	struct type type = {.op = op};

	if (id == 0 || id >= reader->bound)
		return;
	if ((op == OP_TYPE_INT || op == OP_TYPE_FLOAT) && count > 1 && operands[1] <= 64)
		type.bytes = operands[1] / 8;
	if (op == OP_TYPE_VECTOR && count > 2 && operands[1] < reader->bound && operands[2] <= 16)
		type.bytes =
			reader->types[operands[1]].bytes * (operands[2] == 3 ? 4 : operands[2]);
	if (op == OP_TYPE_POINTER && count > 1)
		type.storage = operands[1];
	reader->types[id] = type;
}

static int pointer_facts(uint32_t storage, struct backend_argument_facts *facts)
{
	switch (storage) {
	case CLASS_CROSS_WORKGROUP:
		facts->kind = BACKEND_ARGUMENT_GLOBAL;
		facts->address = BACKEND_ADDRESS_GLOBAL;
		return 0;
	case CLASS_UNIFORM_CONSTANT:
		facts->kind = BACKEND_ARGUMENT_GLOBAL;
		facts->address = BACKEND_ADDRESS_CONSTANT;
		facts->is_const = true;
		return 0;
	case CLASS_WORKGROUP:
		facts->kind = BACKEND_ARGUMENT_LOCAL;
		facts->address = BACKEND_ADDRESS_LOCAL;
		return 0;
	case CLASS_FUNCTION: /* a structure passed by value */
		facts->kind = BACKEND_ARGUMENT_VALUE;
		facts->address = BACKEND_ADDRESS_PRIVATE;
		return 0;
	default:
		return -EINVAL;
	}
}

static int spirv_argument_facts(const struct type *type, struct backend_argument_facts *facts)
{
	switch (type->op) {
	case OP_TYPE_POINTER:
		return pointer_facts(type->storage, facts);
	case OP_TYPE_IMAGE:
		facts->kind = BACKEND_ARGUMENT_IMAGE;
		return 0;
	case OP_TYPE_SAMPLER:
		facts->kind = BACKEND_ARGUMENT_SAMPLER;
		return 0;
	case OP_TYPE_INT:
	case OP_TYPE_FLOAT:
	case OP_TYPE_VECTOR:
	case OP_TYPE_ARRAY:
	case OP_TYPE_STRUCT:
		facts->kind = BACKEND_ARGUMENT_VALUE;
		facts->address = BACKEND_ADDRESS_PRIVATE;
		facts->size_bytes = type->bytes;
		return 0;
	default:
		return -EINVAL;
	}
}

static int take_parameter(struct reader *reader, const uint32_t *operands, uint32_t count)
{
	if (!reader->inside)
		return 0;
	if (count < 1 || operands[0] >= reader->bound)
		return -EINVAL;
	if (reader->count == reader->capacity)
		return -E2BIG;
	return spirv_argument_facts(&reader->types[operands[0]],
				    &reader->arguments[reader->count++]);
}

static int take_instruction(struct reader *reader, const unsigned char *bytes, size_t at,
			    uint16_t op, uint32_t count)
{
	uint32_t operands[4] = {0};

	for (uint32_t i = 0; i < count && i < 4; i++)
		operands[i] = spirv_word_at(bytes, at + 1 + i);
	switch (op) {
	case OP_ENTRY_POINT:
		if (count > 2 && operands[0] == MODEL_KERNEL &&
		    spirv_text_is(bytes, at + 3, count - 2, reader->kernel))
			reader->function = operands[1];
		return 0;
	case OP_TYPE_INT:
	case OP_TYPE_FLOAT:
	case OP_TYPE_VECTOR:
	case OP_TYPE_IMAGE:
	case OP_TYPE_SAMPLER:
	case OP_TYPE_ARRAY:
	case OP_TYPE_STRUCT:
	case OP_TYPE_POINTER:
		record_type(reader, op, operands, count);
		return 0;
	case OP_FUNCTION:
		reader->inside =
			count > 1 && reader->function != 0 && operands[1] == reader->function;
		reader->found = reader->found || reader->inside;
		return 0;
	case OP_FUNCTION_PARAMETER:
		return take_parameter(reader, operands, count);
	case OP_FUNCTION_END:
		reader->inside = false;
		return 0;
	default:
		return 0;
	}
}

int opencl_spirv_arguments(const void *module, size_t bytes, const char *kernel,
			   struct backend_argument_facts *arguments, uint32_t capacity,
			   uint32_t *count_out)
{
	const unsigned char *words = module;
	const size_t total = bytes / 4;
	int error = 0;

	if (bytes % 4 != 0 || total < HEADER_WORDS || spirv_word_at(words, 0) != OPENCL_SPIRV_MAGIC)
		return -EINVAL;
	uint32_t bound = spirv_word_at(words, 3);
	if (bound == 0 || bound > IDS_MAX)
		return -EINVAL;
	CLEANUP(free_pointer) struct type *types = calloc(bound, sizeof(*types));
	if (!types)
		return -ENOMEM;
	struct reader reader = {.kernel = kernel,
				.types = types,
				.bound = bound,
				.arguments = arguments,
				.capacity = capacity};
	for (size_t at = HEADER_WORDS; error == 0 && at < total;) {
		uint32_t head = spirv_word_at(words, at), count = head >> 16;
		if (count == 0 || count > total - at)
			return -EINVAL;
		error = take_instruction(&reader, words, at, (uint16_t)head, count - 1);
		at += count;
	}
	if (error < 0)
		return error;
	if (!reader.found)
		return -ENOENT;
	*count_out = reader.count;
	return 0;
}
