/* The end of a session's USM allocations: at once, or when the groups that may use them are
 * complete. */
#include "session/session.h"

void usm_give_back(struct usm *usm)
{
	struct session *session = usm->object.session;
	if (usm->is_listed)
		usm_table_remove(&session->usm, usm);
	usm->is_listed = false;
	if (usm->sched)
		sched_usm_release(usm->sched);
	usm->sched = NULL;
	if (usm->arena)
		usm->arena->users--;
	usm->arena = NULL;
	session->usage.buffer_bytes -= usm->charged_bytes;
	sched_quota_give(sched_account_device(session->work), usm->device_bytes);
	usm->charged_bytes = usm->device_bytes = 0;
}

void session_usm_go_on(struct session *session)
{
	const struct list *open = &session->open_groups;
	uint64_t oldest =
		list_empty(open)
			? UINT64_MAX
			: list_entry(open->next, struct group, session_link)->session_number;
	while (!list_empty(&session->usm_frees)) {
		struct usm *usm = list_entry(session->usm_frees.next, struct usm, link);
		if (usm->after >= oldest)
			return;
		list_remove(&usm->link);
		usm_give_back(usm);
		object_unref(&usm->object);
	}
}
