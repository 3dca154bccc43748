#include "command/command.h"

/* The limits of the session and of this turn. */
uint32_t command_burst_room(const struct session *session, const struct queue *queue)
{
	const struct engine *engine = session->engine;
	uint64_t most = session->limits.groups_in_flight;
	uint64_t room = most > session->groups_open ? most - session->groups_open : 0;
	bool shared = session->ahead.most == READ_AHEAD_SHARED;
	/* A burst has one time for all its launches. */
	if (engine->trace_times == TRACE_TIMES_EVENTS)
		return 1;
	/* If a session beside others has a window, a burst would fill the whole window. */
	if (engine->never_burst || (shared && !engine->never_window &&
				    !(queue->facts->features & BACKEND_FEATURE_SIDE_BY_SIDE)))
		return 1;
	return room < session->turn_left ? (uint32_t)room : session->turn_left;
}
