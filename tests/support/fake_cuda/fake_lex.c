#include "fake_ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at, unsigned *line)
{
	for (;;) {
		if (*at == '\n')
			++*line;
		if (isspace((unsigned char)*at)) {
			at++;
		} else if (at[0] == '/' && at[1] == '/') {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");
			end = end ? end + 2 : at + strlen(at);
			for (; at < end; at++)
				*line += *at == '\n';
		} else {
			return at;
		}
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '%';
}

static struct fake_token next_token(const char **at, unsigned *line)
{
	struct fake_token token = {.kind = FAKE_TOKEN_END};
	const char *text = skip_space(*at, line);

	token.text = text;
	token.line = *line;
	if (!*text) {
		*at = text;
		return token;
	}
	token.kind = FAKE_TOKEN_SIGN;
	token.length = 1;
	if (is_word(*text)) {
		token.kind = isdigit((unsigned char)*text) ? FAKE_TOKEN_NUMBER : FAKE_TOKEN_WORD;
		while (is_word(text[token.length]) ||
		       (text[token.length] == ':' && text[token.length + 1] == ':' &&
			token.kind == FAKE_TOKEN_WORD && text[0] != '$'))
			token.length += text[token.length] == ':' ? 2 : 1;
	} else if (*text == '"') {
		token.kind = FAKE_TOKEN_STRING;
		while (text[token.length] && text[token.length] != '"')
			token.length++;
		token.length += text[token.length] == '"';
	}
	*at = text + token.length;
	return token;
}

struct fake_token *fake_tokens(const char *text, size_t *count_out)
{
	size_t count = 0, capacity = 0;
	struct fake_token *tokens = NULL;
	unsigned line = 1;

	for (;;) {
		if (count == capacity) {
			capacity = capacity ? capacity * 2 : 1024;
			struct fake_token *more = reallocarray(tokens, capacity, sizeof(*tokens));
			if (!more) {
				free(tokens);
				return NULL;
			}
			tokens = more;
		}
		tokens[count] = next_token(&text, &line);
		if (tokens[count++].kind == FAKE_TOKEN_END)
			break;
	}
	*count_out = count;
	return tokens;
}

bool fake_token_is(const struct fake_token *token, const char *text)
{
	return strlen(text) == token->length && memcmp(token->text, text, token->length) == 0;
}

bool fake_token_begins(const struct fake_token *token, const char *text)
{
	size_t length = strlen(text);

	return length <= token->length && memcmp(token->text, text, length) == 0;
}

unsigned long long fake_token_number(const struct fake_token *token)
{
	return strtoull(token->text, NULL, 0);
}

unsigned fake_type_bytes(const char *text, size_t length)
{
	if (length && *text == '.') {
		text++;
		length--;
	}
	if (length == 4 && memcmp(text, "pred", 4) == 0)
		return 1;
	if (length < 2 || length > 4 || !strchr("busf", *text))
		return 0;
	unsigned bits = (unsigned)strtoul(text + 1, NULL, 10);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / 8 : 0;
}
