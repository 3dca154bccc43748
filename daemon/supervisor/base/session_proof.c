#include "base/session_proof.h"

#include "base/siphash.h"

#include <assert.h>

static_assert((int)SERVICE_SECRET_BYTES == (int)SIPHASH_SECRET_BYTES, "one secret fits the other");

uint64_t session_proof(const uint8_t secret[SERVICE_SECRET_BYTES],
		       const struct session_claim *claim)
{
	const uint64_t words[] = {
		claim->session,
		claim->since_ns,
		(uint64_t)claim->uid << 32 | claim->gid,
		claim->pid,
	};
	return siphash_words(secret, words, sizeof(words) / sizeof(*words));
}
