/* Divides a whole: each gets its least part, and the rest is divided equally among those that take
 * more. Pure. */
#ifndef SYCLD_SUPERVISOR_DIVISION_PARTS_H
#define SYCLD_SUPERVISOR_DIVISION_PARTS_H

#include <stdint.h>

enum { DIVISION_USERS = 256 };

struct division_part {
	uint32_t least, most; /* permille of DIVISION_WHOLE; most 0: it takes no part */
	uint32_t part;        /* the result; the sum is at most the whole */
};

void division_parts(struct division_part *parts, uint32_t count);

#endif
