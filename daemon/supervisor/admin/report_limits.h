/*
 * The limits in force, and whether they are defaults, configured or ordered, for `syclctl limits`.
 */
#ifndef SYCLD_SUPERVISOR_REPORT_LIMITS_H
#define SYCLD_SUPERVISOR_REPORT_LIMITS_H

#include "admin.pb-c.h"
#include "admin/report.h"

#include <stdbool.h>

/* Texts of a row. */
struct limit_text {
	char origin[96];
	char value[512];
};

/* The limits of one reply; zeroed: empty. */
struct report_limits {
	struct limit_text *texts;
	Sycl__V1__LimitFacts *rows;
	Sycl__V1__LimitFacts **list;
};

/* Adds the limits of all users, then those of each user with individual ones. False: no memory. */
bool report_limits_add(const struct inquiry *inquiry, struct report_limits *limits,
		       Sycl__V1__AdminReply *reply);

void report_limits_fini(struct report_limits *limits);

#endif
