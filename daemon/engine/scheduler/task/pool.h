/* Memory for tasks, edges and nodes, kept for the next ones. */
#ifndef SYCL_ENGINE_SCHED_POOL_H
#define SYCL_ENGINE_SCHED_POOL_H

#include "base/pool.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <stdbool.h>
#include <stddef.h>

union sched_node;

#define SCHED_TASKS_KEPT            1024u /* kept in any case; base/pool.h has the rule for more */
#define SCHED_EDGES_KEPT            4096u
#define SCHED_NODES_KEPT            4096u
#define SCHED_STORAGE_BYTES         640u /* storage of a task that is kept for the next one */
#define SCHED_BURSTS_KEPT           128u
#define SCHED_BURST_STORAGE_BYTES   2048u /* the same of larger tasks, mostly bursts */
#define SCHED_STRETCHES_KEPT        64u
#define SCHED_STRETCH_STORAGE_BYTES 6144u /* the same of still larger ones, mostly stretches */

void sched_pool_init(struct scheduler *scheduler);
/* These take from what pool_reserve has reserved, so they cannot fail. */
static inline struct task_edge *sched_take_edge(struct scheduler *scheduler)
{
	scheduler->pool_bytes += sizeof(struct task_edge);
	return pool_take(&scheduler->edges);
}

static inline void sched_give_edge(struct scheduler *scheduler, struct task_edge *edge)
{
	scheduler->pool_bytes -= sizeof(*edge);
	pool_give(&scheduler->edges, edge);
}

union sched_node *sched_take_node(struct scheduler *scheduler);
void sched_give_node(struct scheduler *scheduler, union sched_node *node);
/* All fields are set as in a new task, except `storage`. NULL: no memory. */
struct task *sched_take_task(struct scheduler *scheduler, size_t storage_bytes);
void sched_give_task(struct scheduler *scheduler, struct task *task);
/*
 * Frees reserved memory that was not needed, beyond a few times what is kept in any case: the next
 * submission may reserve as much.
 */
void sched_pool_trim(struct scheduler *scheduler);
/* Frees some spare memory before the front sleeps. True: call again. */
bool sched_pool_trim_idle(struct scheduler *scheduler);
void sched_pool_free(struct scheduler *scheduler);

#endif
