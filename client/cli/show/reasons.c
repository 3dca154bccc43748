/* Sentences about sessions that do not run, or should not: for what each waits, and what ends that.
 */
#include "names.h"
#include "show/tables.h"
#include "units.h"
#include "users.h"

#include <stdio.h>

enum { DEVICE_BYTES = 48 };

/* A shorter kernel may have begun in this second. */
#define BEHIND_NS 2000000000u

static const char *const reasons[] = {
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_NONE] = NULL,
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_TURN] =
		"waits for its turn: another session of this user has the device",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_SHARE] =
		"is held back: its user's share of the device's time is used up",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_DEVICE] =
		"waits for the device: earlier commands are there, or it is being opened",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY] =
		"waits for memory of the device: it is full",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_COMPILER] =
		"waits for a kernel that is being built or loaded",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_HOST] =
		"waits for a host task or a host access of a program, which has not ended",
	[SYCL__V1__SESSION_WAIT__SESSION_WAIT_EVENT] = "waits for an event that has not happened",
};

static const char *reason_of_phase(Sycl__V1__SessionPhase phase)
{
	switch (phase) {
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_WAITING:
		return "waits for its engine, which starts";
	case SYCL__V1__SESSION_PHASE__SESSION_PHASE_HANDSHAKE:
		return "is being opened by its engine";
	default:
		return NULL;
	}
}

/* Returns the reason of an open session. NULL: it does not wait, or its engine did not say. */
static const char *reason_of_open(const Sycl__V1__SessionFacts *session)
{
	const Sycl__V1__SessionPresent *present = session->present;
	if (!session->reported)
		return "is not described, because its engine did not answer";
	if (!present || present->activity != SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_WAITING ||
	    (unsigned)present->waits_for >= sizeof(reasons) / sizeof(*reasons))
		return NULL;
	return reasons[present->waits_for];
}

/* Returns " (cuda:0)" if the session waits for a device. */
static const char *waited_device_text(const Sycl__V1__SessionPresent *present,
				      char text[DEVICE_BYTES])
{
	*text = '\0';
	if (present && present->waits_for <= SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY &&
	    present->backend != SYCL__V1__BACKEND__BACKEND_UNSPECIFIED)
		(void)snprintf(text, DEVICE_BYTES, " (%s:%u)", backend_name(present->backend),
			       present->index);
	return text;
}

static void print_pause(const Sycl__V1__SessionFacts *session)
{
	char user[USER_TEXT_BYTES], when[UNIT_TEXT_BYTES];
	const Sycl__V1__OrderOrigin *by = session->paused_by;
	(void)printf("  session %llu is paused", (unsigned long long)session->session);
	if (by)
		(void)printf(" by %s since %s", user_text(by->uid, user),
			     format_time(by->since_unix_seconds, when));
	(void)printf(" until 'syclctl resume %llu'\n", (unsigned long long)session->session);
}

static bool is_running(const Sycl__V1__SessionFacts *session)
{
	return session->reported && session->present &&
	       session->present->activity == SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING;
}

/* A driver may run the commands of several queues one after another. */
static bool is_behind(const Sycl__V1__SessionFacts *session)
{
	return is_running(session) && session->present->used_permille == 0 &&
	       session->present->running_ns >= BEHIND_NS;
}

static void print_ended(const Sycl__V1__SessionFacts *session)
{
	(void)printf(
		"  session %llu has ended, and its kernel still runs: the limit orphan_seconds "
		"ends the user's engine, 'syclctl kill --uid %u' does at once\n",
		(unsigned long long)session->session, session->uid);
}

static void print_reason(const Sycl__V1__SessionFacts *session)
{
	char device[DEVICE_BYTES];
	bool is_open = session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	const char *reason = is_open ? reason_of_open(session) : reason_of_phase(session->phase);
	if (is_open && is_behind(session))
		reason = "has a kernel on the device that has used no time in the last second: "
			 "other commands may be before it";
	if (is_open && session->paused)
		print_pause(session);
	else if (session->ended && is_running(session))
		print_ended(session);
	else if (reason)
		(void)printf("  session %llu %s%s\n", (unsigned long long)session->session, reason,
			     waited_device_text(session->present, device));
}

void show_reasons(const Sycl__V1__AdminReply *reply)
{
	for (size_t i = 0; i < reply->n_sessions; i++)
		print_reason(reply->sessions[i]);
}
