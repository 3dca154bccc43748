/*
 * Where this user's own service has its folder: the service, the library and syclctl must find the
 * same place without talking. $XDG_RUNTIME_DIR/sycld where that is to be had, else sycld-UID in a
 * folder that all users share. Anybody may make one of that name there first: then it is
 * $XDG_STATE_HOME/sycld, else ~/.local/state/sycld, which stays the place for as long as it is
 * there.
 */
#ifndef SYCL_SHARED_USER_RUNTIME_H
#define SYCL_SHARED_USER_RUNTIME_H

#include <stddef.h>

#define USER_RUNTIME_SHARED "/tmp"

/*
 * The path, by what is there now; `shared` is USER_RUNTIME_SHARED but in tests. Whether the folder
 * is safe to use its opener looks. 0 or -ENAMETOOLONG. Any thread; looks at files.
 */
int user_runtime_path(const char *shared, char *path_out, size_t size);

/*
 * As above, and make the folder, closed to others, if it is missing, and those of the user's own
 * above it. Where it cannot be made the path is that of the place that was tried. 0 or a negative
 * errno.
 */
int user_runtime_make(const char *shared, char *path_out, size_t size);

#endif
