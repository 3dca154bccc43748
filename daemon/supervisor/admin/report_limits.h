/*
 * The limits in force, and whether they are defaults, configured or ordered, for `syclctl limits`.
 */
#ifndef SYCLD_SUPERVISOR_REPORT_LIMITS_H
#define SYCLD_SUPERVISOR_REPORT_LIMITS_H

#include "admin.pb-c.h"
#include "admin/report.h"
#include "base/configuration.h"

#include <stdbool.h>

/* Parts of a row. */
struct limit_text {
	Sycl__V1__OrderOrigin ordered_by;
	char origin[96];
	char value[512];
	char owner[CONFIGURATION_NAME_BYTES + 8];
};

/* The limits of one reply; zeroed: empty. */
struct report_limits {
	struct limit_text *texts;
	Sycl__V1__LimitFacts *rows;
	Sycl__V1__LimitFacts **list;
};

/* Adds the limits of all users, then those of each user with individual ones, then sections of the
 * configuration for users who have not connected yet, and for groups. False: no memory. */
bool report_limits_add(const struct inquiry *inquiry, struct report_limits *limits,
		       Sycl__V1__AdminReply *reply);

void report_limits_fini(struct report_limits *limits);

#endif
