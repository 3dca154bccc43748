/* Writes a trace as a timeline for viewers such as Perfetto: JSON in the Trace Event Format
 * (docs/traces.md). */
#ifndef SYCLCTL_TRACE_TIMELINE_H
#define SYCLCTL_TRACE_TIMELINE_H

#include "trace/file.h"

#include <stdio.h>

/* Sorts the trace, whose `wants_moves` is set, and writes it. 0, -ENOMEM, or the error of the
 * write. */
int trace_timeline_write(struct trace_data *data, FILE *file);

#endif
