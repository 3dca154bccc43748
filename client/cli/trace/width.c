#include "trace/width.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct edge {
	uint64_t at_ns;
	uint32_t span;
	bool is_end;
};

static int compare_events(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (int)b->is_end - (int)a->is_end;
}

static uint32_t percent_of_device(double had_ns, uint64_t length_ns)
{
	double width = TRACE_WIDTH_WHOLE * had_ns / (double)length_ns + 0.5;
	if (width < 1)
		return 1;
	return width > TRACE_WIDTH_WHOLE ? TRACE_WIDTH_WHOLE : (uint32_t)width;
}

/* `had`: the part of the device that a group would have had if it had run from the beginning until
 * now. */
static void sweep_events(struct trace_span *spans, const struct edge *edges, uint32_t count,
			 double *had_before)
{
	double had = 0;
	uint32_t running = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (running > 0)
			had += (double)(edges[i].at_ns - edges[i - 1].at_ns) / running;
		struct trace_span *span = &spans[edges[i].span];
		if (edges[i].is_end) {
			running--;
			span->width = percent_of_device(had - had_before[edges[i].span],
							span->end_ns - span->start_ns);
		} else {
			running++;
			had_before[edges[i].span] = had;
		}
	}
}

int trace_widths(struct trace_span *spans, uint32_t count)
{
	struct edge *edges = malloc((2 * (size_t)count + 1) * sizeof(*edges));
	double *had_before = malloc(((size_t)count + 1) * sizeof(*had_before));
	uint32_t edge_count = 0;
	bool is_whole = edges && had_before;
	for (uint32_t i = 0; is_whole && i < count; i++) {
		spans[i].width = TRACE_WIDTH_WHOLE;
		if (spans[i].end_ns <= spans[i].start_ns)
			continue;
		edges[edge_count++] = (struct edge){spans[i].start_ns, i, false};
		edges[edge_count++] = (struct edge){spans[i].end_ns, i, true};
	}
	if (is_whole) {
		qsort(edges, edge_count, sizeof(*edges), compare_events);
		sweep_events(spans, edges, edge_count, had_before);
	}
	free(edges);
	free(had_before);
	return is_whole ? 0 : -ENOMEM;
}
