/* Orders, from the words of a command line to a request. */
#ifndef SYCLCTL_ORDER_H
#define SYCLCTL_ORDER_H

#include "admin.pb-c.h"

#include <stdbool.h>

enum { ORDER_WORDS = 2 };

/* The words after the verb, as the user wrote them. */
struct order_words {
	const char *word[ORDER_WORDS];
	int count;
	const char *uid, *reason; /* NULL: not given */
	bool all;
};

/* Every name that `syclctl limit` takes, each with a space before it. */
extern const char order_limit_names[];

/* Reads a whole number of that range. */
bool order_read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number_out);

/* Find a user's uid and a group's gid. False: *wrong_out names the word, and is valid until the
 * next call. */
bool order_read_user(const char *word, uint32_t *uid_out, const char **wrong_out);
bool order_read_group(const char *word, uint32_t *gid_out, const char **wrong_out);

/* False: *wrong_out names the error. The request points into the words. */
bool order_read(const char *verb, const struct order_words *words,
		Sycl__V1__OrderCommand *order_out, const char **wrong_out);

#endif
