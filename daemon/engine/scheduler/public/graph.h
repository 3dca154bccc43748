/* Graphs of a backend. */
#ifndef SYCL_ENGINE_PUBLIC_GRAPH_H
#define SYCL_ENGINE_PUBLIC_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_graph;
struct sched_graph_node;
struct sched_host;
struct scheduler_device;
struct task_request;

/*
 * A graph of the backend (BACKEND_FEATURE_GRAPH): commands and their order, launched as one task
 * (TASK_GRAPH). Nodes are added before sched_graph_build, each behind earlier ones. The graph holds
 * the buffers and kernels that its nodes name. The caller keeps USM as long as the graph is
 * launched, and host memory until it is freed (sched_graph_hold).
 */
int sched_graph_create(struct scheduler_device *device, uint32_t node_limit, bool updatable,
		       void *owner, struct sched_graph **graph_out); /* -ENOMEM */
/*
 * `request`: device, requirements and action, which the caller has checked. LAUNCH, COPY, FILL,
 * USM_*, BARRIER, CONDITION and NATIVE can be nodes. A native function is called once: by the
 * build, or with NULL if there was none. -EOPNOTSUPP: another action or device. -ENOMEM.
 */
int sched_graph_add(struct sched_graph *graph, const struct task_request *request,
		    const uint32_t *after, uint32_t after_count);
/*
 * Nodes copy from or to this memory. After it was unregistered it stays until the graph is freed,
 * because a backend may have made objects over it. Once for each memory. -ENOMEM.
 */
int sched_graph_hold(struct sched_graph *graph, struct sched_host *host);
/* The bytes of memory that the graph's nodes hold. */
uint64_t sched_graph_bytes(const struct sched_graph *graph);
/*
 * on_graph_built follows, unless the graph is released before. Where building needs a moment in
 * which nothing runs on the device (BACKEND_FEATURE_QUIET_LOAD), `awaits_quiet` has it requested
 * and waited for, for 0.1 s at most. Otherwise the build fails with STATUS_FEATURE_NOT_SUPPORTED.
 */
void sched_graph_build(struct sched_graph *graph, bool awaits_quiet);
/*
 * Changes a node from one launch on: adds to the front of `changes`, which go into one task_submit.
 * `after` as in sched_graph_add. A launch that never runs does not apply its changes, see
 * sched_graph_ran. -ENOMEM, -EOPNOTSUPP.
 */
int sched_graph_change(struct sched_graph *graph, uint32_t node, const struct task_request *request,
		       const uint32_t *after, uint32_t after_count,
		       struct sched_graph_node **changes);
/* Frees changes that were not given to a task. Accepts NULL. */
void sched_graph_changes_free(struct sched_graph_node *changes);
/* Returns the number of submitted launches; and the number, from 1 on, of the latest launch whose
 * changes were applied. */
uint64_t sched_graph_launches(const struct sched_graph *graph);
uint64_t sched_graph_ran(const struct sched_graph *graph);
/* True if changes of a launch could not be applied in any way: later launches would fail, too. */
bool sched_graph_is_broken(const struct sched_graph *graph);
void sched_graph_release(
	struct sched_graph *graph); /* once, at any time; launches in flight go on */

#endif
