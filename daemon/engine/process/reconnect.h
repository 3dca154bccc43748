/*
 * Waits for the next supervisor. Checks the path where it will listen, when something changes in
 * that folder and once a second. Front thread.
 */
#ifndef SYCL_ENGINE_RECONNECT_H
#define SYCL_ENGINE_RECONNECT_H

#include <uv.h>

struct reconnect;

/*
 * Begins to wait. `connected` takes the socket (non-blocking). Then the wait is over: free the
 * object, or call reconnect_again. 0 or a negative errno.
 */
int reconnect_create(uv_loop_t *loop, const char *socket_path,
		     void (*connected)(void *context, int socket), void *context,
		     struct reconnect **reconnect_out);
/* The loop must run once more. Accepts NULL, returns NULL. */
struct reconnect *reconnect_free(struct reconnect *reconnect);
/* The connection failed: waits again, a little longer than the last time. */
void reconnect_again(struct reconnect *reconnect);

#endif
