/*
 * A portable source as a list of tokens, for what reads or changes it as text. Macros are not
 * expanded. Pure; any thread. A source may be any text.
 */
#ifndef SYCL_BACKENDS_PORTABLE_TOKENS_H
#define SYCL_BACKENDS_PORTABLE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORTABLE_NO_MATCH UINT32_MAX

enum portable_token_kind {
	PORTABLE_NAME,     /* also a keyword */
	PORTABLE_OTHER,    /* a number, or a text in quotes */
	PORTABLE_MARK,     /* one character */
	PORTABLE_DIRECTIVE /* a whole line of the preprocessor, with the lines joined to it */
};

struct portable_token {
	const char *at; /* in the source */
	uint32_t bytes;
	uint32_t match; /* of a bracket: the index of the other one; else NO_MATCH */
	enum portable_token_kind kind;
};

struct portable_tokens {
	struct portable_token *list; /* malloc'ed */
	uint32_t count;
};

/* 0; -EINVAL: the brackets do not match; -ENOMEM. */
int portable_tokens_read(const char *source, size_t bytes, struct portable_tokens *tokens_out);
void portable_tokens_fini(struct portable_tokens *tokens);

/* True if there is a token `index`, and it is this text. */
bool portable_token_is(const struct portable_tokens *tokens, size_t index, const char *text);

#endif
