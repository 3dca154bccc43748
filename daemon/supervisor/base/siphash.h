/* SipHash-2-4: without the secret nobody can find messages with equal hashes, or forge a hash. */
#ifndef SYCLD_SUPERVISOR_SIPHASH_H
#define SYCLD_SUPERVISOR_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_SECRET_BYTES = 16 };

/* Hashes `count` words. Pure, does not block; callable on each thread. */
uint64_t siphash_words(const uint8_t secret[SIPHASH_SECRET_BYTES], const uint64_t *words,
		       size_t count);

#endif
