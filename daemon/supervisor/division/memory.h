/*
 * Which engines give device memory back when another one finds no room on a device. Pure.
 *
 * The device's memory has a part for each user that holds some or asks for some: by the users'
 * shares, else equal parts. A user's part is divided equally among that user's engines. Then:
 *
 *   - An engine gets nothing beyond its own part, and its user nothing from others beyond the
 *     user's part.
 *   - An engine gives only what it holds above its own part. What it gives to another user leaves
 *     its user at least the user's part.
 *   - Those with most above their part give first.
 *
 * Figures are claims. What an engine must give is decided by its own claims alone, and the number
 * of users. So an engine that claims too little gives less, as one does that gives nothing. No
 * claim takes more from another user than that user's part allows.
 */
#ifndef SYCLD_SUPERVISOR_DIVISION_MEMORY_H
#define SYCLD_SUPERVISOR_DIVISION_MEMORY_H

#include <stdint.h>

enum { MEMORY_PARTIES_MAX = 256 };
#define MEMORY_BYTES_MAX (1ull << 50) /* limit of every figure */
/*
 * At least this part of the device is freed at one time, so that many small needs are few requests.
 */
#define MEMORY_STEP_PART 64u

/* An engine. The engines of a user stand side by side. */
struct memory_party {
	uint64_t user;
	uint32_t least, most; /* permille, as in division_party */
	/* About the bytes of the device that all engines together can have. */
	uint64_t capacity_bytes;
	uint64_t held_bytes, spillable_bytes;
	uint64_t give_bytes; /* the result */
};

/* `asker` needs `bytes`. The sum of what the others are to give; 0: nothing. At most
 * MEMORY_PARTIES_MAX parties, and no figure above MEMORY_BYTES_MAX. */
uint64_t memory_divide(struct memory_party *parties, uint32_t count, uint32_t asker,
		       uint64_t bytes);

#endif
