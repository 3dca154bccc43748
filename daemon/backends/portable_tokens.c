#include "portable_tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lexer {
	const char *at, *end;
	bool line_begins;
	struct portable_tokens tokens;
	uint32_t capacity;
	uint32_t open; /* the innermost open bracket, whose `match` is the next outer one */
};

static bool is_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of a comment that begins here; NULL: none does. */
static const char *comment_end(const char *at, const char *end)
{
	const char *stop;

	if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
		return NULL;
	if (at[1] == '/') {
		stop = memchr(at, '\n', (size_t)(end - at));
		return stop ? stop : end;
	}
	stop = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
	return stop ? stop + 2 : end;
}

static void lexer_skip_space(struct lexer *lexer)
{
	while (lexer->at < lexer->end) {
		const char *stop = comment_end(lexer->at, lexer->end);
		if (stop) {
			lexer->at = stop;
			continue;
		}
		if (!isspace((unsigned char)*lexer->at) && *lexer->at != '\\')
			return;
		lexer->line_begins |= *lexer->at == '\n';
		lexer->at++;
	}
}

static const char *directive_end(const char *at, const char *end)
{
	while (at < end && *at != '\n') {
		const char *stop = comment_end(at, end);
		if (stop)
			at = stop;
		else
			at += *at == '\\' && end - at > 1 ? 2 : 1;
	}
	return at;
}

static const char *quote_end(const char *at, const char *end)
{
	const char quote = *at++;

	while (at < end && *at != quote && *at != '\n')
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	return at < end && *at == quote ? at + 1 : at;
}

/* Numbers include their suffix, point and exponent. */
static const char *word_end(const char *at, const char *end)
{
	const bool is_number = isdigit((unsigned char)*at);

	for (; at < end; at++) {
		if (is_number &&
		    (*at == '.' || ((*at == '+' || *at == '-') && strchr("eEpP", at[-1]))))
			continue;
		if (!is_name_character(*at))
			break;
	}
	return at;
}

static int tokens_append(struct lexer *lexer, enum portable_token_kind kind, const char *stop)
{
	struct portable_tokens *tokens = &lexer->tokens;

	if (tokens->count == lexer->capacity) {
		const uint32_t capacity = lexer->capacity ? 2 * lexer->capacity : 256;
		struct portable_token *more =
			realloc(tokens->list, capacity * sizeof(*tokens->list));
		if (!more)
			return -ENOMEM;
		tokens->list = more;
		lexer->capacity = capacity;
	}
	tokens->list[tokens->count++] =
		(struct portable_token){.at = lexer->at,
					.bytes = (uint32_t)(stop - lexer->at),
					.match = PORTABLE_NO_MATCH,
					.kind = kind};
	lexer->at = stop;
	lexer->line_begins = false;
	return 0;
}

static bool bracket_closes(char open, char close)
{
	return (open == '(' && close == ')') || (open == '[' && close == ']') ||
	       (open == '{' && close == '}');
}

static int match_bracket(struct lexer *lexer)
{
	struct portable_token *list = lexer->tokens.list;
	const uint32_t index = lexer->tokens.count - 1;
	const char c = *list[index].at;

	if (c == '(' || c == '[' || c == '{') {
		list[index].match = lexer->open;
		lexer->open = index;
	} else if (c == ')' || c == ']' || c == '}') {
		const uint32_t open = lexer->open;
		if (open == PORTABLE_NO_MATCH || !bracket_closes(*list[open].at, c))
			return -EINVAL;
		lexer->open = list[open].match;
		list[open].match = index;
		list[index].match = open;
	}
	return 0;
}

static int read_token(struct lexer *lexer)
{
	const char *at = lexer->at, *end = lexer->end;

	if (*at == '#' && lexer->line_begins)
		return tokens_append(lexer, PORTABLE_DIRECTIVE, directive_end(at, end));
	if (*at == '"' || *at == '\'')
		return tokens_append(lexer, PORTABLE_OTHER, quote_end(at, end));
	if (is_name_character(*at))
		return tokens_append(lexer,
				     isdigit((unsigned char)*at) ? PORTABLE_OTHER : PORTABLE_NAME,
				     word_end(at, end));
	int error = tokens_append(lexer, PORTABLE_MARK, at + 1);
	return error < 0 ? error : match_bracket(lexer);
}

int portable_tokens_read(const char *source, size_t bytes, struct portable_tokens *tokens_out)
{
	struct lexer lexer = {.at = source,
			      .end = source + bytes,
			      .line_begins = true,
			      .open = PORTABLE_NO_MATCH};
	int error = bytes > UINT32_MAX ? -EINVAL : 0;

	for (lexer_skip_space(&lexer); error == 0 && lexer.at < lexer.end; lexer_skip_space(&lexer))
		error = read_token(&lexer);
	if (error == 0 && lexer.open != PORTABLE_NO_MATCH)
		error = -EINVAL;
	if (error < 0)
		portable_tokens_fini(&lexer.tokens);
	else
		*tokens_out = lexer.tokens;
	return error;
}

void portable_tokens_fini(struct portable_tokens *tokens)
{
	free(tokens->list);
	*tokens = (struct portable_tokens){0};
}

bool portable_token_is(const struct portable_tokens *tokens, size_t index, const char *text)
{
	if (index >= tokens->count)
		return false;
	const struct portable_token *token = &tokens->list[index];
	return strlen(text) == token->bytes && memcmp(token->at, text, token->bytes) == 0;
}
