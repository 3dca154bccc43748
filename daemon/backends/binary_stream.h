/*
 * Reading and writing of the containers that backends keep programs in: little-endian numbers,
 * texts (u16 length and its bytes), bytes. The input comes from a cache on disk, so it may be cut
 * off or damaged. A reader that has failed once stays failed, returns 0, and never goes behind the
 * end. Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_BINARY_STREAM_H
#define SYCL_BACKENDS_BINARY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct binary_reader {
	const unsigned char *next;
	size_t left; /* bytes */
	bool failed;
};

/* Up to 8 bytes. */
void binary_put_number(FILE *file, uint64_t value, unsigned bytes);
/* Cut off after 65,535 bytes. */
void binary_put_text(FILE *file, const char *text);
/* Ends what open_memstream began: closes it, and gives its bytes to the caller. 0, or -ENOMEM and
 * nothing is left. */
int binary_put_end(FILE *file, char **stream_bytes, const size_t *stream_count, void **bytes_out,
		   size_t *count_out);

/* True if the input begins with these bytes, which are then skipped. */
bool binary_get_magic(struct binary_reader *reader, const char *magic, size_t bytes);
uint64_t binary_get_number(struct binary_reader *reader, unsigned bytes);
/* Returns the next bytes in place; NULL: there are not so many, or the reader had failed before. */
const void *binary_get_bytes(struct binary_reader *reader, uint64_t count);

#endif
