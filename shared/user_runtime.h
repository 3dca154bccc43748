/*
 * The folder of this user's own service. The service, the library and syclctl must find the same
 * folder without communicating. It is $XDG_RUNTIME_DIR/sycld if that variable is set, else
 * sycld-UID in a folder that all users share. Another user may have made a folder of that name
 * there first. Then it is $XDG_STATE_HOME/sycld, else ~/.local/state/sycld, and remains so as long
 * as this last folder exists.
 */
#ifndef SYCL_SHARED_USER_RUNTIME_H
#define SYCL_SHARED_USER_RUNTIME_H

#include <stddef.h>

#define USER_RUNTIME_SHARED "/tmp"

/*
 * The path, from the folders that exist now; `shared` is USER_RUNTIME_SHARED except in tests. The
 * code that opens the folder must check that it is safe. 0 or -ENAMETOOLONG. Any thread; reads the
 * file system.
 */
int user_runtime_path(const char *shared, char *path_out, size_t size);

/*
 * Finds the path, and makes the folder, closed to others, if it is missing. Also makes those
 * folders of the user's own that are above it. If the folder cannot be made, the path is that of
 * the last attempt. 0 or a negative errno.
 */
int user_runtime_make(const char *shared, char *path_out, size_t size);

#endif
