/*
 * Changes of the environment before backends open their vendor's library: drivers read it when they
 * are loaded or at the first call. Any thread; a call may wait for another thread's.
 */
#ifndef SYCL_BACKENDS_VENDOR_ENVIRONMENT_H
#define SYCL_BACKENDS_VENDOR_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Give the variable this value; NULL: remove it. Other threads, also an application's, may read the
 * environment meanwhile, but none may write it. A variable that is right already is left alone;
 * each change keeps about as much memory as the environment's array has. 0 or -ENOMEM.
 */
int vendor_variable_set(const char *name, const char *value);

/* The folder `name` of the cache directory, malloc'ed, made if it is missing. NULL: there is no
 * such folder that only this user can write. The contents of the folder are executed. */
char *vendor_cache_folder(const char *cache_directory, const char *name);

#endif
