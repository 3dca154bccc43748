/* Linking PTX. A name that is .extern in one text must be defined exactly once in another one. */
#include "fake.h"
#include "fake_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 1024u

struct name {
	const char *text;
	size_t length;
};

struct names {
	struct name list[NAMES_MAX];
	unsigned count;
};

struct linker {
	FILE *out;
	struct names defined, needed;
	char *log;
	size_t log_bytes;
	bool failed;
};

static bool has_name(const struct names *names, struct name name)
{
	for (unsigned i = 0; i < names->count; i++)
		if (names->list[i].length == name.length &&
		    memcmp(names->list[i].text, name.text, name.length) == 0)
			return true;
	return false;
}

static void add_name(struct names *names, struct name name)
{
	if (!has_name(names, name) && names->count < NAMES_MAX)
		names->list[names->count++] = name;
}

static void link_complain(struct linker *linker, const char *format, struct name name)
{
	if (!linker->failed)
		(void)snprintf(linker->log, linker->log_bytes, format, (int)name.length, name.text);
	linker->failed = true;
}

/* One statement at the level of the module. */
struct statement {
	const struct fake_token *first, *last; /* last: ';' or '}' */
	bool is_extern, is_head, sized, visible;
	struct name name;
};

/* The name of a function follows its results. The name of a variable is the last word before its
 * size or value. */
static void find_name(struct statement *statement)
{
	bool function = false, after = false;

	for (const struct fake_token *at = statement->first; at < statement->last; at++) {
		if (fake_token_is(at, ".func") || fake_token_is(at, ".entry")) {
			function = true;
			after = true;
		} else if (function && fake_token_is(at, "(") && after) {
			while (at < statement->last && !fake_token_is(at, ")"))
				at++;
		} else if (at->kind == FAKE_TOKEN_WORD && at->text[0] != '.') {
			statement->name = (struct name){at->text, at->length};
			statement->sized =
				fake_token_is(at + 1, "[") && !fake_token_is(at + 2, "]");
			return;
		}
	}
}

static struct statement next_statement(const struct fake_token *at)
{
	struct statement statement = {.first = at};
	unsigned depth = 0;

	statement.is_head = fake_token_is(at, ".version") || fake_token_is(at, ".target") ||
			    fake_token_is(at, ".address_size");
	statement.is_extern = fake_token_is(at, ".extern");
	statement.visible = fake_token_is(at, ".visible");
	if (statement.is_head) { /* it ends at the end of the line, not at a ';' */
		while (at[1].kind != FAKE_TOKEN_END && at[1].line == statement.first->line)
			at++;
		statement.last = at;
		return statement;
	}
	for (; at->kind != FAKE_TOKEN_END; at++) {
		if (fake_token_is(at, "{"))
			depth++;
		if (fake_token_is(at, "}"))
			depth--;
		bool value = fake_token_is(at, "}") && fake_token_is(at + 1, ";");
		if (depth == 0 && !value && (fake_token_is(at, ";") || fake_token_is(at, "}")))
			break;
	}
	statement.last = at;
	find_name(&statement);
	return statement;
}

static void put_statement(struct linker *linker, const struct statement *statement)
{
	const char *end = statement->last->text + statement->last->length;

	(void)fprintf(linker->out, "%.*s\n", (int)(end - statement->first->text),
		      statement->first->text);
}

static void take_statement(struct linker *linker, const struct statement *statement,
			   bool first_text)
{
	if (statement->is_head) {
		if (first_text)
			put_statement(linker, statement);
		return;
	}
	if (statement->is_extern) {
		if (statement->sized || fake_token_is(statement->first + 1, ".func")) {
			add_name(&linker->needed, statement->name);
			return;
		}
		if (has_name(&linker->defined, statement->name)) /* dynamic memory, which another
								    text declares as well */
			return;
	}
	if (statement->visible && has_name(&linker->defined, statement->name))
		link_complain(linker, "error   : Multiple definition of '%.*s' in 'object'\n",
			      statement->name);
	if (statement->visible || statement->is_extern)
		add_name(&linker->defined, statement->name);
	put_statement(linker, statement);
}

static bool take_text(struct linker *linker, const struct fake_token *tokens, bool first_text)
{
	const struct fake_token *at = tokens;

	while (at->kind != FAKE_TOKEN_END) {
		struct statement statement = next_statement(at);
		if (statement.last->kind == FAKE_TOKEN_END)
			return false;
		take_statement(linker, &statement, first_text);
		at = statement.last + 1;
	}
	return true;
}

char *fake_link_texts(const char *const *texts, unsigned count, char *log, size_t log_bytes)
{
	struct linker *linker = calloc(1, sizeof(*linker));
	char *made = NULL;
	size_t bytes = 0;

	if (!linker || !(linker->out = open_memstream(&made, &bytes))) {
		free(linker);
		return NULL;
	}
	linker->log = log;
	linker->log_bytes = log_bytes;
	for (unsigned i = 0; i < count; i++) {
		size_t token_count = 0;
		struct fake_token *tokens = fake_tokens(texts[i], &token_count);
		if (!tokens || !take_text(linker, tokens, i == 0))
			link_complain(linker, "error   : '%.*s' is no text\n",
				      (struct name){"object", 6});
		free(tokens);
	}
	for (unsigned i = 0; i < linker->needed.count; i++)
		if (!has_name(&linker->defined, linker->needed.list[i]))
			link_complain(linker,
				      "error   : Undefined reference to '%.*s' in 'object'\n",
				      linker->needed.list[i]);
	(void)fclose(linker->out);
	if (linker->failed) {
		free(made);
		made = NULL;
	}
	free(linker);
	return made;
}
