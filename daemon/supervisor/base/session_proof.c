#include "base/session_proof.h"

#include <string.h>

enum { WORDS = 4, ROUNDS = 2, LAST_ROUNDS = 4, ROTATE_HALF = 32 };

static uint64_t siphash_rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static void siphash_round(uint64_t v[4], unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], ROTATE_HALF);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] = siphash_rotate(v[2], ROTATE_HALF);
	}
}

uint64_t session_proof(const uint8_t secret[SERVICE_SECRET_BYTES],
		       const struct session_claim *claim)
{
	uint64_t key[2];
	memcpy(key, secret, sizeof(key));
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
			 key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
	const uint64_t words[WORDS + 1] = {
		claim->session,
		claim->since_ns,
		(uint64_t)claim->uid << 32 | claim->gid,
		claim->pid,
		(uint64_t)(WORDS * sizeof(uint64_t))
			<< 56, /* the last word has the length of the message */
	};
	for (unsigned i = 0; i < WORDS + 1; i++) {
		v[3] ^= words[i];
		siphash_round(v, ROUNDS);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	siphash_round(v, LAST_ROUNDS);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
