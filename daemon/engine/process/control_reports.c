#include "process/control_reports.h"

#include "process/engine.h"
#include "process/room.h"
#include "process/strict.h"
#include "scheduler/public/scheduler.h"

static void send_session_state(const struct control_reports *reports, Sycl__V1__SessionState *state)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_SESSION_STATE;
	message.session_state = state;
	(void)reports->send(reports->context, &message.base);
}

static void on_session_open(void *context, uint64_t session, const char *command)
{
	Sycl__V1__SessionState state = SYCL__V1__SESSION_STATE__INIT;
	state.session = session;
	state.state = SYCL__V1__SESSION_STATE__STATE__STATE_OPEN;
	state.command = (char *)(uintptr_t)command;
	send_session_state(context, &state);
}

void control_report_closed(void *context, uint64_t session, const char *command, const char *reason,
			   const Sycl__V1__Usage *usage, const struct device_usages *devices)
{
	Sycl__V1__SessionState state = SYCL__V1__SESSION_STATE__INIT;
	Sycl__V1__DeviceUsage *list[SESSION_DEVICES_REPORTED];
	state.session = session;
	state.state = SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED;
	state.command = (char *)(uintptr_t)command;
	state.reason = (char *)(uintptr_t)reason;
	state.usage = (Sycl__V1__Usage *)(uintptr_t)usage;
	state.devices = list;
	for (uint32_t i = 0; i < devices->count && i < SESSION_DEVICES_REPORTED; i++)
		list[state.n_devices++] = (Sycl__V1__DeviceUsage *)(uintptr_t)&devices->rows[i];
	send_session_state(context, &state);
}

/* Lists the open devices of each backend that can open devices ahead. Returns the number of rows.
 */
static size_t list_open_devices(const struct control_reports *reports, uint64_t open,
				Sycl__V1__BackendDevices *rows, Sycl__V1__BackendDevices **list)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	size_t count = 0;
	if (scheduler_discover(engine_scheduler(reports->engine), &platforms, &platform_count,
			       &devices, &device_count) < 0)
		return 0;
	for (uint32_t i = 0; i < device_count && i < 64; i++) {
		const struct scheduler_device_info *info = &devices[i];
		if (!(open >> i & 1) || !(info->facts->features & BACKEND_FEATURE_PRELOAD) ||
		    info->backend_index >= 64)
			continue;
		size_t at = 0;
		while (at < count && rows[at].backend != (Sycl__V1__Backend)info->ops->kind)
			at++;
		if (at == count) {
			sycl__v1__backend_devices__init(&rows[count]);
			rows[count].backend = (Sycl__V1__Backend)info->ops->kind;
			list[count] = &rows[count];
			count++;
		}
		rows[at].devices |= 1ull << info->backend_index;
	}
	return count;
}

static void on_devices_opened(void *context, uint64_t devices)
{
	const struct control_reports *reports = context;
	Sycl__V1__BackendDevices rows[64], *list[64];
	strict_devices_opened(reports->engine);
	Sycl__V1__DevicesInUse in_use = SYCL__V1__DEVICES_IN_USE__INIT;
	in_use.n_devices = list_open_devices(reports, devices, rows, list);
	in_use.devices = list;
	if (in_use.n_devices == 0)
		return;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_DEVICES_IN_USE;
	message.devices_in_use = &in_use;
	(void)reports->send(reports->context, &message.base);
}

static void on_wants_device(void *context, uint32_t watch)
{
	const struct control_reports *reports = context;
	Sycl__V1__EngineWants wants = SYCL__V1__ENGINE_WANTS__INIT;
	wants.watch = watch;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_WANTS;
	message.wants = &wants;
	(void)reports->send(reports->context, &message.base);
}

static void on_room_wanted(void *context, const uint8_t *uuid, uint64_t bytes,
			   const struct room_figures *figures)
{
	const struct control_reports *reports = context;
	room_ask(reports->room, uuid, bytes, figures);
}

static void on_room_made(void *context, uint64_t request, const struct room_figures *figures)
{
	const struct control_reports *reports = context;
	room_report(reports->room, request, figures);
}

static void on_spilled(void *context, const struct scheduler_spilled *spilled)
{
	const struct control_reports *reports = context;
	Sycl__V1__EngineSpilled told = SYCL__V1__ENGINE_SPILLED__INIT;
	told.backend = (Sycl__V1__Backend)spilled->backend;
	told.index = spilled->index;
	told.spills = spilled->spills;
	told.spilled_bytes = spilled->spilled_bytes;
	told.returns = spilled->returns;
	told.returned_bytes = spilled->returned_bytes;
	told.session = spilled->session;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_SPILLED;
	message.spilled = &told;
	(void)reports->send(reports->context, &message.base);
}

void control_reports_begin(struct control_reports *reports)
{
	const struct engine_observer observer = {
		reports,         on_session_open, control_report_closed, on_devices_opened,
		on_wants_device, on_room_wanted,  on_room_made,          on_spilled};
	engine_observe(reports->engine, &observer);
}
