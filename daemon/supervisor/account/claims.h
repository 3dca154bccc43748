/*
 * Reports of an engine about itself, its sessions and devices. It runs its tenant's code: each
 * report is read once, when it arrives. The service keeps a bounded part: one claim for each
 * existing session, and a few devices. A report alone proves nothing.
 */
#ifndef SYCLD_SUPERVISOR_CLAIMS_H
#define SYCLD_SUPERVISOR_CLAIMS_H

#include "control.pb-c.h"
#include "packet.h"
#include "service/claims_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct session;

enum {
	CLAIMS_PARTS_MAX = 64,
	CLAIMS_PART_SESSIONS_MAX = 256,
	CLAIMS_ANSWER_MS = 100, /* for so long an engine gets CLAIMS_ASKED_FREELY requests at most;
				   beyond them a report that is younger serves again */
	CLAIMS_ASKED_FREELY = 16,
};

/* Keep a part of a report. 1: it was the last one. 0: more follow. -E2BIG: it has too many parts.
 * -EINVAL: it claims more than there can be. */
int claims_keep_report(struct engine *engine, const Sycl__V1__EngineReport *report);

/* May another request be sent to the engine? False: its latest report must serve for this
 * inquiry. */
bool claims_may_request(struct engine_claims *claims, uint64_t question);

/* Has it replied to that request, or is its latest report recent enough? */
bool claims_answer(const struct engine_claims *claims, uint64_t question);

/* Its claim about a session, if its latest report has one. NULL: none. */
const struct session_figures *claims_of_session(const struct engine *engine,
						const struct session *session);

/* Its claim about the session's use of devices, in the arena until that is used again. NULL: none.
 */
const Sycl__V1__SessionReport *claims_devices(const struct session_figures *claim,
					      struct decode_arena *arena);

void engine_claims_fini(struct engine_claims *claims);

/* The engine's session of that number, handed on before, or NULL. */
struct session *engine_session(struct engine *engine, uint64_t id);

#endif
