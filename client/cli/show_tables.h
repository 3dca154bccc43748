/* Tables of which several verbs are made. All return false only when there is no memory. */
#ifndef SYCLCTL_SHOW_TABLES_H
#define SYCLCTL_SHOW_TABLES_H

#include "admin.pb-c.h"

#include <stdbool.h>

/* show_devices.c */
bool show_device_table(const Sycl__V1__AdminReply *reply, bool coloured);
void show_unavailable(const Sycl__V1__AdminReply *reply);
/* What runs on that device now; NULL: nobody has opened it. */
const Sycl__V1__DevicePresent *device_present(const Sycl__V1__AdminReply *reply,
					      const Sycl__V1__KnownDevice *device);
/* Free by the driver, or what sessions do not hold. */
uint64_t device_free_bytes(const Sycl__V1__DeviceFacts *facts,
			   const Sycl__V1__DevicePresent *present);

/* show_sessions.c */
bool show_session_table(const Sycl__V1__AdminReply *reply, bool coloured);
/* The share of the session's user of the device where it runs. NULL: it is not divided. */
const Sycl__V1__ShareFacts *session_share(const Sycl__V1__AdminReply *reply,
					  const Sycl__V1__SessionFacts *session);

/* show_people.c */
bool show_shares(const Sycl__V1__AdminReply *reply, bool coloured);

#endif
