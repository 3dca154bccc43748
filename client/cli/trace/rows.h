/* Rows of a timeline. Slices of one row never overlap, so a track, such as a lane or a queue, has
 * as many rows as it had slices at one time. */
#ifndef SYCLCTL_TRACE_ROWS_H
#define SYCLCTL_TRACE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_ROWS_MOST = 64 }; /* of one track */

struct trace_rows;

/* NULL: no memory. */
struct trace_rows *trace_rows_new(void);
struct trace_rows *trace_rows_free(struct trace_rows *rows);
/*
 * Takes a row of the track with this pair of numbers for a slice. The calls are in the order of
 * start_ns. *row_out: the row's number in all tracks, from 1 on. -ENOMEM, or -E2BIG: the track has
 * too many slices at one time.
 */
int trace_rows_take(struct trace_rows *rows, uint64_t first, uint64_t second, uint64_t start_ns,
		    uint64_t end_ns, uint32_t *row_out, bool *is_new_out);

#endif
