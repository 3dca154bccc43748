/* The reply to `syclctl events`: the events that are kept (base/events.h). */
#ifndef SYCLD_SUPERVISOR_REPORT_EVENTS_H
#define SYCLD_SUPERVISOR_REPORT_EVENTS_H

#include "admin/admin.h"

/* Replies at once. */
void report_events(struct asker *asker, const Sycl__V1__EventsQuery *query);

#endif
