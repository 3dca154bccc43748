#include "session/session.h"

#include <inttypes.h>

int session_grant_put(struct session *session, uint64_t buffer, int descriptor)
{
	struct session_grants *grants = &session->grants;
	if (grants->count == SESSION_GRANTS_MAX) {
		close_fd(&descriptor);
		return session_violation(session, "%u descriptors arrived that no record has named",
					 SESSION_GRANTS_MAX);
	}
	grants->entries[grants->count].buffer = buffer;
	grants->entries[grants->count++].descriptor = descriptor;
	return 0;
}

static bool find_grant(struct session_grants *grants, uint64_t buffer, int *descriptor_out)
{
	for (uint32_t i = 0; i < grants->count; i++) {
		if (grants->entries[i].buffer != buffer)
			continue;
		*descriptor_out = grants->entries[i].descriptor;
		grants->entries[i] = grants->entries[--grants->count];
		return true;
	}
	return false;
}

int session_grant_take(struct session *session, uint64_t buffer, int *descriptor_out)
{
	/* The grant was sent before the record was published. So it has been read, or it is in the
	 * socket. */
	while (!find_grant(&session->grants, buffer, descriptor_out)) {
		if (session_receive(session))
			continue;
		if (list_empty(&session->doomed_link))
			(void)session_violation(
				session, "no descriptor came for the buffer %016" PRIx64, buffer);
		return -EPROTO;
	}
	return 0;
}

void session_grants_drop(struct session *session)
{
	for (uint32_t i = 0; i < session->grants.count; i++)
		close_fd(&session->grants.entries[i].descriptor);
	session->grants.count = 0;
}
