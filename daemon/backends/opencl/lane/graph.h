/*
 * Graphs as command buffers (L9, L14, K15 - K18). Lanes are in-order queues, so a buffer is
 * recorded for such a queue. Its commands run in the order in which they were added. Every edge
 * agrees with that order, so no sync points are needed.
 *
 * Drivers need not keep a graph's nodes apart from the objects that they were recorded with. PoCL
 * 3.1 reads a kernel's arguments when the buffer runs. So every launch has a cl_kernel of its own,
 * which is not changed any more. The recorded commands are also kept as nodes. A graph that
 * includes this one records them again from these nodes. Device thread.
 */
#ifndef SYCL_BACKENDS_OPENCL_GRAPH_H
#define SYCL_BACKENDS_OPENCL_GRAPH_H

#include "opencl/lane/command_buffer.h"
#include "opencl/driver/objects.h"
#include "opencl/program/growth.h"
#include "opencl/lane/submit.h"
#include "opencl/driver/waits.h"
#include "protocol_limits.h"

/* State of a device that has graphs. */
struct opencl_graphs {
	struct opencl_command_buffers buffers;
	/* Buffers are recorded for this queue, and run on lanes, which have the same properties. */
	cl_command_queue queue;
};

enum opencl_node_kind {
	OPENCL_NODE_EMPTY = 0,
	OPENCL_NODE_LAUNCH,
	OPENCL_NODE_COPY,
	OPENCL_NODE_FILL,
	OPENCL_NODE_NATIVE
};

struct opencl_node {
	enum opencl_node_kind kind;
	/* LAUNCH: a kernel of the node's own, with its arguments set, and the memory objects of
	 * these in its `temporaries`; a reference. */
	struct backend_kernel *kernel;
	cl_kernel prepared;
	struct opencl_geometry geometry;
	/*
	 * COPY, FILL (only `destination`). The node has references of its own if `owns_...` is set.
	 */
	cl_mem source, destination;
	bool owns_source, owns_destination;
	struct opencl_command_box box; /* COPY: a box of one row is a plain copy */
	bool is_box;
	size_t offset, size;
	size_t pattern_bytes;
	unsigned char pattern[FILL_PATTERN_BYTES_MAX];
};

struct backend_graph {
	struct backend_device *device;
	cl_command_buffer_khr buffer;
	struct opencl_node *nodes; /* nodes in order, with those of included graphs */
	uint32_t node_count, node_capacity;
	uint32_t count; /* the number of nodes as backend.h counts them */
	/* The needs of its launches (program/growth.h), set when the graph is finished. */
	struct opencl_growth_user *growths;
	uint32_t growth_count;
	bool is_finished, is_broken; /* broken: recorded commands are wrong or incomplete */
	bool has_native;
};

/* Called at device_open of a device with the feature, and at device_close. */
int opencl_graphs_open(struct backend_device *device, struct backend_fault *fault_out);
void opencl_graphs_close(struct backend_device *device);

/* backend_ops' entries of the same names. */
int opencl_graph_create(struct backend_device *device, struct backend_graph **graph_out,
			struct backend_fault *fault_out);
int opencl_graph_add(struct backend_graph *graph, const struct backend_command *command,
		     const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		     struct backend_fault *fault_out);
int opencl_graph_finish(struct backend_graph *graph, bool updatable,
			struct backend_fault *fault_out);
void opencl_graph_free(struct backend_graph *graph);

/* Puts a launch of the graph on the lane's queue. Its own event shows only the buffer's end. So an
 * event before the buffer is the beginning: *start_out, the caller's. */
int opencl_graph_send(struct backend_lane *lane, struct backend_graph *graph,
		      struct opencl_waits *waits, cl_event *event_out, cl_event *start_out,
		      struct backend_fault *fault_out);

/* lane/graph_node.c: makes a node of a command. opencl_node_clear releases it. -EOPNOTSUPP: the
 * command cannot be a node. */
int opencl_node_make(struct backend_device *device, const struct backend_command *command,
		     struct opencl_node *node_out, struct backend_fault *fault_out);
/* Copies a node; the copy has references of its own. -EOPNOTSUPP: the node cannot be recorded again
 * (a native command). */
int opencl_node_copy(const struct backend_device *device, const struct opencl_node *node,
		     struct opencl_node *copy_out);
/* Fills in a fault: `what` cannot be a node. Returns -EOPNOTSUPP. */
int opencl_node_refuse(struct backend_fault *fault_out, const char *what);
void opencl_node_clear(const struct backend_device *device, struct opencl_node *node);

#endif
