/*
 * Turns records of a stream into text. A kernel wrote the input, and may have written anything, so
 * every size is checked. printf never receives a format of the input, only one conversion at a time
 * that is built here. Pure.
 *
 * The memory of a stream begins with four 32-bit words: the bytes of records, the number of
 * statements that found no room, the capacity in bytes, and a mark. Records follow. A record has
 * its size in bytes, a multiple of 8; the number of values; and the size of the format. Then follow
 * the kinds of the values, 4 bits each (1 signed, 2 unsigned, 3 float, 4 double). Then follow
 * values of 8 bytes each, and the format, padded to 8 bytes.
 */
#ifndef SYCL_CLIENT_STREAM_TEXT_H
#define SYCL_CLIENT_STREAM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define STREAM_HEAD_BYTES 16u
#define STREAM_MARK       0x6d727473u
enum { STREAM_USED, STREAM_LOST, STREAM_ROOM, STREAM_IS_MARKED };

/* `bytes` of records. The text is malloc'ed, ended by 0, and the caller's; NULL: no memory.
 * `*bytes_out` without the 0. */
char *stream_text(const unsigned char *records, size_t bytes, size_t *bytes_out);

#endif
