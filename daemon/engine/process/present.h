/* What sessions and devices are about now, for a report. Front thread. */
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
 * Both after scheduler_present_begin. The texts are valid until the next turn. The first one adds
 * to the session's usage the device time of what runs, which is counted there when it is over.
 */
void present_fill_session(const struct session *session, Sycl__V1__SessionPresent *present_out,
			  Sycl__V1__Usage *usage);
/* Sets the report's list of open devices, which lies in `devices`. */
void present_fill_devices(const struct scheduler *scheduler, struct sensors **sensors,
			  struct present_devices *devices, Sycl__V1__EngineReport *report_out);

#endif
