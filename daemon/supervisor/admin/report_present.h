/* What sessions and devices are about now, in a reply. */
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

/* All 0: empty. */
struct report_present {
	Sycl__V1__DevicePresent *devices, **list;
	/* One for each session, and one more. */
	Sycl__V1__SessionPresent *sessions;
	Sycl__V1__OrderOrigin *origins;
	size_t session_count, origin_count;
};

/* `sessions`: the most there can be; `engines`: the same. False: no memory. */
bool report_present_begin(struct report_present *present, size_t sessions, size_t engines);
void report_present_fini(struct report_present *present);

/* Fills a session's row from its engine's claim. */
void report_present_session(struct report_present *present, const struct engine *engine,
			    const struct session *session, const struct session_figures *claim,
			    Sycl__V1__SessionFacts *facts_out);

/* The sums over the engines that have answered. `visible`: does the asker get this engine? */
void report_present_devices(struct report_present *present, const struct inquiry *inquiry,
			    bool (*visible)(const struct inquiry *inquiry,
					    const struct engine *engine),
			    Sycl__V1__AdminReply *reply);

/* NULL: nothing is known of the order. */
Sycl__V1__OrderOrigin *report_present_origin(struct report_present *present,
					     const struct order_origin *origin);

#endif
