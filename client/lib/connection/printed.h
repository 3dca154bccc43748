/* What kernels of this session have printed, kept until the program takes it. Under the
 * connection's state lock. */
#ifndef SYCL_CLIENT_PRINTED_H
#define SYCL_CLIENT_PRINTED_H

#include "command.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

#define PRINTED_KEPT_MAX (16u << 20) /* bytes; the rest is lost */

struct connection;

struct printed {
	char *text;
	size_t bytes, room;
	bool is_cut; /* some text is lost, here or in the service */
};

/* Receiver of Reply.output. With the state lock. */
void printed_receive(struct connection *connection, const Sycl__V1__Reply *reply);
/* Takes what is there, with what the reply ring has; the caller frees the text. Without locks;
 * costs little if there is nothing. */
struct printed printed_take(struct connection *connection);
/* Frees the text when the connection ends. */
void printed_fini(struct printed *output);

#endif
