/*
 * Graphs of a backend (BACKEND_FEATURE_GRAPH) inside the scheduler. A graph is a list of commands
 * and their order; it holds the buffers and kernels that they name. The device thread makes a
 * backend_graph of them. A launch is one task, whatever the number of nodes, and requires what all
 * nodes require.
 *
 *   sched_graph_create, sched_graph_add ... --> sched_graph_build --> on_graph_built
 *                                           --> launches --> sched_graph_release
 *
 * Nodes belong to the front until sched_graph_build, then to the device thread. It alone replaces
 * nodes, by those that a launch brings along. Such a launch goes alone, so that nothing in flight
 * is changed. The replaced nodes go back with its task. If the handle of a memory has changed since
 * the graph was made, the graph is rebuilt.
 *
 * A temporary (sched_buffer_create_temporary) lies in memory of the backend's graph, where that
 * supports it (graph_temporary). It is made and freed with the graph and serves its launches alone.
 * Such memory is never in sched_memory.handle, which is for nodes that are launched one by one. A
 * temporary that has a handle already, from such a launch, keeps it.
 */
#ifndef SYCL_ENGINE_SCHED_GRAPH_H
#define SYCL_ENGINE_SCHED_GRAPH_H

#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"
#include "scheduler/state/task.h"

/* Temporaries of a backend's graph; further ones have memory as other buffers. */
#define SCHED_GRAPH_TEMPORARIES 64u
/* Nodes that the device's thread adds before it handles its other messages. */
#define SCHED_GRAPH_SLICE 64u

/* A node: a command of the graph, in one allocation with all that it points to. */
struct sched_graph_node {
	struct sched_graph_node *next; /* the next one among the changes of a launch */
	uint32_t index;                /* index of the node that a change replaces */
	struct task_command command;
	size_t storage_bytes;
	struct sched_buffer **buffers; /* held */
	uint32_t buffer_count, after_count;
	uint32_t *after; /* nodes of which this one is a successor */
	_Alignas(16) uint8_t storage[];
};

/* A memory that nodes name, and its handle when the nodes were made. */
struct worker_graph_memory {
	struct sched_memory *memory;
	struct backend_memory *handle;
};

enum sched_graph_way { SCHED_GRAPH_BUILD_ON, SCHED_GRAPH_BUILD_OVER, SCHED_GRAPH_FREE };

struct sched_graph {
	struct sched_message message;
	struct scheduler_device *device;
	void *owner;
	struct sched_graph_node **nodes;
	uint32_t node_count, node_limit;
	uint64_t bytes;            /* memory that the nodes hold */
	struct sched_host **hosts; /* held */
	uint32_t host_count, host_capacity;
	bool updatable;
	/* The graph has IF or WHILE nodes, so its nodes cannot be launched one by one. */
	bool has_condition;
	bool may_print;      /* a node's kernel prints, as far as is known; never reset */
	bool has_native;     /* calls the application's functions, once: it cannot be rebuilt */
	uint32_t references; /* the owner, the build, launches */
	bool released, built;
	bool is_broken;     /* number of launches that are on a lane */
	uint32_t sent;      /* the lane of those launches */
	uint32_t sent_lane; /* and that lane */
	/* Numbers of launches: the latest one, and the latest one whose changes are known to be
	 * applied. */
	uint64_t launched, ran;
	struct sched_notice notice;
	enum sched_graph_way way; /* purpose of the message that is away or came back */
	/* device thread */
	struct backend_graph *handle; /* NULL: not made, or no good any more */
	struct backend_graph **retired;
	uint32_t retired_count, retired_capacity;
	uint32_t next; /* node to add */
	/* Finishing waits for a moment in which nothing runs, or (false) is refused without one. */
	bool awaits_quiet;
	uint64_t waits_since_ns; /* since when it waits; 0: it does not */
	bool is_stale;           /* nodes have changed since the handle was made */
	uint64_t stamp;          /* number of the build that is being made */
	struct worker_graph_memory *memories;
	uint32_t memory_count, memory_capacity;
	struct worker_graph_memory
		*temporaries; /* temporaries in memory of the backend's graph; NULL: none yet */
	uint32_t temporary_count;
	/* Fault of the build; owned by the device thread until the message comes back. */
	struct backend_fault fault;
};

/* The graph of a launch, in the storage of its task. */
struct sched_graph_launch {
	struct sched_graph *graph;
	struct sched_graph_node
		*changes; /* owned; the device's thread leaves the replaced nodes here */
	uint64_t number;
	bool ran;   /* device thread: the changes were taken */
	bool broke; /* device thread: and could not be made */
};

static inline size_t sched_graph_node_bytes(const struct sched_graph_node *node)
{
	return sizeof(*node) + node->storage_bytes +
	       node->buffer_count * sizeof(struct sched_buffer *) +
	       node->after_count * sizeof(uint32_t);
}

uint64_t sched_graph_changes_bytes(const struct sched_graph_node *changes);
size_t sched_graph_storage(void);
/* Fills the command, with storage of that size at `at`. The task holds the graph. */
void sched_graph_fill(struct task_command *command, const struct task_request *request,
		      uint8_t *at);
/* A task that was kept is submitted again, with its launch at the same place. */
void sched_graph_fill_again(struct task_command *command, struct sched_graph_launch *launch);
/* The task is over. Also of tasks that are none. */
void sched_graph_end(struct task *task);
void sched_graph_returned(void *object);
void sched_graph_notify(void *object);
void sched_graph_destroy(struct sched_graph *graph);

#endif
