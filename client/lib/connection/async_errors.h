/* Errors that belong to no queue are kept until the program requests them (D17). Under the
 * connection's state lock. */
#ifndef SYCL_CLIENT_ASYNC_ERRORS_H
#define SYCL_CLIENT_ASYNC_ERRORS_H

#include "base/error.h"

#define ASYNC_ERRORS_MAX 1024u /* the first ones are kept */

struct connection;

struct async_error {
	struct async_error *next;
	struct failure failure;
};

struct async_errors {
	struct async_error *first, **last; /* `last` NULL: none was ever added */
	uint32_t count;
};

/* Without memory the error is dropped, because the call that detected it has returned it too.
 * Without locks. */
void async_errors_add(struct connection *connection, const struct failure *failure);
/* Takes all errors; the caller frees them with async_errors_fini. Without locks. */
struct async_errors async_errors_take_all(struct connection *connection);
/* Frees the list when the connection ends. */
void async_errors_fini(struct async_errors *errors);

#endif
