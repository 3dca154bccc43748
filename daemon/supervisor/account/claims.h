/*
 * Reports of an engine about itself, its sessions and devices. The engine runs its tenant's code,
 * so each report is read once, when it arrives. The service keeps a bounded part: one claim for
 * each existing session, and a few devices. A report alone proves nothing.
 */
#ifndef SYCLD_SUPERVISOR_CLAIMS_H
#define SYCLD_SUPERVISOR_CLAIMS_H

#include "control.pb-c.h"
#include "packet.h"
#include "protocol_limits.h"
#include "service/claims_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

enum {
	CLAIMS_PARTS_MAX = 64,
	CLAIMS_PART_SESSIONS_MAX = 256,
	/* The most bytes of claims about use of devices that are kept for the sessions of an
	 * engine. It has room for the largest report while another one replaces it. */
	CLAIMS_DEVICES_BYTES_MAX = 2 * CLAIMS_PARTS_MAX * (int)PACKET_BYTES_MAX,
	/* Bytes of claims of all engines of uids that the user database does not have, which may
	 * all be one user's, from which no more delays are kept; and the least for one engine. A
	 * query of accounts reads all claims. */
	CLAIMS_UNKNOWN_BYTES = 16 << 20,
	CLAIMS_UNKNOWN_LEAST_BYTES = 64 << 10,
	/* In this time an engine gets at most CLAIMS_ASKED_FREELY requests. For further inquiries a
	 * report younger than this is used again. */
	CLAIMS_ANSWER_MS = 100,
	CLAIMS_ASKED_FREELY = 16,
};

/* Returns the bytes of an engine's claims from which no more delays are kept; 0: no such bound.
 * `was_found`: the user database has its user. `engines`: the most engines of the service. */
size_t claims_delays_bytes_most(bool was_found, unsigned engines);

/* Keeps a part of a report. `parts` is the number of its parts that have arrived, and is counted
 * on. 1: it was the last one. 0: more follow. -E2BIG: there are too many parts. -EINVAL: it claims
 * more than possible. */
int claims_keep_report(struct engine *engine, const Sycl__V1__EngineReport *report,
		       unsigned *parts);

/* True if another request may be sent to the engine. False: its latest report is used for this
 * inquiry. */
bool claims_may_request(struct engine_claims *claims, uint64_t question);

/* True if the engine has replied to that request, or its latest report is recent enough. */
bool claims_answer(const struct engine_claims *claims, uint64_t question);

/* Returns the claim about a session in the engine's latest report. NULL: none. */
const struct session_figures *claims_of_session(const struct engine *engine,
						const struct session *session);

/* Returns the claim about the session's use of devices, in the arena until that is used again.
 * NULL: none. */
const Sycl__V1__SessionReport *claims_devices(const struct session_figures *claim,
					      struct decode_arena *arena);

void engine_claims_fini(struct engine_claims *claims);

/* Returns the engine's session of that number, if it was handed on to the engine; else NULL. */
struct session *engine_session(struct engine *engine, uint64_t id);

#endif
