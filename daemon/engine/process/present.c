#include "process/present.h"

#include "base/intrusive_list.h"
#include "clock.h"
#include "scheduler/public/scheduler.h"
#include "session/engine_state.h"
#include "session/session.h"

static_assert((int)SCHED_WAIT_TURN == (int)SYCL__V1__SESSION_WAIT__SESSION_WAIT_TURN &&
		      (int)SCHED_WAIT_EVENT == (int)SYCL__V1__SESSION_WAIT__SESSION_WAIT_EVENT,
	      "the values are the same");

/* Sets the device whose time the session lately used most. Without recent use it is the first
 * device that the session has used. */
static void present_fill_most_used_device(const struct session *session,
					  Sycl__V1__SessionPresent *present)
{
	struct sched_device_use use, most = {.used = NULL};
	for (uint32_t i = 0; sched_account_use(session->work, i, &use); i++)
		if (!most.used || use.used_permille > most.used_permille)
			most = use;
	if (!most.used)
		return;
	present->backend = (Sycl__V1__Backend)most.backend;
	present->index = most.index;
	present->used_permille = most.used_permille;
}

static void present_fill_running(const struct session *session, const struct sched_running *running,
				 Sycl__V1__SessionPresent *present)
{
	struct sched_device_use use;
	uint64_t now_ns = clock_now_ns();
	present->activity = SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING;
	present->running = (char *)(uintptr_t)running->what;
	present->running_ns = now_ns > running->since_ns ? now_ns - running->since_ns : 0;
	present->queue = running->queue;
	present->group = running->group;
	present->backend = (Sycl__V1__Backend)running->backend;
	present->index = running->index;
	present->used_permille = 0;
	for (uint32_t i = 0; sched_account_use(session->work, i, &use); i++)
		if (use.backend == running->backend && use.index == running->index)
			present->used_permille = use.used_permille;
}

/* Returns the wait of the session's oldest command group, if the group has a task. */
static Sycl__V1__SessionWait oldest_group_wait(const struct session *session)
{
	const struct list *groups = &session->open_groups;
	const struct group *oldest =
		list_empty(groups) ? NULL : list_entry(groups->next, struct group, session_link);
	if (oldest && oldest->task)
		return (Sycl__V1__SessionWait)task_waits_for(oldest->task);
	return session->builds_running ? SYCL__V1__SESSION_WAIT__SESSION_WAIT_COMPILER
				       : SYCL__V1__SESSION_WAIT__SESSION_WAIT_NONE;
}

static void fill_delays(const struct session *session, Sycl__V1__SessionPresent *present)
{
	struct delay_histogram delays;
	sched_account_recent_delays(session->work, clock_now_ns(), &delays);
	present->delays = delay_total(&delays);
	present->delay_p50_ns = delay_quantile(&delays, 500);
	present->delay_p99_ns = delay_quantile(&delays, 990);
}

void present_fill_session(const struct session *session, Sycl__V1__SessionPresent *present_out,
			  Sycl__V1__Usage *usage)
{
	struct sched_running running;
	sycl__v1__session_present__init(present_out);
	present_out->queued =
		session->groups_open < UINT32_MAX ? (uint32_t)session->groups_open : UINT32_MAX;
	present_out->sent = sched_account_sent(session->work);
	present_out->device_bytes = sched_account_device(session->work)->bytes;
	present_out->spilled_bytes = sched_account_spilled(session->work);
	present_fill_most_used_device(session, present_out);
	fill_delays(session, present_out);
	if (sched_account_running(session->engine->scheduler, session->work, &running)) {
		present_fill_running(session, &running, present_out);
		usage->device_ns += running.used_ns;
		return;
	}
	bool is_idle = session->groups_open == 0 && session->builds_running == 0;
	present_out->activity = is_idle ? SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_IDLE
					: SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_WAITING;
	if (!is_idle)
		present_out->waits_for = oldest_group_wait(session);
}

/* Only NVIDIA's driver has a library that reads sensors. */
static void fill_sensors(const struct scheduler *scheduler, struct sensors **sensors,
			 uint32_t device, struct present_devices *devices,
			 Sycl__V1__DevicePresent *row)
{
	const struct scheduler_device_info *info = scheduler_device_info(scheduler, device);
	size_t at = (size_t)(row - devices->rows);
	Sycl__V1__DeviceSensors *out = &devices->sensors[at];
	struct backend_sensors read;
	if (row->backend != SYCL__V1__BACKEND__BACKEND_CUDA || !info ||
	    (!*sensors && sensors_create(sensors) < 0) ||
	    !sensors_of(*sensors, info->facts->uuid, &read, devices->reasons[at]))
		return;
	sycl__v1__device_sensors__init(out);
	out->total_bytes = read.total_bytes;
	out->used_bytes = read.used_bytes;
	out->free_bytes = read.free_bytes;
	out->temperature_celsius = read.temperature_celsius;
	out->power_milliwatts = read.power_milliwatts;
	out->power_limit_milliwatts = read.power_limit_milliwatts;
	out->clock_mhz = read.clock_mhz;
	out->clock_most_mhz = read.clock_most_mhz;
	out->utilisation_known = read.utilisation_known;
	out->utilisation_percent = read.utilisation_percent;
	out->sm_occupancy_known = read.sm_occupancy_known;
	out->sm_occupancy_permille = read.sm_occupancy_permille;
	out->unavailable = devices->reasons[at];
	row->sensors = out;
}

void present_fill_devices(const struct scheduler *scheduler, struct sensors **sensors,
			  struct present_devices *devices, Sycl__V1__EngineReport *report_out)
{
	struct sched_device_present present;
	size_t count = 0;
	for (uint32_t i = 0; i < SCHED_DEVICES_MAX; i++) {
		if (!scheduler_device_present(scheduler, i, &present))
			continue;
		Sycl__V1__DevicePresent *row = &devices->rows[count];
		sycl__v1__device_present__init(row);
		row->device = i;
		row->backend = (Sycl__V1__Backend)present.backend;
		row->index = present.index;
		row->busy_permille = present.busy_permille;
		row->commands = present.commands;
		row->held_bytes = present.held_bytes;
		fill_sensors(scheduler, sensors, i, devices, row);
		devices->list[count++] = row;
	}
	report_out->devices = devices->list;
	report_out->n_devices = count;
}
