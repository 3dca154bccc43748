/* Which limits hold now, and who said so: for `syclctl limits`. */
#ifndef SYCLD_SUPERVISOR_REPORT_LIMITS_H
#define SYCLD_SUPERVISOR_REPORT_LIMITS_H

#include "admin.pb-c.h"
#include "admin/report.h"

#include <stdbool.h>

/* Of one answer; all 0: empty. */
struct report_limits {
	Sycl__V1__LimitFacts *rows;
	Sycl__V1__LimitFacts **list;
};

/* Of everybody, then of each user of whom something else is said. False: no memory. */
bool report_limits_add(const struct inquiry *inquiry, struct report_limits *limits,
		       Sycl__V1__AdminReply *reply);

void report_limits_fini(struct report_limits *limits);

#endif
