#include "top/top.h"

#include "names.h"
#include "users.h"

#include <stdlib.h>
#include <string.h>

static const struct top_view *present_view;

const char *top_sort_name(enum top_sort sort)
{
	static const char *const names[TOP_SORTS] = {"used", "memory", "queued", "wait", "id"};
	return (unsigned)sort < TOP_SORTS ? names[sort] : names[0];
}

/* The largest key comes first. Ids increase, so the complement of an id puts the oldest session
 * first. */
static uint64_t session_sort_key(const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	switch (present_view->sort) {
	case TOP_BY_USED:
		return present ? present->used_permille : 0;
	case TOP_BY_MEMORY:
		return present ? present->device_bytes : 0;
	case TOP_BY_QUEUED:
		return present ? present->queued : 0;
	case TOP_BY_WAIT:
		return session->delay_p99_ns;
	default:
		return UINT64_MAX - session->session;
	}
}

static int compare_sessions(const void *a, const void *b)
{
	const Sycl__V1__SessionFacts *one = *(Sycl__V1__SessionFacts *const *)a;
	const Sycl__V1__SessionFacts *other = *(Sycl__V1__SessionFacts *const *)b;
	uint64_t key = session_sort_key(one), other_key = session_sort_key(other);
	int order = (key < other_key) - (key > other_key);
	if (order == 0)
		return (one->session > other->session) - (one->session < other->session);
	return present_view->is_turned ? -order : order;
}

static bool session_has_word(const Sycl__V1__SessionFacts *session, const char *word)
{
	char user[USER_TEXT_BYTES], state[STATE_TEXT_BYTES];
	return strcasestr(user_text(session->uid, user), word) ||
	       strcasestr(session->command, word) ||
	       strcasestr(session_state_text(session, state), word) ||
	       (session->present && strcasestr(session->present->running, word));
}

void top_arrange(const struct top_view *view, Sycl__V1__AdminReply *reply)
{
	size_t count = 0;
	for (size_t i = 0; i < reply->n_sessions; i++)
		if (!view->word[0] || session_has_word(reply->sessions[i], view->word))
			reply->sessions[count++] = reply->sessions[i];
	reply->n_sessions = count;
	present_view = view;
	if (count > 1)
		qsort((void *)reply->sessions, count, sizeof(void *), compare_sessions);
}
