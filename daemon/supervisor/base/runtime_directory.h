/*
 * The folder of the sockets. Its owner decides which service clients reach. So it must be owned by
 * this uid, not writable for others, and reached without a symbolic link at its end.
 */
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

/*
 * Open it, made if missing (0700 in user mode, else 0755). `given` NULL: the mode's own place. On
 * failure a negative errno and a sentence.
 */
int runtime_directory_open(const char *given, bool user, struct runtime_directory *directory_out,
			   char *message_out, size_t message_bytes);

/*
 * Hold the folder's lock as long as this process lives. `inherited` is a descriptor that may hold
 * it already (-1: none); it is taken then. -EBUSY: another service has held it for two seconds.
 */
int runtime_directory_lock(struct runtime_directory *directory, int inherited);

/* A file for output without a terminal: appended, emptied when it has grown large. The descriptor,
 * or a negative errno. */
int runtime_directory_open_log(const struct runtime_directory *directory);

/*
 * Open a folder for files (not sockets) under the same rules, made if missing (0700; parents are
 * not made). `owner` and its group get it when it is made. The descriptor, or a negative errno.
 */
int directory_open_private(const char *path, unsigned owner, unsigned group);

void runtime_directory_close(struct runtime_directory *directory);

#endif
