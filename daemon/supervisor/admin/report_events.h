/* Replies to `syclctl events` with the kept events (base/events.h). */
#ifndef SYCLD_SUPERVISOR_REPORT_EVENTS_H
#define SYCLD_SUPERVISOR_REPORT_EVENTS_H

#include "admin/admin.h"

/* Replies at once, without a request to any engine. */
void report_events(struct asker *asker, const Sycl__V1__EventsQuery *query);

#endif
