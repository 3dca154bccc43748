/* Sessions that are to close at the end of the turn, and why. */
#include "session/session.h"

#include <stdarg.h>
#include <stdio.h>

static bool ends_already(const struct session *session)
{
	return session->state == SESSION_CLOSING || !list_empty(&session->doomed_link);
}

static void doom(struct session *session, int32_t status, const char *format, va_list arguments)
{
	session->close_status = status;
	(void)vsnprintf(session->reason, sizeof(session->reason), format, arguments);
	list_push_back(&session->engine->doomed, &session->doomed_link);
}

void session_fail(struct session *session, int32_t status, const char *format, ...)
{
	if (ends_already(session))
		return;
	va_list arguments;
	va_start(arguments, format);
	doom(session, status, format, arguments);
	va_end(arguments);
}

void session_cut_off(struct session *session, int32_t status, const char *format, ...)
{
	if (ends_already(session))
		return;
	session->is_cut_off = true;
	va_list arguments;
	va_start(arguments, format);
	doom(session, status, format, arguments);
	va_end(arguments);
}
