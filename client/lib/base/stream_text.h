/*
 * Records of a stream, made text. The input was written by a kernel, which may have written
 * anything. So every size is checked. No format of it reaches printf, except for one conversion at
 * a time, put together here. Pure.
 *
 * The memory of a stream begins with four 32-bit words. They are the bytes of records, the
 * statements without room, the bytes that there is room for, and a mark. Then there are records. A
 * record has its bytes, a multiple of 8, the number of values, and the bytes of the format. Kinds
 * of the values follow, 4 bits each (1 signed, 2 unsigned, 3 float, 4 double). Then there are
 * values of 8 bytes, and the format, filled to 8 bytes.
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
