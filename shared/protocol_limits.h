/* Every size and count on which both sides must agree, and the default limits of a session. */
#ifndef SYCL_SHARED_PROTOCOL_LIMITS_H
#define SYCL_SHARED_PROTOCOL_LIMITS_H

#define PROTOCOL_MAJOR   1u
#define PROTOCOL_MINOR   0u
#define PROTOCOL_VERSION ((PROTOCOL_MAJOR << 16) | PROTOCOL_MINOR)
/* The version of control.proto. An engine and a supervisor may be of two releases. With different
 * versions they cannot work together. */
#define CONTROL_PROTOCOL   1u
#define ENGINE_TOKEN_BYTES 16u

/* Feature bits of Hello and Welcome. */
#define FEATURE_RESUBMIT (1ull << 0) /* shapes, and fixed-layout RESUBMIT records (resubmit.h) */
#define FEATURE_GRAPHS   (1ull << 1) /* executable graphs that are sent once, and their launches */
#define FEATURE_NATIVE                                                                             \
	(1ull << 2) /* native commands of clients in other processes: HostTask.on_device,          \
		       BufferExport.at_once */
#define FEATURE_TEMPORARIES (1ull << 3) /* temporaries of graphs: BufferCreate.graph_temporary */
/* Native commands that begin before their dependencies are complete: HostTask.early_event,
 * SLOT_STATUS_EARLY. */
#define FEATURE_NATIVE_EARLY (1ull << 4)
#define FEATURE_GRAPH_SWITCH (1ull << 6) /* disabled nodes of executable graphs: GraphSwitch */
#define FEATURE_GRAPH_CONDITION                                                                    \
	(1ull << 7) /* nodes of graphs that run other nodes under a condition: GraphCondition */
#define FEATURE_USM_ENDS                                                                           \
	(1ull << 8) /* copies between a buffer and USM in host memory: MemoryEnd.usm_address;      \
		       shapes of copies */
#define FEATURE_NATIVE_NODES                                                                       \
	(1ull << 5) /* native commands of clients in other processes as nodes: HostTask.on_device  \
		       in GraphNode */

#define FEATURE_OUTPUT (1ull << 9) /* what kernels print comes to their session: Reply.output */
#define FEATURE_EVENTS                                                                             \
	(1ull << 10) /* groups of which the program has the event: CommandGroup.has_event,         \
			RESUBMIT_HAS_EVENT */

#define PACKET_BYTES_MAX       65536u /* most bytes of a datagram, and of a record of a ring */
#define PACKET_DESCRIPTORS_MAX 8u     /* most descriptors of one datagram */
/* Most bytes that one message may unpack to. 64 KiB of hostile bytes can demand 4.5 MB. */
#define DECODE_BYTES_MAX (1u << 20)

/*
 * Longest time of a command after its client has ended, or after an operator has ended its session.
 */
#define LIMIT_ORPHAN_SECONDS 30u
#define SUBMIT_RING_BYTES    (1u << 20)
#define REPLY_RING_BYTES     (1u << 19)
#define COMPLETION_SLOTS     65536u

#define INLINE_SOURCE_BYTES_MAX (32u << 10)
#define BUILD_LOG_BYTES_MAX     (48u << 10)
#define KERNEL_ARGUMENTS_MAX    1024u
#define REQUIREMENTS_MAX        1024u
#define DEPENDENCIES_MAX        1024u
#define FILL_PATTERN_BYTES_MAX  128u
#define NAME_BYTES_MAX          255u
#define KERNEL_NAME_BYTES_MAX   2048u
#define IMAGE_VIEWS_MAX         64u /* views of buffers as images among a kernel's arguments */
#define OUTPUT_BYTES_MAX        (1u << 20)  /* what the kernels of one command may print */
#define OUTPUT_PART_BYTES_MAX   (32u << 10) /* of it in one reply */
#define SHARED_BUFFERS_MAX      256u  /* buffers of a session that are exportable or imported */
#define SHARED_EVENTS_MAX       1024u /* shared events of a session, made or opened */
/* For a session: each has a thread, and a context of its driver. */
#define SUB_DEVICES_MAX      16u
#define PARTITION_VALUES_MAX 64u   /* values in one request for sub-devices */
#define HOST_TASKS_MAX       1024u /* host tasks of a session that are not over */
/* Compiled objects of a session that are not linked yet. */
#define OBJECT_BYTES_MAX (256ull << 20)
/* Shapes of a session, and limits of each shape. */
#define SHAPES_MAX             128u
#define SHAPE_REQUIREMENTS_MAX 16u
#define SHAPE_EVENTS_MAX       16u
#define SHAPE_ARGUMENTS_MAX    32u
#define SHAPE_VALUE_BYTES_MAX  1024u /* bytes of all value arguments together */
/* Executable graphs. */
#define GRAPH_NODES_MAX        16384u
#define GRAPH_EDGES_MAX        262144u  /* edges of a graph */
#define GRAPH_REQUIREMENTS_MAX 131072u  /* requirements of all nodes of a graph */
#define GRAPH_JOINS_MAX        4194304u /* for a launch: its dependencies times its first nodes */
#define GRAPH_VISITS_MAX                                                                           \
	524288u /* for a launch node by node: parts of buffers that the nodes use */
#define GRAPH_TEMPORARIES_MAX 1024u          /* temporaries that the nodes of a graph use */
#define GRAPH_DEPTH_MAX       8u             /* bodies of conditional nodes in bodies */
#define GRAPH_EDGES_SENT_MAX  8192u          /* edges in one record */
#define GRAPH_BYTES_MAX       (256ull << 20) /* memory of the engine for the graphs of a session */
#define CLUSTER_GROUPS_MAX    8u             /* every device with clusters allows as many */

/* Defaults of Limits (session.proto), which the configuration may change. */
#define LIMIT_OBJECTS            65536u
#define LIMIT_DEVICE_BYTES       (1ull << 46) /* practically no limit */
#define LIMIT_TENANT_ARENA_BYTES (1ull << 46)
#define LIMIT_ARENAS             64u
#define LIMIT_ARENA_BYTES        (16ull << 30)
#define LIMIT_BUFFER_BYTES       (16ull << 30)
#define LIMIT_GROUPS_IN_FLIGHT   262144u
#define LIMIT_BUILDS             4u
#define LIMIT_SOURCE_BYTES       (8ull << 20)
#define LIMIT_BUILD_NS           60000000000ull
#define LIMIT_BUILD_MEMORY_BYTES (4ull << 30)

#define ARENA_ALIGNMENT_BYTES 4096u

#endif
