/* Where the programs, the engine's library and the service's sockets are. Environment by
 * secure_getenv only. */
#ifndef SYCL_CLIENT_PATHS_H
#define SYCL_CLIENT_PATHS_H

#define PATH_BYTES               4096 /* as realpath requires it */
#define SYSTEM_RUNTIME_DIRECTORY "/run/sycld"
#define SESSION_SOCKET_NAME      "session.sock"

/*
 * The user's runtime folder, as user_runtime.h finds it; made (0700) if `make`. 0 or a negative
 * errno, and the path in either case: -ENOENT there is none; -EPERM it is a link, belongs to
 * another user or is open to others.
 */
int path_user_runtime(int make, char path_out[PATH_BYTES]);

/* A program ("sycld", "sycl-engine") next to this library's folder, else where it was installed. 0
 * or -ENOENT. */
int path_program(const char *name, char path_out[PATH_BYTES]);

/* A library in this library's own folder, else where it was installed. 0 or -ENOENT. */
int path_library(const char *name, char path_out[PATH_BYTES]);

/* $XDG_CACHE_HOME/sycld, else ~/.cache/sycld. 0 or -ENOENT. Not made. */
int path_user_cache(char path_out[PATH_BYTES]);

#endif
