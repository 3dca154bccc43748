/* Joins the readings that several engines claim of one device. */
#ifndef SYCLD_SUPERVISOR_REPORT_SENSORS_H
#define SYCLD_SUPERVISOR_REPORT_SENSORS_H

#include "command.pb-c.h"

/*
 * Joins the claim of one more engine to the claims of the engines before. A reading replaces a
 * reason for a missing reading. Readings that differ much are replaced by a reason, because one
 * claim must be false. NULL: no claim.
 */
Sycl__V1__DeviceSensors *report_sensors_join(Sycl__V1__DeviceSensors *before,
					     Sycl__V1__DeviceSensors *claim);

#endif
