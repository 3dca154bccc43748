#include "session/session.h"

static void usage_fill_row(const struct session *session, const struct sched_device_use *use,
			   Sycl__V1__DeviceUsage *row)
{
	const struct sched_used *used = use->used;
	sycl__v1__device_usage__init(row);
	row->backend = (Sycl__V1__Backend)use->backend;
	row->index = use->index;
	row->commands = used->commands;
	row->failed = used->failed;
	row->device_ns = used->device_ns;
	row->bytes_to_device = used->bytes_to_device;
	row->bytes_to_host = used->bytes_to_host;
	row->spills = used->spills;
	row->spilled_bytes = used->spilled_bytes;
	row->memory_peak_bytes = session->engine->device_quota.peak_bytes;
	row->n_delays = delay_span(&used->delays, &row->first_delay);
	row->delays = (uint64_t *)(uintptr_t)&used->delays.counts[row->first_delay % DELAY_BUCKETS];
}

uint32_t session_devices_fill(const struct session *session, Sycl__V1__DeviceUsage *rows)
{
	struct sched_device_use use;
	uint32_t count = 0;
	while (count < SESSION_DEVICES_REPORTED && sched_account_use(session->work, count, &use))
		usage_fill_row(session, &use, &rows[count++]);
	return count;
}

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
