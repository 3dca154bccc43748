/* Bytes in and out of files that another process may change meanwhile: copied by read and write,
 * never mapped. */
#ifndef SYCL_ENGINE_BUILD_FILE_H
#define SYCL_ENGINE_BUILD_FILE_H

#include <stddef.h>

/* A binary may have this many bytes; a hostile compiler could write for ever. */
#define BUILD_BINARY_BYTES_MAX (256u << 20)

/* A memfd with these bytes; the caller closes. 0 or a negative errno. */
int build_file_create(const char *name, const void *bytes, size_t count, int *fd_out);

/* Write all, retrying what was interrupted. 0 or a negative errno. */
int build_file_write(int fd, const void *bytes, size_t count);

/*
 * The whole file from its first byte, ended by a 0 that is not counted; malloc'ed and the caller's.
 * -EFBIG: more than `limit` bytes.
 */
int build_file_read(int fd, size_t limit, char **bytes_out, size_t *count_out);

/* As above, but what lies beyond `limit` is left out. */
int build_file_read_start(int fd, size_t limit, char **bytes_out, size_t *count_out);

#endif
