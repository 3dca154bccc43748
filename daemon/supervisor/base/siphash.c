#include "base/siphash.h"

#include <string.h>

enum { ROUNDS = 2, LAST_ROUNDS = 4, ROTATE_HALF = 32 };

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

static void siphash_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	siphash_round(v, ROUNDS);
	v[0] ^= word;
}

uint64_t siphash_words(const uint8_t secret[SIPHASH_SECRET_BYTES], const uint64_t *words,
		       size_t count)
{
	uint64_t key[2];
	memcpy(key, secret, sizeof(key));
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
			 key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
	for (size_t i = 0; i < count; i++)
		siphash_word(v, words[i]);
	/* The last word has the length of the message. */
	siphash_word(v, (uint64_t)(count * sizeof(uint64_t)) << 56);
	v[2] ^= 0xff;
	siphash_round(v, LAST_ROUNDS);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
