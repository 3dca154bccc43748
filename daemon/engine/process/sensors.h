/*
 * Sensors of devices for reports. A thread of its own reads them, because the driver's management
 * library may take long. It sleeps until a report asks. A report gets what was read for the one
 * before; so the first one has nothing yet.
 */
#ifndef SYCL_ENGINE_PROCESS_SENSORS_H
#define SYCL_ENGINE_PROCESS_SENSORS_H

#include "backend_sensors.h"

#include <stdbool.h>
#include <stdint.h>

struct sensors;

/* -ENOMEM, or what pthread_create says. */
int sensors_create(struct sensors **sensors_out);
/* Does not wait for the thread, which may be in the library: it frees what there is when it ends.
 * Accepts NULL, returns NULL. */
struct sensors *sensors_free(struct sensors *sensors);

/*
 * Front thread; never blocks. What was read last of the device; asks for the next reading. False:
 * nothing was read yet. `reason_out` is "" where the sensors are known.
 */
bool sensors_of(struct sensors *sensors, const uint8_t uuid[16],
		struct backend_sensors *sensors_out, char reason_out[SENSORS_REASON_BYTES]);

#endif
