/*
 * Threads of a connection that run its host tasks and take part in large copies
 * (memory/page_copy.h). The program requests them when it opens the connection. While host tasks
 * are pending, helpers wait for the engine as other threads do. They hold the connection meanwhile
 * and during copies. Idle helpers hold no reference. The program's own threads receive its signals;
 * helpers block them.
 */
#ifndef SYCL_CLIENT_HELPERS_H
#define SYCL_CLIENT_HELPERS_H

#include "syclclient/result.h"

#include <stdbool.h>
#include <stdint.h>

#define HELPERS_MAX 64u

struct connection;
struct helpers;

/* Called before any other thread can use the connection. */
sycl_result helpers_start(struct connection *connection, uint32_t count);
/* Returns the number of helpers. Accepts NULL. */
uint32_t helpers_count(const struct helpers *helpers);
/* Wakes a helper, because there is something to wait for. With the connection's state lock. Accepts
 * NULL. */
void helpers_wake(struct helpers *helpers);
/* As helpers_wake, for all helpers. */
void helpers_wake_all(struct helpers *helpers);
/* Called when the connection has no references, so all helpers are idle. Waits until they have
 * ended; one of them may be the caller. */
struct helpers *helpers_stop(struct connection *connection, struct helpers *helpers);
/* True if the calling thread is a helper of a connection. */
bool helpers_is_one(void);

#endif
