/* Sessions that will close at the end of the turn, and the reasons. */
#include "session/session.h"

#include <stdarg.h>
#include <stdio.h>

static bool is_ending(const struct session *session)
{
	return session->state == SESSION_CLOSING || !list_empty(&session->doomed_link);
}

static void close_after_turn(struct session *session, int32_t status, const char *format,
			     va_list arguments)
{
	session->close_status = status;
	(void)vsnprintf(session->reason, sizeof(session->reason), format, arguments);
	list_push_back(&session->engine->doomed, &session->doomed_link);
}

void session_fail(struct session *session, int32_t status, const char *format, ...)
{
	if (is_ending(session))
		return;
	va_list arguments;
	va_start(arguments, format);
	close_after_turn(session, status, format, arguments);
	va_end(arguments);
}

void session_cut_off(struct session *session, int32_t status, const char *format, ...)
{
	if (is_ending(session))
		return;
	session->is_cut_off = true;
	va_list arguments;
	va_start(arguments, format);
	close_after_turn(session, status, format, arguments);
	va_end(arguments);
}
