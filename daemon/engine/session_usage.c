#include "session.h"

void session_usage_fill(const struct session *session, Sycl__V1__Usage *usage)
{
	sycl__v1__usage__init(usage);
	usage->groups_submitted = session->usage.groups_submitted;
	usage->groups_completed = session->usage.groups_completed;
	usage->groups_failed = session->usage.groups_failed;
	usage->device_ns = session->usage.device_ns;
	usage->bytes_to_device = session->usage.bytes_to_device;
	usage->bytes_to_host = session->usage.bytes_to_host;
	usage->buffer_bytes = session->usage.buffer_bytes;
	usage->arena_bytes = session->usage.arena_bytes;
	usage->groups_resubmitted = session->usage.groups_resubmitted;
}
