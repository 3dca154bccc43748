/*
 * Checks a timeline against the rules of the Trace Event Format that viewers rely on, with a JSON
 * parser of its own: phases and their members, rows whose slices do not overlap and whose times
 * never go back, names of all rows, and arrows with two ends, each within a slice.
 */
#ifndef SYCL_TESTS_TIMELINE_CHECK_H
#define SYCL_TESTS_TIMELINE_CHECK_H

#include <jansson.h>

enum { TIMELINE_ERROR_BYTES = 256 };

/* What a good timeline has. */
struct timeline_counts {
	unsigned slices, instants, arrows, rows, processes;
};

/* 0, or -1: the first rule that does not hold. A text without errors is kept as a file in the
 * folder SYCLD_TIMELINES of the environment, if there is one. *json_out: the caller's, also after
 * an error; NULL: it is no JSON. */
int timeline_check(const char *text, json_t **json_out, struct timeline_counts *counts_out,
		   char error_out[TIMELINE_ERROR_BYTES]);

#endif
