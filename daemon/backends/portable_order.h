/*
 * The words of a portable source that order accesses of work-items. The checking mode counts the
 * barriers that a kernel's body names. If a source orders accesses in another way, its races are
 * not looked for: an access could be taken for one without order. Pure; any thread.
 */
#ifndef SYCL_BACKENDS_PORTABLE_ORDER_H
#define SYCL_BACKENDS_PORTABLE_ORDER_H

#include "portable_tokens.h"

#include <stdbool.h>

enum portable_order {
	PORTABLE_ORDER_NONE,
	PORTABLE_ORDER_BARRIER, /* of the group, a statement */
	PORTABLE_ORDER_VALUE,   /* of the group; takes and returns a value */
	PORTABLE_ORDER_TEST,    /* of the group; takes a condition */
	PORTABLE_ORDER_OTHER    /* a fence, a word of sub-groups, one of a single language */
};

/* The effect of a token on the order. A line of the preprocessor with such a word is OTHER. */
enum portable_order portable_order_of(const struct portable_token *token);

/* True if a build's options have such a word: a macro that they define may order accesses. */
bool portable_order_is_in(const char *options);

#endif
