/* What the service shows of the readings that engines claim of one device. */
#ifndef SYCLD_SUPERVISOR_REPORT_SENSORS_H
#define SYCLD_SUPERVISOR_REPORT_SENSORS_H

#include "command.pb-c.h"

/*
 * Joins a further engine's claim to what the engines before it claim. A reading replaces the reason
 * why there is none. Readings that differ much leave a reason only, because one of the engines does
 * not tell the truth. NULL: no claim.
 */
Sycl__V1__DeviceSensors *report_sensors_join(Sycl__V1__DeviceSensors *before,
					     Sycl__V1__DeviceSensors *claim);

#endif
