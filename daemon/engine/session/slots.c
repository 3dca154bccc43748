#include "session/session.h"

int session_check_slot(struct session *session, uint32_t slot)
{
	if (slot >= COMPLETION_SLOTS)
		return session_violation(session,
					 "completion slot %u is out of range: there are %u", slot,
					 COMPLETION_SLOTS);
	return 0;
}

void session_store_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status)
{
	struct completion_slot *place = &session->slots[slot];
	atomic_store_explicit(&place->status, status, memory_order_relaxed);
	atomic_store_explicit(&place->sequence, sequence, memory_order_release);
	session_notify(session, NOTIFY_IF_AWAITED);
}
