/* Tasks, edges and nodes that are kept for the next submission, so that a steady stream allocates nothing. */
#include "sched_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sched_reserve_edges(struct scheduler *scheduler, uint32_t count)
{
	while (scheduler->spare_edge_count < count) {
		struct task_edge *edge = malloc(sizeof(*edge));
		if (!edge)
			return -ENOMEM;
		edge->next_out = scheduler->spare_edges;
		scheduler->spare_edges = edge;
		scheduler->spare_edge_count++;
	}
	return 0;
}

struct task_edge *sched_take_edge(struct scheduler *scheduler)
{
	struct task_edge *edge = scheduler->spare_edges;
	scheduler->spare_edges = edge->next_out;
	scheduler->spare_edge_count--;
	scheduler->pool_bytes += sizeof(*edge);
	return edge;
}

void sched_give_edge(struct scheduler *scheduler, struct task_edge *edge)
{
	scheduler->pool_bytes -= sizeof(*edge);
	if (scheduler->spare_edge_count >= SCHED_EDGES_KEPT) {
		free(edge);
		return;
	}
	edge->next_out = scheduler->spare_edges;
	scheduler->spare_edges = edge;
	scheduler->spare_edge_count++;
}

int sched_reserve_nodes(struct scheduler *scheduler, uint32_t count)
{
	while (scheduler->spare_node_count < count) {
		union sched_node *node = malloc(sizeof(*node));
		if (!node)
			return -ENOMEM;
		node->next_spare = scheduler->spare_nodes;
		scheduler->spare_nodes = node;
		scheduler->spare_node_count++;
	}
	return 0;
}

union sched_node *sched_take_node(struct scheduler *scheduler)
{
	union sched_node *node = scheduler->spare_nodes;
	scheduler->spare_nodes = node->next_spare;
	scheduler->spare_node_count--;
	scheduler->node_count++;
	scheduler->pool_bytes += sizeof(*node);
	return node;
}

void sched_give_node(struct scheduler *scheduler, union sched_node *node)
{
	scheduler->node_count--;
	scheduler->pool_bytes -= sizeof(*node);
	if (scheduler->spare_node_count >= SCHED_NODES_KEPT) {
		free(node);
		return;
	}
	node->next_spare = scheduler->spare_nodes;
	scheduler->spare_nodes = node;
	scheduler->spare_node_count++;
}

static struct task *allocate_task(size_t storage_bytes)
{
	size_t bytes = sizeof(struct task) + storage_bytes;
	struct task *task = aligned_alloc(_Alignof(struct task), (bytes + 63) & ~(size_t)63);
	if (task)
		task->storage_bytes = (uint32_t)storage_bytes;
	return task;
}

static void keep_task(struct scheduler *scheduler, struct task *task)
{
	task->list_next = scheduler->spare_tasks;
	scheduler->spare_tasks = task;
	scheduler->spare_task_count++;
}

int sched_reserve_tasks(struct scheduler *scheduler, uint32_t count)
{
	while (scheduler->spare_task_count < count) {
		struct task *task = allocate_task(SCHED_STORAGE_BYTES);
		if (!task)
			return -ENOMEM;
		keep_task(scheduler, task);
	}
	return 0;
}

struct task *sched_take_task(struct scheduler *scheduler, size_t storage_bytes)
{
	struct task *task;
	if (storage_bytes > UINT32_MAX / 2)
		return NULL;
	if (storage_bytes > SCHED_STORAGE_BYTES) {
		task = allocate_task(storage_bytes);
	} else if (scheduler->spare_tasks) {
		task = scheduler->spare_tasks;
		scheduler->spare_tasks = task->list_next;
		scheduler->spare_task_count--;
	} else {
		task = allocate_task(SCHED_STORAGE_BYTES);
	}
	if (!task)
		return NULL;
	scheduler->pool_bytes += sizeof(*task) + task->storage_bytes;
	uint32_t kept = task->storage_bytes;
	memset(task, 0, offsetof(struct task, storage));
	task->storage_bytes = kept;
	task->scheduler = scheduler;
	task->identity = ++scheduler->last_identity;
	task->message.kind = SCHED_MESSAGE_SEND;
	task->uses = (struct task_use *)(void *)task->storage;
	task->send.flight = SCHED_NO_FLIGHT;
	return task;
}

void sched_give_task(struct scheduler *scheduler, struct task *task)
{
	scheduler->pool_bytes -= sizeof(*task) + task->storage_bytes;
	if (task->storage_bytes != SCHED_STORAGE_BYTES || scheduler->spare_task_count >= SCHED_TASKS_KEPT)
		free(task);
	else
		keep_task(scheduler, task);
}

static void keep(struct scheduler *scheduler, uint32_t tasks, uint32_t edges, uint32_t nodes)
{
	for (; scheduler->spare_task_count > tasks; scheduler->spare_task_count--) {
		struct task *task = scheduler->spare_tasks;
		scheduler->spare_tasks = task->list_next;
		free(task);
	}
	for (; scheduler->spare_edge_count > edges; scheduler->spare_edge_count--) {
		struct task_edge *edge = scheduler->spare_edges;
		scheduler->spare_edges = edge->next_out;
		free(edge);
	}
	for (; scheduler->spare_node_count > nodes; scheduler->spare_node_count--) {
		union sched_node *node = scheduler->spare_nodes;
		scheduler->spare_nodes = node->next_spare;
		free(node);
	}
}

void sched_pool_trim(struct scheduler *scheduler)
{
	keep(scheduler, SCHED_TRIM_FACTOR * SCHED_TASKS_KEPT, SCHED_TRIM_FACTOR * SCHED_EDGES_KEPT,
	     SCHED_TRIM_FACTOR * SCHED_NODES_KEPT);
}

void sched_pool_free(struct scheduler *scheduler)
{
	keep(scheduler, 0, 0, 0);
	free(scheduler->accesses);
}
