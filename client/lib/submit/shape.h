/* Describes a handler as a shape (shapes.h), and the changes from one group of a shape to the next
 * as a record (resubmit.h). */
#ifndef SYCL_CLIENT_HANDLER_SHAPE_H
#define SYCL_CLIENT_HANDLER_SHAPE_H

#include "handler/handler.h"
#include "resubmit.h"
#include "base/shapes.h"

/* False: such a group has no shape and is sent as a message. `rest_bytes_out`: the bytes that
 * handler_write_rest will write. */
bool handler_shape(const struct handler *handler, struct shape_key *key, uint32_t *rest_bytes_out);
/* Writes the group's events, addresses and values. */
void handler_write_rest(const struct handler *handler, uint8_t *at);

#endif
