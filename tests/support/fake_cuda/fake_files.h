/*
 * Memory that other processes find by a name. Files in /dev/shm, or in /tmp where that has too
 * little room; names of processes that are gone are removed by the next one.
 */
#ifndef SYCL_TESTS_FAKE_FILES_H
#define SYCL_TESTS_FAKE_FILES_H

#include <stddef.h>

/* A descriptor, all of its bytes there, and its name; or a negative errno. */
int fake_file_make(const char *what, size_t bytes, char *name_out, size_t name_bytes);
int fake_file_open(const char *what, const char name[64]); /* of whatever process */
void fake_file_remove(const char *name);
void fake_files_sweep(void);

#endif
