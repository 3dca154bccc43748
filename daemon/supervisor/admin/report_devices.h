/* The devices of a reply: engines' claims, merged if they are equal. */
#ifndef SYCLD_SUPERVISOR_REPORT_DEVICES_H
#define SYCLD_SUPERVISOR_REPORT_DEVICES_H

#include "admin.pb-c.h"
#include "admin/report.h"

#include <stdbool.h>

enum { REPORT_DEVICES_MAX = 1024, REPORT_UNAVAILABLE_MAX = 256 };

/* The devices of one reply; zeroed: empty. */
struct report_devices {
	struct claimed_device *claimed; /* an entry for each device of each engine */
	size_t claimed_count;
	struct known_device *known;
	Sycl__V1__KnownDevice **list;
	uint32_t *uids;
	Sycl__V1__PlatformFacts **unavailable;
};

/*
 * Puts devices into the reply. Facts that are equal to the last byte occur once, with all users
 * whose engines claim them. Different facts about one device are listed one after the other, marked
 * as disputed. An engine may lie, and only the users beside a fact show whose engines claim it.
 * There are at most REPORT_DEVICES_MAX: first those that most users' engines claim, then each
 * user's in turn. Uids that are in one block (base/uid_places.h) count as one user. False: no
 * memory.
 */
bool report_devices_add(const struct inquiry *inquiry, struct report_devices *devices,
			Sycl__V1__AdminReply *reply);

void report_devices_fini(struct report_devices *devices);

#endif
