/* The socket on which sessions arrive. */
#ifndef SYCLD_SUPERVISOR_LISTENER_H
#define SYCLD_SUPERVISOR_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum listener_origin {
	LISTENER_BOUND,  /* bound here */
	LISTENER_PASSED, /* --listen-fd: made by the process that started this service, for it alone
			  */
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
	/* Called for a connection that cannot be served for lack of descriptors; takes the socket.
	 */
	void (*starved)(void *context, int socket);
	void *context;
};

/*
 * Find or make the socket. It is passed by the service manager, else `listen_fd`, else bound in the
 * folder. The folder's lock is held, so a socket that lies there belongs to no running service.
 * `passed_by_manager` is the result of sd_listen_fds(). On failure a negative errno and a sentence.
 */
int listener_acquire(int passed_by_manager, int listen_fd, const char *path, mode_t mode,
		     struct listener *listener_out, char *message_out, size_t message_bytes);

/*
 * Bind a socket of `type` at `path`, with that mode, and listen. Only a socket that no process uses
 * may lie there. 0 or a negative errno. The path stays the caller's, and must live as long as the
 * listener.
 */
int listener_bind(const char *path, int type, mode_t mode, struct listener *listener_out);

/* Accept from now on. 0 or a negative errno. The listener must not move afterwards. */
int listener_start(struct listener *listener, uv_loop_t *loop);

/*
 * Release the address without losing a client. Connections made before are still passed to
 * `connected`; later ones fail, and the client finds or starts another service. True: some were
 * passed, and `listener_reopen` may take the address back. A socket of the service manager is left
 * alone.
 */
bool listener_retire(struct listener *listener);

/* After listener_retire, while the folder's lock is still held. 0 or a negative errno. */
int listener_reopen(struct listener *listener);

/* Remove the path of a socket that was bound here or made for this service alone. */
void listener_forget(const struct listener *listener);

/* Close what is open. The loop must run once more before the listener's memory goes. */
void listener_close(struct listener *listener);

#endif
