/*
 * Memory that other processes find by a name. It is a file in /dev/shm, or in /tmp if that has too
 * little room. Each process removes the files of processes that have ended.
 */
#ifndef SYCL_TESTS_FAKE_FILES_H
#define SYCL_TESTS_FAKE_FILES_H

#include <stddef.h>

/* Makes a file with all of its bytes allocated, and a name for it. Returns a descriptor or a
 * negative errno. */
int fake_file_make(const char *what, size_t bytes, char *name_out, size_t name_bytes);
int fake_file_open(const char *what, const char name[64]); /* of any process */
void fake_file_remove(const char *name);
void fake_files_sweep(void);

#endif
