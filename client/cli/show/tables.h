/* Tables that several verbs show. Each function returns false only without memory. */
#ifndef SYCLCTL_SHOW_TABLES_H
#define SYCLCTL_SHOW_TABLES_H

#include "admin.pb-c.h"

#include <stdbool.h>

/* devices.c */
bool show_device_table(const Sycl__V1__AdminReply *reply, bool coloured);
void show_unavailable(const Sycl__V1__AdminReply *reply);
/* Returns the present state of the device; NULL: no engine has opened it. */
const Sycl__V1__DevicePresent *device_present(const Sycl__V1__AdminReply *reply,
					      const Sycl__V1__KnownDevice *device);
/* Returns the free memory by the driver; if it is unknown, the memory that no session holds. */
uint64_t device_free_bytes(const Sycl__V1__DeviceFacts *facts,
			   const Sycl__V1__DevicePresent *present);

/* sessions.c */
bool show_session_table(const Sycl__V1__AdminReply *reply, bool coloured);
/* Returns the share of the session's user on the session's device. NULL: the device is not
 * divided. */
const Sycl__V1__ShareFacts *session_share(const Sycl__V1__AdminReply *reply,
					  const Sycl__V1__SessionFacts *session);
/* Prints a sentence for each session that does not run: for what it waits, and what ends that. */
void show_reasons(const Sycl__V1__AdminReply *reply);

/* status.c: the engines of users, with their last failures; what users have used */
bool show_engine_table(const Sycl__V1__AdminReply *reply, bool coloured);
bool show_account_table(const Sycl__V1__AdminReply *reply, bool coloured);
bool show_shares(const Sycl__V1__AdminReply *reply, bool coloured);

#endif
