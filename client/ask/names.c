#include "names.h"

#include "users.h"

#include <stdbool.h>
#include <stdio.h>

/* The names of each enumeration, indexed by its values. A value without a name is "unknown". */
static const struct {
	const ProtobufCEnumDescriptor *type;
	const char *names[8];
} enums[] = {
	{&sycl__v1__backend__descriptor, {NULL, "opencl", "cuda", "fake"}},
	{&sycl__v1__device_type__descriptor, {NULL, "cpu", "gpu", "accelerator", "custom"}},
	{&sycl__v1__engine_state__descriptor,
	 {NULL, "none", "starting", "ready", "not answering", "stopping"}},
	{&sycl__v1__engine_retired__descriptor, {NULL, "devices", "release", "refused"}},
	{&sycl__v1__filter_state__descriptor,
	 {NULL, "none", "basic-start", "basic-driver", "basic-setting", "strict"}},
	{&sycl__v1__event_kind__descriptor,
	 {NULL, "engine-started", "engine-ended", "fault", "order", "session-opened",
	  "session-closed", "spill"}},
	{&sycl__v1__limit_source__descriptor, {NULL, "default", "sycld.conf", "order"}},
	{&sycl__v1__service_mode__descriptor, {NULL, "system", "user"}},
	{&sycl__v1__session_activity__descriptor, {NULL, "idle", "running", "waiting"}},
	{&sycl__v1__session_class__descriptor, {NULL, "latency", "normal", "best-effort"}},
	{&sycl__v1__session_phase__descriptor, {NULL, "waiting", "handshake", "open", "over"}},
	{&sycl__v1__session_wait__descriptor,
	 {"none", "turn", "share", "device", "memory", "compiler", "host", "event"}},
	{&sycl__v1__share_mode__descriptor, {"none", "concurrent", "exclusive"}},
};

const char *value_name(const ProtobufCEnumDescriptor *type, int value)
{
	const char *name = NULL;
	for (size_t i = 0; i < sizeof(enums) / sizeof(enums[0]); i++) {
		if (enums[i].type == type && value >= 0 &&
		    (size_t)value < sizeof(enums[i].names) / sizeof(enums[i].names[0]))
			name = enums[i].names[value];
	}
	return name ? name : "unknown";
}

const char *backend_name(Sycl__V1__Backend backend)
{
	return value_name(&sycl__v1__backend__descriptor, (int)backend);
}

const char *session_state_name(const Sycl__V1__SessionFacts *session)
{
	bool is_open = session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	if (is_open && session->ended)
		return "ended, still running";
	if (is_open && session->paused)
		return "paused";
	return value_name(&sycl__v1__session_phase__descriptor, (int)session->phase);
}

static const char *waiting_text(Sycl__V1__SessionWait wait)
{
	static const char *const texts[] = {
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_NONE] = "waiting",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_TURN] = "waiting: turn",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_SHARE] = "limited: share",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_DEVICE] = "waiting: device",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_MEMORY] = "waiting: memory",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_COMPILER] = "waiting: build",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_HOST] = "waiting: host",
		[SYCL__V1__SESSION_WAIT__SESSION_WAIT_EVENT] = "waiting: event",
	};
	return (unsigned)wait < sizeof(texts) / sizeof(texts[0]) ? texts[wait] : texts[0];
}

static const char *activity_text(const Sycl__V1__SessionPresent *present)
{
	bool is_spilled = present->spilled_bytes > 0;
	switch (present->activity) {
	case SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING:
		return is_spilled ? "running, spilled" : "running";
	case SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_IDLE:
		return is_spilled ? "idle, spilled" : "idle";
	case SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_WAITING:
		return waiting_text(present->waits_for);
	default:
		return "open";
	}
}

const char *session_state_text(const Sycl__V1__SessionFacts *session, char text[STATE_TEXT_BYTES])
{
	bool is_open = session->phase == SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN;
	char user[USER_TEXT_BYTES];
	if (!is_open || session->ended)
		return session_state_name(session);
	if (session->paused && session->paused_by) {
		(void)snprintf(text, STATE_TEXT_BYTES, "paused by %s",
			       user_text(session->paused_by->uid, user));
		return text;
	}
	if (session->paused || !session->reported || !session->present)
		return session_state_name(session);
	return activity_text(session->present);
}
