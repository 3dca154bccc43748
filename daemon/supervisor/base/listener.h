/* The socket on which sessions arrive. */
#ifndef SYCLD_SUPERVISOR_LISTENER_H
#define SYCLD_SUPERVISOR_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum listener_origin {
	LISTENER_BOUND,     /* bound here */
	LISTENER_PASSED,    /* --listen-fd: made by the starting process for this service only */
	LISTENER_ACTIVATED, /* the service manager's; it stays open after this service */
};

struct listener {
	int fd;
	enum listener_origin origin;
	uv_loop_t *loop; /* NULL: not started */
	uv_poll_t *poll; /* NULL: the address is released */
	uv_timer_t pause;
	int reserve_fd; /* closed to be able to accept and refuse when no descriptors are left */
	const char *path;
	int type;
	mode_t mode;
	/* Called for each connection; takes the socket (non-blocking, CLOEXEC). */
	void (*connected)(void *context, int socket);
	/*
	 * Called for a connection that cannot be served for lack of descriptors; takes the socket.
	 */
	void (*starved)(void *context, int socket);
	void *context;
};

/*
 * Finds or makes the socket. The service manager passes it, else `listen_fd`; else it is bound in
 * the folder. The folder's lock is held, so a socket in it belongs to no running service.
 * `passed_by_manager` is the result of sd_listen_fds(). On failure a negative errno and a sentence.
 */
int listener_acquire(int passed_by_manager, int listen_fd, const char *path, mode_t mode,
		     struct listener *listener_out, char *message_out, size_t message_bytes);

/*
 * Binds a socket of `type` at `path`, with that mode, and listens. The path may only have a socket
 * that no process uses. 0 or a negative errno. The caller owns the path, which must exist as long
 * as the listener.
 */
int listener_bind(const char *path, int type, mode_t mode, struct listener *listener_out);

/* Accepts connections from now on. 0 or a negative errno. The listener must not move afterwards. */
int listener_start(struct listener *listener, uv_loop_t *loop);

/*
 * Releases the address without losing a client. Earlier connections are still passed to
 * `connected`. Later ones fail, and the client finds or starts another service. True: some were
 * passed, and `listener_reopen` may take the address back. Does not change a socket of the service
 * manager.
 */
bool listener_retire(struct listener *listener);

/* Called after listener_retire, while the folder's lock is still held. 0 or a negative errno. */
int listener_reopen(struct listener *listener);

/* Removes the path of a socket that was bound here or made for this service only. */
void listener_forget(const struct listener *listener);

/* Closes all descriptors. The loop must run once more before the listener's memory is freed. */
void listener_close(struct listener *listener);

#endif
