#include "trace/rows.h"

#include "trace/table.h"

#include <errno.h>
#include <stdlib.h>

#define NO_ROW UINT32_MAX

struct row {
	uint64_t end_ns;
	uint32_t next; /* of the same track; NO_ROW: none */
};

struct trace_rows {
	struct trace_table *tracks; /* pairs to the number of the track's first row */
	struct row *rows;
	uint32_t count, room;
};

struct trace_rows *trace_rows_new(void)
{
	struct trace_rows *rows = calloc(1, sizeof(*rows));
	if (rows)
		rows->tracks = trace_table_new();
	return rows && rows->tracks ? rows : trace_rows_free(rows);
}

struct trace_rows *trace_rows_free(struct trace_rows *rows)
{
	if (rows) {
		(void)trace_table_free(rows->tracks);
		free(rows->rows);
	}
	free(rows);
	return NULL;
}

static int rows_grow(struct trace_rows *rows)
{
	if (rows->count < rows->room)
		return 0;
	uint32_t room = rows->room ? 2 * rows->room : 64;
	struct row *larger = realloc(rows->rows, room * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	rows->rows = larger;
	rows->room = room;
	return 0;
}

int trace_rows_take(struct trace_rows *rows, uint64_t first, uint64_t second, uint64_t start_ns,
		    uint64_t end_ns, uint32_t *row_out, bool *is_new_out)
{
	uint32_t at, last = NO_ROW, count = 0;
	int r = rows_grow(rows);
	if (r == 0)
		r = trace_table_number(rows->tracks, first, second, rows->count, &at);
	if (r < 0)
		return r;
	const bool is_track_new = at == rows->count;
	for (; !is_track_new && at != NO_ROW && rows->rows[at].end_ns > start_ns; count++) {
		last = at;
		at = rows->rows[at].next;
	}
	if (count == TRACE_ROWS_MOST)
		return -E2BIG;
	*is_new_out = is_track_new || at == NO_ROW;
	if (*is_new_out) {
		at = rows->count++;
		rows->rows[at] = (struct row){.next = NO_ROW};
		if (last != NO_ROW)
			rows->rows[last].next = at;
	}
	rows->rows[at].end_ns = end_ns;
	*row_out = at + 1;
	return 0;
}
