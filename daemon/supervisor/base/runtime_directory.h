/* The folder of the sockets. Its owner determines which service clients reach. So it must be owned
 * by this uid, not writable for others, and reached without a symbolic link at its end. */
#ifndef SYCLD_SUPERVISOR_RUNTIME_DIRECTORY_H
#define SYCLD_SUPERVISOR_RUNTIME_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#define SESSION_SOCKET_NAME "session.sock"
#define STATUS_SOCKET_NAME  "status.sock"
#define ADMIN_SOCKET_NAME   "admin.sock"
#define ENGINE_SOCKET_NAME  "engine.sock"

/* The path of a socket in it must fit sun_path. */
enum { RUNTIME_DIRECTORY_BYTES = 108 - (int)sizeof("/" SESSION_SOCKET_NAME) + 1 };

struct runtime_directory {
	int fd;
	int lock_fd;
	char path[RUNTIME_DIRECTORY_BYTES];
};

#define RUNTIME_DIRECTORY_INIT                                                                     \
	{                                                                                          \
		.fd = -1, .lock_fd = -1                                                            \
	}

/* Opens the folder; makes it if missing (0700 in user mode, else 0755). `given` NULL: the mode's
 * default. On failure a negative errno and a sentence. */
int runtime_directory_open(const char *given, bool user, struct runtime_directory *directory_out,
			   char *message_out, size_t message_bytes);

/*
 * Holds the folder's lock until this process ends. `inherited` is a descriptor that may hold the
 * lock already (-1: none), and is then taken. -EBUSY: another service has held the lock for two
 * seconds.
 */
int runtime_directory_lock(struct runtime_directory *directory, int inherited);

/* Opens a file for output without a terminal. It is appended to, and emptied when it has grown
 * large. Returns the descriptor, or a negative errno. */
int runtime_directory_open_log(const struct runtime_directory *directory);

/*
 * Opens a folder for files (not sockets) under the same rules; makes it if missing (0700; parents
 * are not made). A new folder belongs to `owner` and its group. Returns the descriptor, or a
 * negative errno.
 */
int directory_open_private(const char *path, unsigned owner, unsigned group);

void runtime_directory_close(struct runtime_directory *directory);

#endif
