/* Formats figures for people. Each function returns its buffer. */
#ifndef SYCL_ASK_UNITS_H
#define SYCL_ASK_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum { UNIT_TEXT_BYTES = 32 };

/* "1.2 GiB" */
const char *format_bytes(uint64_t bytes, char text[UNIT_TEXT_BYTES]);

/* "3.4 ms"; for measured times */
const char *format_duration(uint64_t ns, char text[UNIT_TEXT_BYTES]);

/* "2 h 05 min"; for ages */
const char *format_age(uint64_t ns, char text[UNIT_TEXT_BYTES]);

/* "2025-01-31T12:00:00Z" */
const char *format_time(uint64_t unix_seconds, char text[UNIT_TEXT_BYTES]);

#endif
