/* Makes instructions of a body's words. An instruction that is not supported is kept as unknown and
 * fails when it is run. */
#include "fake_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 512

/* "%r<9>": registers with a common prefix; "%p": one register. */
struct name {
	const char *text;
	size_t length;
	bool numbered;
	int first;
	unsigned count;
	unsigned depth;
};

struct place {
	struct fake_variable variable;
	unsigned depth;
};

struct label {
	const char *text;
	size_t length;
	unsigned pc, depth;
	const struct fake_token *scope;
};

struct compiler {
	struct fake_program *program;
	struct fake_code *code;
	const struct fake_token *at;
	struct name names[NAMES];
	unsigned name_count;
	struct place places[NAMES];
	unsigned place_count;
	struct label *labels;
	unsigned label_count;
	unsigned depth;
	bool failed;
};

static bool compile_texts_are_equal(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static int find_register(const struct compiler *c, const struct fake_token *token)
{
	for (unsigned i = c->name_count; i > 0; i--) {
		const struct name *name = &c->names[i - 1];
		if (!name->numbered &&
		    compile_texts_are_equal(name->text, name->length, token->text, token->length))
			return name->first;
		if (name->numbered && token->length > name->length &&
		    memcmp(token->text, name->text, name->length) == 0) {
			char *end;
			unsigned long number = strtoul(token->text + name->length, &end, 10);
			if (end == token->text + token->length && number < name->count)
				return name->first + (int)number;
		}
	}
	return -1;
}

static const struct fake_variable *find_place(const struct compiler *c,
					      const struct fake_token *token)
{
	for (unsigned i = c->place_count; i > 0; i--)
		if (compile_texts_are_equal(c->places[i - 1].variable.name,
					    c->places[i - 1].variable.length, token->text,
					    token->length))
			return &c->places[i - 1].variable;
	return fake_program_variable(c->program, token->text, token->length);
}

/* ".reg .b32 %r<9>, %x;" */
static void compile_registers(struct compiler *c)
{
	c->at++;
	while (c->at->kind == FAKE_TOKEN_WORD && c->at->text[0] == '.')
		c->at++;
	while (!fake_token_is(c->at, ";") && c->at->kind != FAKE_TOKEN_END) {
		struct name name = {.text = c->at->text,
				    .length = c->at->length,
				    .count = 1,
				    .depth = c->depth,
				    .first = (int)c->code->register_count};
		c->at++;
		if (fake_token_is(c->at, "<")) {
			name.numbered = true;
			name.count = (unsigned)fake_token_number(c->at + 1);
			c->at += 3;
		}
		c->code->register_count += name.count;
		if (c->name_count < NAMES)
			c->names[c->name_count++] = name;
		else
			c->failed = true;
		if (fake_token_is(c->at, ","))
			c->at++;
	}
	c->at++;
}

static size_t align_up(size_t value, size_t alignment)
{
	return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

/* ".shared .align 4 .b8 NAME[256];", also local, param, const, global. */
static void compile_variable(struct compiler *c, enum fake_space space)
{
	struct fake_variable found = {.space = space, .size = 1};
	size_t element = 1, alignment = 1;

	c->at++;
	while (c->at->kind == FAKE_TOKEN_WORD && c->at->text[0] == '.') {
		unsigned bytes = fake_type_bytes(c->at->text, c->at->length);
		if (fake_token_is(c->at, ".align"))
			alignment = (size_t)fake_token_number(++c->at);
		else if (bytes)
			element = bytes;
		c->at++;
	}
	found.name = c->at->text;
	found.length = c->at->length;
	c->at++;
	while (fake_token_is(c->at, "[")) {
		found.size *= (size_t)fake_token_number(c->at + 1);
		while (!fake_token_is(c->at, "]") && c->at->kind != FAKE_TOKEN_END)
			c->at++;
		c->at++;
	}
	found.size *= element;
	if (alignment < element)
		alignment = element;
	size_t *total = space == SPACE_SHARED  ? &c->code->static_shared
			: space == SPACE_LOCAL ? &c->code->local_bytes
					       : &c->code->frame_bytes;
	*total = align_up(*total, alignment);
	found.offset = *total;
	*total += found.size;
	if (space == SPACE_SHARED)
		found.offset += SHARED_RESERVED;
	if (c->place_count < NAMES)
		c->places[c->place_count++] = (struct place){found, c->depth};
	else
		c->failed = true;
	while (!fake_token_is(c->at, ";") && c->at->kind != FAKE_TOKEN_END)
		c->at++;
	c->at++;
}

static void number_operand(const struct fake_token *token, bool minus, struct fake_operand *operand)
{
	operand->kind = OPERAND_VALUE;
	if (token->length > 2 && token->text[0] == '0' && strchr("fFdD", token->text[1]) &&
	    token->text[1] != 'x') {
		operand->value = strtoull(token->text + 2, NULL, 16);
		return;
	}
	if (memchr(token->text, '.', token->length)) {
		operand->decimal = true;
		operand->value = fake_double_bits((minus ? -1 : 1) * strtod(token->text, NULL));
		return;
	}
	operand->value = strtoull(token->text, NULL, 0);
	if (minus)
		operand->value = (uint64_t)0 - operand->value;
}

static void word_operand(struct compiler *c, const struct fake_token *token,
			 struct fake_operand *operand)
{
	int number = find_register(c, token);
	const struct fake_variable *place;

	if (number >= 0) {
		operand->kind = OPERAND_REGISTER;
		operand->number = number;
	} else if ((number = fake_special_read(token)) >= 0) {
		operand->kind = OPERAND_SPECIAL;
		operand->number = number;
	} else if (fake_token_is(token, "_")) {
		operand->kind = OPERAND_SINK;
	} else if ((place = find_place(c, token))) {
		operand->kind = place->space == SPACE_PARAM ? OPERAND_PARAMETER : OPERAND_VALUE;
		operand->value = place->offset;
		if (place->dynamic || place->space == SPACE_LOCAL) {
			operand->kind = OPERAND_SPECIAL;
			operand->number = place->dynamic ? SPECIAL_DYNAMIC : SPECIAL_LOCAL;
		}
	} else {
		operand->kind = OPERAND_LABEL;
		operand->label = token->text;
		operand->label_length = token->length;
	}
}

/* A register, a number, a name, "p|q", "!p", "-5". */
static void simple_operand(struct compiler *c, struct fake_operand *operand)
{
	bool minus = false;

	operand->second = -1;
	if (fake_token_is(c->at, "!")) {
		operand->negated = true;
		c->at++;
	}
	if (fake_token_is(c->at, "-")) {
		minus = true;
		c->at++;
	}
	if (c->at->kind == FAKE_TOKEN_NUMBER)
		number_operand(c->at, minus, operand);
	else
		word_operand(c, c->at, operand);
	c->at++;
	if (fake_token_is(c->at, "|")) {
		operand->second = find_register(c, c->at + 1);
		c->at += 2;
	}
}

static void vector_operand(struct compiler *c, struct fake_operand *operand)
{
	operand->kind = OPERAND_VECTOR;
	operand->elements = calloc(8, sizeof(*operand->elements));
	if (!operand->elements) {
		c->failed = true;
		return;
	}
	c->at++;
	while (operand->count < 8 && !fake_token_is(c->at, "}") && c->at->kind != FAKE_TOKEN_END) {
		simple_operand(c, &operand->elements[operand->count++]);
		if (fake_token_is(c->at, ","))
			c->at++;
	}
	c->at++;
}

static void address_operand(struct compiler *c, struct fake_operand *operand)
{
	c->at++;
	simple_operand(c, operand);
	operand->address = true;
	while (fake_token_is(c->at, "+") || fake_token_is(c->at, "-")) {
		bool minus = fake_token_is(c->at, "-");
		c->at++;
		if (fake_token_is(c->at, "-")) {
			minus = !minus;
			c->at++;
		}
		uint64_t offset = fake_token_number(c->at++);
		operand->value += minus ? (uint64_t)0 - offset : offset;
	}
	if (fake_token_is(c->at, ",")) { /* the coordinates in an image */
		struct fake_operand coordinates = {0};
		c->at++;
		vector_operand(c, &coordinates);
		operand->elements = coordinates.elements;
		operand->count = coordinates.count;
	}
	if (fake_token_is(c->at, "]"))
		c->at++;
}

/* "(retval0), name, (param0, param1)": lists of names, and a name between them. */
static void list_operand(struct compiler *c, struct fake_operand *operand)
{
	operand->kind = OPERAND_VECTOR;
	operand->elements = calloc(64, sizeof(*operand->elements));
	if (!operand->elements) {
		c->failed = true;
		return;
	}
	c->at++;
	while (operand->count < 64 && !fake_token_is(c->at, ")") && c->at->kind != FAKE_TOKEN_END) {
		simple_operand(c, &operand->elements[operand->count++]);
		if (fake_token_is(c->at, ","))
			c->at++;
	}
	c->at++;
}

static void compile_operands(struct compiler *c, struct fake_instruction *instruction)
{
	while (!fake_token_is(c->at, ";") && c->at->kind != FAKE_TOKEN_END) {
		struct fake_operand spare = {0};
		struct fake_operand *operand =
			instruction->operand_count < OPERANDS
				? &instruction->operands[instruction->operand_count++]
				: &spare;
		const struct fake_token *before = c->at;
		if (fake_token_is(c->at, "["))
			address_operand(c, operand);
		else if (fake_token_is(c->at, "{"))
			vector_operand(c, operand);
		else if (fake_token_is(c->at, "("))
			list_operand(c, operand);
		else
			simple_operand(c, operand);
		if (operand == &spare)
			free(spare.elements);
		if (fake_token_is(c->at, ","))
			c->at++;
		if (c->at == before)
			c->at++;
	}
	c->at++;
}

static void compile_instruction(struct compiler *c)
{
	struct fake_code *code = c->code;
	struct fake_instruction found = {.guard = -1, .line = c->at->line};

	if ((code->count & (code->count - 1)) == 0) {
		size_t room = code->count ? code->count * 2u : 16u;
		struct fake_instruction *more =
			reallocarray(code->instructions, room, sizeof(*more));
		if (!more) {
			c->failed = true;
			return;
		}
		code->instructions = more;
	}
	if (fake_token_is(c->at, "@")) {
		c->at++;
		found.guard_negated = fake_token_is(c->at, "!");
		c->at += found.guard_negated;
		found.guard = find_register(c, c->at);
		c->at++;
	}
	const struct fake_token *word = c->at++;
	fake_opcode_read(word, &found);
	found.text = word->text;
	found.text_length = (unsigned)word->length;
	compile_operands(c, &found);
	for (unsigned i = 0; i < found.operand_count; i++)
		if (found.operands[i].decimal && found.type.bytes == 4)
			found.operands[i].value =
				fake_float_bits((float)fake_double(found.operands[i].value));
	code->instructions[code->count++] = found;
}

static void add_label(struct compiler *c)
{
	struct label *more = reallocarray(c->labels, c->label_count + 1, sizeof(*more));

	if (!more) {
		c->failed = true;
		return;
	}
	c->labels = more;
	c->labels[c->label_count++] =
		(struct label){.text = c->at->text, .length = c->at->length, .pc = c->code->count};
	c->at += 2;
}

static void leave_scope(struct compiler *c)
{
	while (c->name_count && c->names[c->name_count - 1].depth == c->depth)
		c->name_count--;
	while (c->place_count && c->places[c->place_count - 1].depth == c->depth)
		c->place_count--;
	c->depth--;
	c->at++;
}

static void skip_line(struct compiler *c)
{
	unsigned line = c->at->line;

	while (c->at->line == line && c->at->kind != FAKE_TOKEN_END)
		c->at++;
}

static void one_statement(struct compiler *c)
{
	if (fake_token_is(c->at, "{")) {
		c->depth++;
		c->at++;
	} else if (fake_token_is(c->at, "}")) {
		leave_scope(c);
	} else if (fake_token_is(c->at + 1, ":")) {
		add_label(c);
	} else if (fake_token_is(c->at, ".reg")) {
		compile_registers(c);
	} else if (fake_token_is(c->at, ".shared")) {
		compile_variable(c, SPACE_SHARED);
	} else if (fake_token_is(c->at, ".local")) {
		compile_variable(c, SPACE_LOCAL);
	} else if (fake_token_is(c->at, ".param")) {
		compile_variable(c, SPACE_PARAM);
	} else if (fake_token_is(c->at, ".loc")) {
		skip_line(c);
	} else if (c->at->kind == FAKE_TOKEN_WORD && c->at->text[0] == '.') {
		while (!fake_token_is(c->at, ";") && c->at->kind != FAKE_TOKEN_END)
			c->at++;
		c->at++;
	} else {
		compile_instruction(c);
	}
}

/* Connects branches with their instructions. Names of labels are unique in the output of
 * compilers. */
static void link_labels(struct compiler *c)
{
	for (unsigned i = 0; i < c->code->count; i++) {
		struct fake_instruction *one = &c->code->instructions[i];
		const struct fake_operand *to = &one->operands[0];
		if (one->opcode != OP_BRA || to->kind != OPERAND_LABEL)
			continue;
		one->target = UINT32_MAX;
		for (unsigned n = 0; n < c->label_count; n++)
			if (compile_texts_are_equal(c->labels[n].text, c->labels[n].length,
						    to->label, to->label_length))
				one->target = c->labels[n].pc;
		if (one->target == UINT32_MAX)
			one->opcode = OP_UNKNOWN;
	}
}

static void link_dynamic(struct fake_code *code)
{
	for (unsigned i = 0; i < code->count; i++)
		for (unsigned n = 0; n < code->instructions[i].operand_count; n++) {
			struct fake_operand *operand = &code->instructions[i].operands[n];
			if (operand->kind == OPERAND_SPECIAL &&
			    operand->number == SPECIAL_DYNAMIC) {
				operand->kind = OPERAND_VALUE;
				operand->value += code->dynamic_at;
			}
		}
}

struct fake_code *fake_compile(struct fake_program *program, const char *name, size_t name_length,
			       const struct fake_token *from, const struct fake_token *to,
			       const struct fake_variable *parameters, unsigned parameter_count)
{
	struct compiler *c = calloc(1, sizeof(*c));
	struct fake_code *code = calloc(1, sizeof(*code));

	if (!c || !code || !(code->name = strndup(name, name_length))) {
		free(c);
		free(code);
		return NULL;
	}
	c->program = program;
	c->code = code;
	c->at = from;
	code->static_shared = program->shared_bytes;
	for (unsigned i = 0; i < parameter_count && i < NAMES; i++) {
		c->places[c->place_count++] = (struct place){parameters[i], 0};
		if (code->frame_bytes < parameters[i].offset + parameters[i].size)
			code->frame_bytes = parameters[i].offset + parameters[i].size;
	}
	while (c->at < to)
		one_statement(c);
	code->dynamic_at = SHARED_RESERVED + align_up(code->static_shared, 16);
	link_labels(c);
	link_dynamic(code);
	if (c->failed)
		code->count = 0;
	free(c->labels);
	free(c);
	code->next = program->codes;
	program->codes = code;
	return code;
}
