/*
 * Launches that are repeated. A queue keeps the arguments of a launch that was sent as a RESUBMIT
 * record (resubmit.h), and the name of its shape. When sycl_queue_launch gets the same launch
 * again, with any values, no handler is built. Only facts that may have changed are checked. The
 * values are copied into the next record.
 *
 * A kept launch has handles and ids, no references, so it keeps no object alive. All of it is used
 * with the submit lock. A buffer or kernel that ends takes that lock before its memory is freed
 * (connection_await_writer). So an object whose handle is good stays until the record is written.
 */
#ifndef SYCL_CLIENT_REPEAT_H
#define SYCL_CLIENT_REPEAT_H

#include "base/shapes.h"
#include "handler/handler.h"

#include "syclclient/launch.h"

#define REPEAT_ARGUMENTS_MAX 16u

/*
 * Sends the launch if the queue keeps it, and no change prevents that. False: nothing was sent, and
 * the launch must be submitted in the usual way, which reports errors. The launch and the queue are
 * checked; `event_out` may be NULL. Without locks.
 */
bool repeat_launch(struct queue *queue, const struct sycl_launch *launch, sycl_event *event_out);

/* Keeps the launch from which the handler was built, if there is one. Its record has that name and
 * is in the ring. With the submit lock. */
void repeat_remember(const struct handler *handler, struct shape_name name, uint32_t rest_bytes);

#endif
