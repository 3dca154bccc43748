/*
 * A session's facts are sent to its engine with a proof that the service made them. If the service
 * dies, the engine presents both to the next service, which has the same secret. So the next
 * service can verify that the tenant's code has invented nothing: no session of another user, and
 * none that never existed.
 */
#ifndef SYCLD_SUPERVISOR_SESSION_PROOF_H
#define SYCLD_SUPERVISOR_SESSION_PROOF_H

#include <stdint.h>

enum { SERVICE_SECRET_BYTES = 16 };

struct session_claim {
	uint64_t session;
	uint64_t since_ns;
	uint32_t uid;
	uint32_t gid;
	uint32_t pid;
};

/* SipHash-2-4 of the claim under the secret. */
uint64_t session_proof(const uint8_t secret[SERVICE_SECRET_BYTES],
		       const struct session_claim *claim);

#endif
