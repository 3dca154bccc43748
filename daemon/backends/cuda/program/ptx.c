/* Reads PTX, but only what is needed for its kernels and their parameters. */
#include "cuda/program/ptx.h"

#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 1025u /* CUDA_PARAMETERS_MAX for the source, and the record */

struct cursor {
	const char *text;
	size_t at, end;
};

/* A word (a directive or a name, with its dots), a quoted text, or one other character. length 0:
 * the end of the text. */
struct token {
	const char *at;
	size_t length;
};

static bool is_word_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_until(struct cursor *cursor, const char *what)
{
	size_t length = strlen(what);

	while (cursor->at < cursor->end) {
		if (cursor->end - cursor->at >= length &&
		    memcmp(cursor->text + cursor->at, what, length) == 0) {
			cursor->at += length;
			return;
		}
		cursor->at++;
	}
}

static void ptx_skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->end) {
		const char *at = cursor->text + cursor->at;
		bool pair = cursor->end - cursor->at >= 2;
		if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == '\f' ||
		    *at == '\v')
			cursor->at++;
		else if (pair && at[0] == '/' && at[1] == '/')
			skip_until(cursor, "\n");
		else if (pair && at[0] == '/' && at[1] == '*') {
			cursor->at += 2;
			skip_until(cursor, "*/");
		} else
			return;
	}
}

static struct token ptx_next_token(struct cursor *cursor)
{
	ptx_skip_space(cursor);
	size_t from = cursor->at;
	if (from == cursor->end)
		return (struct token){cursor->text + from, 0};
	cursor->at++;
	if (cursor->text[from] == '"')
		skip_until(cursor, "\"");
	else if (is_word_character(cursor->text[from]))
		while (cursor->at < cursor->end && is_word_character(cursor->text[cursor->at]))
			cursor->at++;
	return (struct token){cursor->text + from, cursor->at - from};
}

static bool token_is(struct token token, const char *word)
{
	return token.length == strlen(word) && memcmp(token.at, word, token.length) == 0;
}

static bool token_is_name(struct token token)
{
	return token.length > 0 && is_word_character(token.at[0]) && token.at[0] != '.' &&
	       !(token.at[0] >= '0' && token.at[0] <= '9');
}

/* Reads a number that fits 32 bits. */
static int ptx_read_number(struct cursor *cursor, uint32_t *number_out)
{
	struct token token = ptx_next_token(cursor);
	uint64_t number = 0;

	for (size_t i = 0; i < token.length; i++) {
		if (token.at[i] < '0' || token.at[i] > '9')
			return -EINVAL;
		number = number * 10 + (uint64_t)(token.at[i] - '0');
		if (number > UINT32_MAX)
			return -EINVAL;
	}
	if (token.length == 0)
		return -EINVAL;
	*number_out = (uint32_t)number;
	return 0;
}

/* Moves the cursor behind the brace that closes the one before the cursor. *waits_out: true if the
 * body has the instruction that waits for kernels. waits_out may be NULL. */
static int skip_body(struct cursor *cursor, bool *waits_out)
{
	unsigned depth = 1;

	while (depth > 0) {
		struct token token = ptx_next_token(cursor);
		if (token.length == 0)
			return -EINVAL;
		if (token_is(token, "{"))
			depth++;
		else if (token_is(token, "}"))
			depth--;
		else if (waits_out && token_is(token, "griddepcontrol.wait"))
			*waits_out = true;
	}
	return 0;
}

static int skip_block(struct cursor *cursor)
{
	return skip_body(cursor, NULL);
}

static bool ptx_read_type(struct token token, struct cuda_ptx_parameter *parameter)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{".u64", 8},     {".s64", 8}, {".b64", 8},   {".f64", 8},    {".u32", 4},
		{".s32", 4},     {".b32", 4}, {".f32", 4},   {".u16", 2},    {".s16", 2},
		{".b16", 2},     {".f16", 2}, {".bf16", 2},  {".f16x2", 4},  {".u8", 1},
		{".s8", 1},      {".b8", 1},  {".b128", 16}, {".texref", 8}, {".samplerref", 8},
		{".surfref", 8},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!token_is(token, types[i].name))
			continue;
		parameter->size_bytes = types[i].bytes;
		parameter->may_point = token_is(token, ".u64") || token_is(token, ".b64");
		return true;
	}
	return false;
}

/* Notes the place of a pointer's attributes: from .ptr to its space and alignment. */
static void note_pointer_attributes(const struct cursor *cursor, struct token token,
				    struct cuda_ptx_parameter *parameter)
{
	if (parameter->said_end == 0)
		parameter->said_at = (size_t)(token.at - cursor->text);
	parameter->said_end = cursor->at;
}

static bool read_space(struct token token, struct cuda_ptx_parameter *parameter)
{
	static const char *const spaces[] = {[CUDA_PTX_GENERIC] = ".ptr",
					     [CUDA_PTX_GLOBAL] = ".global",
					     [CUDA_PTX_SHARED] = ".shared",
					     [CUDA_PTX_CONST] = ".const",
					     [CUDA_PTX_LOCAL] = ".local"};

	for (int space = CUDA_PTX_GENERIC; space <= CUDA_PTX_LOCAL; space++) {
		if (!token_is(token, spaces[space]))
			continue;
		parameter->space = (enum cuda_ptx_space)space;
		return true;
	}
	return false;
}

/* Reads a parameter. *last_out: a closing parenthesis follows it. */
static int read_parameter(struct cursor *cursor, struct cuda_ptx_parameter *parameter,
			  bool *last_out)
{
	uint32_t align = 0, count = 1;
	bool named = false;

	*parameter = (struct cuda_ptx_parameter){0};
	for (;;) {
		struct token token = ptx_next_token(cursor);
		if (token_is(token, ",") || token_is(token, ")")) {
			*last_out = token_is(token, ")");
			break;
		}
		if (token_is(token, ".align")) {
			/* Behind .ptr, the alignment is that of the target. */
			uint32_t number = 0;
			if (ptx_read_number(cursor, &number) < 0)
				return -EINVAL;
			if (parameter->space == CUDA_PTX_NO_POINTER)
				align = number;
			else
				note_pointer_attributes(cursor, token, parameter);
		} else if (token_is(token, "[")) {
			if (ptx_read_number(cursor, &count) < 0 ||
			    !token_is(ptx_next_token(cursor), "]") || !named)
				return -EINVAL;
			parameter->may_point = false;
		} else if (token_is_name(token)) {
			named = true;
		} else if (read_space(token, parameter)) {
			note_pointer_attributes(cursor, token, parameter);
		} else if (!token_is(token, ".param") && !ptx_read_type(token, parameter)) {
			return -EINVAL;
		}
	}
	uint64_t bytes = (uint64_t)parameter->size_bytes * count;
	if (!named || bytes == 0 || bytes > 65536)
		return -EINVAL;
	parameter->align_bytes = align ? align : parameter->size_bytes;
	parameter->size_bytes = (uint32_t)bytes;
	return 0;
}

/* The cursor is behind '('. */
static int ptx_read_parameters(struct cursor *cursor, struct cuda_ptx_entry *entry)
{
	struct cursor ahead = *cursor;
	bool last = token_is(ptx_next_token(&ahead), ")");
	uint32_t capacity = 0;

	if (last)
		*cursor = ahead;
	while (!last) {
		if (entry->parameter_count == PARAMETERS_MAX)
			return -E2BIG;
		if (entry->parameter_count == capacity) {
			capacity = capacity ? capacity * 2 : 8;
			void *grown = reallocarray(entry->parameters, capacity,
						   sizeof(*entry->parameters));
			if (!grown)
				return -ENOMEM;
			entry->parameters = grown;
		}
		int error =
			read_parameter(cursor, &entry->parameters[entry->parameter_count], &last);
		if (error < 0)
			return error;
		entry->parameter_count++;
	}
	entry->parameters_end = cursor->at - 1;
	return 0;
}

/* Reads up to three sizes; missing ones are 1. */
static int read_sizes(struct cursor *cursor, uint32_t sizes[3])
{
	sizes[0] = sizes[1] = sizes[2] = 1;
	for (unsigned i = 0; i < 3; i++) {
		if (ptx_read_number(cursor, &sizes[i]) < 0)
			return -EINVAL;
		struct cursor ahead = *cursor;
		if (!token_is(ptx_next_token(&ahead), ","))
			break;
		*cursor = ahead;
	}
	return 0;
}

/* Reads from the end of the parameters to behind the body's '{'. *body_out false: a declaration
 * without a body. */
static int read_directives(struct cursor *cursor, struct cuda_ptx_entry *entry, bool *body_out)
{
	entry->directives_at = cursor->at;
	for (;;) {
		struct token token = ptx_next_token(cursor);
		int error = 0;
		if (token.length == 0)
			return -EINVAL;
		if (token_is(token, ".pragma")) {
			(void)ptx_next_token(cursor); /* the text of the pragma */
			if (!token_is(ptx_next_token(cursor), ";"))
				return -EINVAL;
			continue;
		}
		if (token_is(token, "{") || token_is(token, ";")) {
			*body_out = token_is(token, "{");
			entry->body_at = cursor->at;
			return 0;
		}
		if (token_is(token, ".reqntid"))
			error = read_sizes(cursor, entry->required);
		else if (token_is(token, ".maxntid"))
			error = read_sizes(cursor, entry->max_threads);
		else if (token_is(token, ".minnctapersm"))
			error = ptx_read_number(cursor, &entry->min_groups);
		if (error < 0)
			return error;
	}
}

static void entry_fini(struct cuda_ptx_entry *entry)
{
	free(entry->name);
	free(entry->parameters);
}

static int read_entry(struct cursor *cursor, struct cuda_ptx_entry *entry, bool *body_out)
{
	struct token name = ptx_next_token(cursor);
	struct cursor ahead;

	if (!token_is_name(name))
		return -EINVAL;
	entry->name_at = (size_t)(name.at - cursor->text);
	entry->name = strndup(name.at, name.length);
	if (!entry->name)
		return -ENOMEM;
	ahead = *cursor;
	if (token_is(ptx_next_token(&ahead), "(")) {
		*cursor = ahead;
		int error = ptx_read_parameters(cursor, entry);
		if (error < 0)
			return error;
	}
	int error = read_directives(cursor, entry, body_out);
	if (error == 0 && *body_out)
		error = skip_body(cursor, &entry->waits);
	entry->body_end = cursor->at - 1;
	return error;
}

static int add_entry(struct cuda_ptx *ptx, struct cursor *cursor)
{
	struct cuda_ptx_entry entry = {0};
	bool body = false;
	int error = read_entry(cursor, &entry, &body);

	if (error == 0 && ptx->entry_count == CUDA_PTX_ENTRIES_MAX)
		error = -E2BIG;
	if (error < 0 || !body) {
		entry_fini(&entry);
		return error;
	}
	void *grown = reallocarray(ptx->entries, ptx->entry_count + 1u, sizeof(entry));
	if (!grown) {
		entry_fini(&entry);
		return -ENOMEM;
	}
	ptx->entries = grown;
	ptx->entries[ptx->entry_count++] = entry;
	return 0;
}

static int add_function(struct cuda_ptx *ptx, struct cursor *cursor)
{
	struct cuda_ptx_function function;
	struct token token;

	do {
		token = ptx_next_token(cursor);
	} while (token.length > 0 && !token_is(token, "{") && !token_is(token, ";"));
	if (token_is(token, ";"))
		return 0;
	function.body_at = cursor->at;
	if (token.length == 0 || skip_block(cursor) < 0)
		return -EINVAL;
	function.body_end = cursor->at - 1;
	void *grown = reallocarray(ptx->functions, ptx->function_count + 1u, sizeof(function));
	if (!grown)
		return -ENOMEM;
	ptx->functions = grown;
	ptx->functions[ptx->function_count++] = function;
	return 0;
}

static void note_next_word(struct cursor *cursor, size_t *at_out, size_t *end_out)
{
	struct token token = ptx_next_token(cursor);

	*at_out = (size_t)(token.at - cursor->text);
	*end_out = *at_out + token.length;
}

/* Reads a target, which may have options: ", debug". It is read word by word, because PTX's
 * compiler ignores line breaks. */
static void ptx_read_target(struct cuda_ptx *ptx, struct cursor *cursor)
{
	note_next_word(cursor, &ptx->target_at, &ptx->target_end);
	for (;;) {
		struct cursor ahead = *cursor;
		if (!token_is(ptx_next_token(&ahead), ","))
			return;
		(void)ptx_next_token(&ahead);
		*cursor = ahead;
	}
}

/* Reads ".target" or ".address_size", which must precede all kernels and functions. */
static int read_header(struct cuda_ptx *ptx, struct cursor *cursor, bool is_size)
{
	uint32_t bits = 64;

	if (ptx->entry_count > 0 || ptx->function_count > 0)
		return -EINVAL;
	if (is_size && (ptx_read_number(cursor, &bits) < 0 || bits != 64))
		return -EINVAL;
	if (!is_size)
		ptx_read_target(ptx, cursor);
	ptx->header_end = cursor->at;
	return 0;
}

static int read_module(struct cuda_ptx *ptx, struct cursor *cursor)
{
	/* Every text begins with the version. */
	if (!token_is(ptx_next_token(cursor), ".version"))
		return -EINVAL;
	note_next_word(cursor, &ptx->version_at, &ptx->version_end);
	for (;;) {
		struct token token = ptx_next_token(cursor);
		int error = 0;
		if (token.length == 0)
			return ptx->header_end ? 0 : -EINVAL;
		if (token_is(token, ".target") || token_is(token, ".address_size"))
			error = read_header(ptx, cursor, token_is(token, ".address_size"));
		else if (!ptx->header_end &&
			 (token_is(token, ".entry") || token_is(token, ".func")))
			error = -EINVAL;
		else if (token_is(token, ".entry"))
			error = add_entry(ptx, cursor);
		else if (token_is(token, ".func"))
			error = add_function(ptx, cursor);
		else if (token_is(token, "{"))
			error = skip_block(cursor);
		if (error < 0)
			return error;
	}
}

static uint32_t ptx_line_number(const char *text, size_t at)
{
	uint32_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

int cuda_ptx_parse(const char *text, size_t bytes, struct cuda_ptx **ptx_out, uint32_t *line_out)
{
	struct cursor cursor = {.text = text, .end = bytes};
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = calloc(1, sizeof(*ptx));

	if (!ptx)
		return -ENOMEM;
	int error = memchr(text, '\0', bytes) ? -EINVAL : read_module(ptx, &cursor);
	if (error == 0)
		*ptx_out = TAKE(ptx);
	else if (line_out)
		*line_out = ptx_line_number(text, cursor.at);
	return error;
}

void cuda_ptx_blank_shared(char *text, const struct cuda_ptx *ptx)
{
	for (uint32_t i = 0; i < ptx->entry_count; i++) {
		for (uint32_t p = 0; p < ptx->entries[i].parameter_count; p++) {
			const struct cuda_ptx_parameter *parameter = &ptx->entries[i].parameters[p];
			for (size_t at = parameter->said_at;
			     parameter->space == CUDA_PTX_SHARED && at < parameter->said_end; at++)
				if (text[at] != '\n')
					text[at] = ' ';
		}
	}
}

struct cuda_ptx *cuda_ptx_free(struct cuda_ptx *ptx)
{
	for (uint32_t i = 0; ptx && i < ptx->entry_count; i++)
		entry_fini(&ptx->entries[i]);
	if (ptx) {
		free(ptx->entries);
		free(ptx->functions);
	}
	free(ptx);
	return NULL;
}
