/* Computes the part of the device that each group of a trace had. */
#ifndef SYCLCTL_TRACE_WIDTH_H
#define SYCLCTL_TRACE_WIDTH_H

#include <stdint.h>

enum { TRACE_WIDTH_WHOLE = 100 };

/* When a group ran. If start and end are equal, the times are unknown. */
struct trace_span {
	uint64_t start_ns, end_ns;
	uint32_t width; /* out: percent, at least 1 */
};

/* Groups that ran at the same time get equal parts of that time. So their sum is the time in which
 * any of them ran, whether they shared the device's units or took turns. -ENOMEM. */
int trace_widths(struct trace_span *spans, uint32_t count);

#endif
