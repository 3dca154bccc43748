/* The present state of sessions and devices, for a report. Front thread. */
#ifndef SYCL_ENGINE_PROCESS_PRESENT_H
#define SYCL_ENGINE_PROCESS_PRESENT_H

#include "control.pb-c.h"
#include "process/sensors.h"
#include "scheduler/public/device.h"

struct scheduler;
struct session;

struct present_devices {
	Sycl__V1__DevicePresent rows[SCHED_DEVICES_MAX];
	Sycl__V1__DevicePresent *list[SCHED_DEVICES_MAX];
	Sycl__V1__DeviceSensors sensors[SCHED_DEVICES_MAX];
	char reasons[SCHED_DEVICES_MAX][SENSORS_REASON_BYTES];
};

/*
 * Call both functions after scheduler_present_begin. The texts are valid until the next turn. The
 * first one adds the device time of a running command, which the session's own usage includes only
 * after the command's end.
 */
void present_fill_session(const struct session *session, Sycl__V1__SessionPresent *present_out,
			  Sycl__V1__Usage *usage);
/* Sets the report's list of open devices. The list itself is in `devices`. */
void present_fill_devices(const struct scheduler *scheduler, struct sensors **sensors,
			  struct present_devices *devices, Sycl__V1__EngineReport *report_out);

#endif
