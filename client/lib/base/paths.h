/* Paths of the programs, the engine's library and the service's sockets. The environment is read
 * with secure_getenv only. */
#ifndef SYCL_CLIENT_PATHS_H
#define SYCL_CLIENT_PATHS_H

#define PATH_BYTES               4096 /* as realpath requires */
#define SYSTEM_RUNTIME_DIRECTORY "/run/sycld"
#define SESSION_SOCKET_NAME      "session.sock"

/*
 * Returns the user's runtime folder, as user_runtime.h finds it; makes it (0700) if `make`. 0 or a
 * negative errno; path_out is set in either case. -ENOENT: there is none. -EPERM: it is a link,
 * belongs to another user or is open to others.
 */
int path_user_runtime(int make, char path_out[PATH_BYTES]);

/* Returns the path of a program ("sycld", "sycl-engine") next to this library's folder, else where
 * it was installed. 0 or -ENOENT. */
int path_program(const char *name, char path_out[PATH_BYTES]);

/* Returns the path of a library in this library's folder, else where it was installed. 0 or
 * -ENOENT. */
int path_library(const char *name, char path_out[PATH_BYTES]);

/* Returns $XDG_CACHE_HOME/sycld, else ~/.cache/sycld, which need not exist. 0 or -ENOENT. */
int path_user_cache(char path_out[PATH_BYTES]);

#endif
