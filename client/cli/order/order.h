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

/* False: *wrong_out names the error. The request points into the words. */
bool order_read(const char *verb, const struct order_words *words,
		Sycl__V1__OrderCommand *order_out, const char **wrong_out);

/* answer.c: shows in one sentence what the order has changed. False: there was no memory. */
bool show_order(const Sycl__V1__AdminReply *reply, const Sycl__V1__OrderCommand *order);

#endif
