/*
 * Sensors of devices for reports. A separate thread reads them, because the driver's management
 * library may take long. The thread sleeps until a report requests a reading. A report has the
 * readings that the previous report requested, so the first report has none.
 */
#ifndef SYCL_ENGINE_PROCESS_SENSORS_H
#define SYCL_ENGINE_PROCESS_SENSORS_H

#include "backend_sensors.h"

#include <stdbool.h>
#include <stdint.h>

struct sensors;

/* 0, -ENOMEM, or the error of pthread_create. */
int sensors_create(struct sensors **sensors_out);
/* Waits for the thread's end, at most for one second, because the library may not return. A thread
 * that ends while the process does would be a leak to the sanitizer. The thread frees all memory at
 * its end. Accepts NULL. Returns NULL. */
struct sensors *sensors_free(struct sensors *sensors);

/*
 * Returns the latest reading of the device, and requests the next one. Front thread; never blocks.
 * False: there is no reading yet. `reason_out` is "" if the sensors are known.
 */
bool sensors_of(struct sensors *sensors, const uint8_t uuid[16],
		struct backend_sensors *sensors_out, char reason_out[SENSORS_REASON_BYTES]);

#endif
