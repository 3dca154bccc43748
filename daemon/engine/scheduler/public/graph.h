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
 * Graphs of the backend's, for a device that has them (BACKEND_FEATURE_GRAPH): commands and their
 * order, launched as one task (TASK_GRAPH). Nodes are added before sched_graph_build, each behind
 * some that came before it. They hold the buffers and kernels that they name until the graph is
 * gone or has others in their place; USM is the caller's to keep as long as it is launched, and
 * host memory until it is gone: sched_graph_hold.
 */
int sched_graph_create(struct scheduler_device *device, uint32_t node_limit, bool updatable,
		       void *owner, struct sched_graph **graph_out); /* -ENOMEM */
/*
 * `request`: device, requirements and action; the caller has checked them. LAUNCH, COPY, FILL,
 * USM_*, BARRIER, and NATIVE, whose function is called once, from the build, or with NULL when
 * there was none. -EOPNOTSUPP: no other action can be a node, nor another device's. -ENOMEM.
 */
int sched_graph_add(struct sched_graph *graph, const struct task_request *request,
		    const uint32_t *after, uint32_t after_count);
/*
 * Nodes copy from or to this memory: when it is unregistered it stays until the graph is gone,
 * because a backend may have made objects over it. Once for each. -ENOMEM.
 */
int sched_graph_hold(struct sched_graph *graph, struct sched_host *host);
uint64_t sched_graph_bytes(const struct sched_graph *graph); /* what its nodes take */
/* on_graph_built follows, unless it is released before. */
void sched_graph_build(struct sched_graph *graph);
/*
 * What a node is from a launch on: in front of `changes`, which are for one task_submit. `after` as
 * of sched_graph_add. -ENOMEM, -EOPNOTSUPP. A launch that never runs leaves its changes undone:
 * sched_graph_ran tells, by launches' numbers from 1 on.
 */
int sched_graph_change(struct sched_graph *graph, uint32_t node, const struct task_request *request,
		       const uint32_t *after, uint32_t after_count,
		       struct sched_graph_node **changes);
/* Of changes that were not given to a task. NULL is fine. */
void sched_graph_changes_free(struct sched_graph_node *changes);
uint64_t sched_graph_launches(const struct sched_graph *graph); /* that were submitted */
uint64_t sched_graph_ran(const struct sched_graph *graph); /* the latest of those whose changes are
							      known to have been made */
/* A launch failed because its changes could be made in no way: launches to come would fail, too. */
bool sched_graph_is_broken(const struct sched_graph *graph);
void sched_graph_release(struct sched_graph *graph); /* once, at any time; launches go on */

#endif
