/* The present state of sessions and devices, in a reply. */
#ifndef SYCLD_SUPERVISOR_REPORT_PRESENT_H
#define SYCLD_SUPERVISOR_REPORT_PRESENT_H

#include "admin.pb-c.h"
#include "base/order_origin.h"

#include <stdbool.h>

struct engine;
struct inquiry;
struct session;
struct session_figures;

enum { REPORT_PRESENT_MAX = 256 };

/* Zeroed: empty. */
struct report_present {
	Sycl__V1__DevicePresent *devices, **list;
	/* One for each session, and one more, so that it is never NULL. */
	Sycl__V1__SessionPresent *sessions;
	Sycl__V1__OrderOrigin *origins;
	size_t session_count, origin_count;
};

/* `sessions`, `engines`: the largest number of each in the reply. False: no memory. */
bool report_present_begin(struct report_present *present, size_t sessions, size_t engines);
void report_present_fini(struct report_present *present);

/* Fills a session's row from its engine's claim. */
void report_present_session(struct report_present *present, const struct session *session,
			    const struct session_figures *claim, Sycl__V1__SessionFacts *facts_out);

/* Adds each device with the sums over all engines for which `visible` returns true. */
void report_present_devices(struct report_present *present, const struct inquiry *inquiry,
			    bool (*visible)(const struct inquiry *inquiry,
					    const struct engine *engine),
			    Sycl__V1__AdminReply *reply);

/* NULL: there is no order, or its origin is unknown. */
Sycl__V1__OrderOrigin *report_present_origin(struct report_present *present,
					     const struct order_origin *origin);

#endif
