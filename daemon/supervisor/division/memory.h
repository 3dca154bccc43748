/*
 * Decides which engines free device memory when another one finds no room on a device. Pure.
 *
 * The device's memory has a part for each user that holds or requests some: by the users' shares,
 * else equal parts. A user's part is divided equally among that user's engines. Then:
 *
 *   - An engine gets no memory beyond its own part. Its user gets none from others beyond the
 *     user's part.
 *   - An engine frees only what it holds above its own part. If another user gets the memory, the
 *     engine's user keeps at least the user's part.
 *   - The engines farthest above their part free first.
 *
 * Figures are claims. An engine's own claims and the number of users determine how much it must
 * free. So an engine that claims too little frees less, as one does that frees nothing. No claim
 * takes more from another user than that user's part allows.
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

/* An engine. The engines of one user are adjacent. */
struct memory_party {
	uint64_t user;
	uint32_t least, most; /* permille, as in division_party */
	/* Approximate bytes of the device for all engines together. */
	uint64_t capacity_bytes;
	uint64_t held_bytes, spillable_bytes;
	uint64_t give_bytes; /* the result */
};

/* `asker` needs `bytes`. Returns the sum that the others must free; 0: none. At most
 * MEMORY_PARTIES_MAX parties, and no figure above MEMORY_BYTES_MAX. */
uint64_t memory_divide(struct memory_party *parties, uint32_t count, uint32_t asker,
		       uint64_t bytes);

#endif
