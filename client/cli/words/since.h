/* Reads points in time as an operator writes them. */
#ifndef SYCLCTL_SINCE_H
#define SYCLCTL_SINCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Reads "today", "yesterday" (their beginning), "90s", "30m", "2h" or "7d" (so long before `now`),
 * "2026-01-31", "2026-01-31 12:00" or "2026-01-31 12:00:00" in the local time zone, and times as
 * syclctl prints them ("2026-01-31T12:00:00Z", in UTC). False: the text has another form.
 */
bool since_read(const char *text, time_t now, uint64_t *unix_seconds_out);

#endif
