/* Divides PTX text into words and signs, with their lines. */
#ifndef SYCL_TESTS_FAKE_PTX_H
#define SYCL_TESTS_FAKE_PTX_H

#include <stdbool.h>
#include <stddef.h>

enum fake_token_kind {
	FAKE_TOKEN_END,
	FAKE_TOKEN_WORD,
	FAKE_TOKEN_NUMBER,
	FAKE_TOKEN_SIGN,
	FAKE_TOKEN_STRING
};

struct fake_token {
	enum fake_token_kind kind;
	const char *text;
	size_t length;
	unsigned line;
};

/* All tokens of a text without its comments. The last one is END. Malloc'ed; NULL: no memory. */
struct fake_token *fake_tokens(const char *text, size_t *count_out);
bool fake_token_is(const struct fake_token *token, const char *text);
bool fake_token_begins(const struct fake_token *token, const char *text);
unsigned long long fake_token_number(const struct fake_token *token);
/* Returns the bytes of ".u32" and the like, also inside of a word such as "u32". 0: it is no
 * type. */
unsigned fake_type_bytes(const char *text, size_t length);

#endif
