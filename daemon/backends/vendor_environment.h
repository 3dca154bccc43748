/*
 * Changes of the environment before backends open their vendor's library: drivers read it when they
 * are loaded or at the first call. One thread.
 */
#ifndef SYCL_BACKENDS_VENDOR_ENVIRONMENT_H
#define SYCL_BACKENDS_VENDOR_ENVIRONMENT_H

#include <stdbool.h>

/*
 * Have the variable so, NULL: not at all. Writing the environment races with readers in other
 * threads of an application, so one that is right already is left alone.
 */
void vendor_variable_set(const char *name, const char *value);

/* The folder `name` of the cache directory, malloc'ed, made if it is missing. NULL: there is no
 * such folder that only this user can write. The contents of the folder are executed. */
char *vendor_cache_folder(const char *cache_directory, const char *name);

#endif
