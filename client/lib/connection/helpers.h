/*
 * Threads of a connection that run its host tasks and take part in large copies
 * (memory/page_copy.h), if it was opened with some. While host tasks have not begun, helpers wait
 * for the engine as every other thread does. They hold the connection meanwhile, and while they
 * copy; otherwise they rest and hold nothing. Signals stay with the program's own threads.
 */
#ifndef SYCL_CLIENT_HELPERS_H
#define SYCL_CLIENT_HELPERS_H

#include "syclclient/result.h"

#include <stdbool.h>
#include <stdint.h>

#define HELPERS_MAX 64u

struct connection;
struct helpers;

/* Before any other thread has the connection. */
sycl_result helpers_start(struct connection *connection, uint32_t count);
/* How many there are. Accepts NULL. */
uint32_t helpers_count(const struct helpers *helpers);
/* There is something to wait for. With the connection's state lock. Accepts NULL. */
void helpers_wake(struct helpers *helpers);
/* The same, for all of them. */
void helpers_wake_all(struct helpers *helpers);
/* The connection has no references left: they rest. Waits until they have ended; one of them may
 * call it. */
struct helpers *helpers_stop(struct connection *connection, struct helpers *helpers);
/* Is the calling thread one of a connection's? */
bool helpers_is_one(void);

#endif
