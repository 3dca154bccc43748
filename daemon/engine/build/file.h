/* Bytes in and out of files that another process may change meanwhile: copied by read and write,
 * never mapped. */
#ifndef SYCL_ENGINE_BUILD_FILE_H
#define SYCL_ENGINE_BUILD_FILE_H

#include <stddef.h>

/* Most bytes of a binary. A hostile compiler could write without an end. */
#define BUILD_BINARY_BYTES_MAX (256u << 20)

/* Makes a memfd with these bytes, which the caller closes. 0 or a negative errno. */
int build_file_create(const char *name, const void *bytes, size_t count, int *fd_out);

/* Writes all bytes, and repeats interrupted calls. 0 or a negative errno. */
int build_file_write(int fd, const void *bytes, size_t count);

/*
 * The whole file from its first byte, ended by a 0 that is not counted; malloc'ed and the caller's.
 * -EFBIG: more than `limit` bytes.
 */
int build_file_read(int fd, size_t limit, char **bytes_out, size_t *count_out);

/* As build_file_read, but bytes beyond `limit` are left out. */
int build_file_read_start(int fd, size_t limit, char **bytes_out, size_t *count_out);

#endif
