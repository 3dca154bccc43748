/* How much of the device each group of a trace had. */
#ifndef SYCLCTL_TRACE_WIDTH_H
#define SYCLCTL_TRACE_WIDTH_H

#include <stdint.h>

enum { TRACE_WIDTH_WHOLE = 100 };

/* When a group ran; one that ends when it starts is unknown. */
struct trace_span {
	uint64_t start_ns, end_ns;
	uint32_t width; /* out: percent, 1 at least */
};

/*
 * Groups that ran at one time are counted with equal parts of that time. So together they have the
 * time in which any of them ran, whether they shared the device's units or took turns. -ENOMEM.
 */
int trace_widths(struct trace_span *spans, uint32_t count);

#endif
