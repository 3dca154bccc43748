/*
 * A short graph whose nodes are kernels in a row. A lane collects it like as many launches, so that
 * it goes to the driver in one chain with what comes before and behind it. An iteration of a
 * program that launches a graph and reads a few bytes is then one launch of the driver instead of
 * two. As with kernels that are launched by themselves, a chain has other launches only if all of
 * them were short lately, because its end is all that is reported. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_SERIES_H
#define SYCL_BACKENDS_CUDA_SERIES_H

#include "cuda/lane/lane.h"
#include "cuda/lane/send_context.h"
#include "cuda/program/pace.h"

#define CUDA_SERIES_MAX 8u /* nodes of such a graph */

/* Belongs to its graph, or to a row of launches (lane/row.h), which exists until its last launch is
 * reported. */
struct cuda_series {
	struct cuda_pace pace; /* of launches of the whole graph */
	uint32_t count;        /* kernels, without those of nodes that are skipped */
	uint32_t node_count;
	bool is_skipped[CUDA_SERIES_MAX];
	/* The launch of each node, whose arguments are in its own storage. `direct` and
	 * `ends_command` are not used. NULL: an empty node. */
	struct cuda_collected *nodes[CUDA_SERIES_MAX];
};

/* Collects the launches of `series`, which the context's command launches. False: nothing was
 * collected, and the graph must be launched as one of the driver. */
bool cuda_series_collect(struct cuda_send_context *context, struct cuda_series *series);

/* Puts its launches where the lane collects the next ones. Their arguments stay where they are: a
 * series is not changed while a launch of it is in flight. */
void cuda_series_fill(const struct cuda_send_context *context, struct cuda_series *series,
		      struct cuda_collected *first);
/* Takes the launches that were filled in as one pending command. */
void cuda_series_push(struct cuda_send_context *context, struct cuda_series *series);

/* The time of one of its kernels, estimated from the latest launches of the graph. If that is
 * unknown, the graph is sent alone. */
static inline uint64_t cuda_series_period_ns(const struct cuda_series *series)
{
	const bool is_known = series->pace.period_ns > 0 && !cuda_pace_is_open(&series->pace, 1);

	return is_known ? series->pace.period_ns / series->count + 1 : CUDA_CHAIN_NS;
}

#endif
