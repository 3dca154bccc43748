/*
 * Records of a stream, made text. What is read was written by a kernel, which may have written
 * anything: every size is checked, and no format of it ever reaches printf but for one conversion
 * at a time, put together here. Pure.
 *
 * In 32-bit words: how many bytes of records were taken, how many statements found no room, how
 * many bytes there is room for, a mark; then records. Of a record: its bytes, a multiple of 8; how
 * many values; bytes of the format; kinds of the values, 4 bits each (1 signed, 2 unsigned, 3
 * float, 4 double); values of 8 bytes; the format, filled to 8 bytes.
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
