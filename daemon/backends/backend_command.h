/* A command for a device, and its parts. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_COMMAND_H
#define SYCL_BACKENDS_BACKEND_COMMAND_H

#include "backend_memory.h"
#include "backend_program.h"
#include "native_scope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backend_event;
struct backend_graph;
struct backend_kernel;
struct backend_memory;

struct backend_argument {
	/*
	 * VALUE, GLOBAL or LOCAL. IMAGE: `memory` is an image. With `sampled` the sampler goes with
	 * it, where the kernel's argument is a sampled image (portable sources, CUDA's textures).
	 * Otherwise it is an unsampled one. SAMPLER: alone, for OpenCL C.
	 */
	enum backend_argument_kind kind;
	union {
		struct {
			const void *bytes;
			size_t size_bytes;
		} value;
		struct {
			struct backend_memory *memory; /* NULL: a 0-byte buffer, or USM */
			uint64_t offset_bytes;
			/* Of `memory`, for the checking mode: bytes from there to the end of the
			 * accessor's range, times 8, and bits of access_mode.h; 0: not known. */
			uint64_t reach;
			void *usm; /* without `memory`: the address that the kernel gets; NULL: none
				    */
		} global;
		uint64_t local_bytes;
		struct {
			struct backend_memory *memory; /* IMAGE */
			bool sampled,
				writes; /* `writes`: the accessor's mode lets the kernel write */
			struct backend_sampler sampler; /* IMAGE with `sampled`, SAMPLER */
			/* Not NULL: `memory` is a buffer, which the kernel gets as this image. */
			const struct backend_image_view *view;
		} image;
	};
};

/*
 * A box of bytes in two linear memories: `width_bytes` x `rows` x `slices`, none 0. Pitches are
 * distances in bytes of the beginnings of rows and slices; the command's offsets name the first
 * byte of each box. For an end that is an image the origin counts instead: its column, row, and
 * slice or layer, in pixels; that of an image of one dimension with layers is the row. The box is
 * inside the image.
 */
struct backend_rect {
	uint64_t width_bytes, rows, slices;
	uint64_t source_row_pitch, source_slice_pitch, destination_row_pitch,
		destination_slice_pitch;
	uint64_t source_origin[3], destination_origin[3];
};

enum backend_command_kind {
	BACKEND_COMMAND_NOP = 0, /* completes when its waits are reached */
	BACKEND_COMMAND_LAUNCH = 1,
	BACKEND_COMMAND_COPY = 2,  /* device to device, both of this device */
	BACKEND_COMMAND_WRITE = 3, /* host to device */
	BACKEND_COMMAND_READ = 4,  /* device to host */
	BACKEND_COMMAND_FILL = 5,
	BACKEND_COMMAND_COPY_PEER =
		6, /* like COPY, but from the memory of another device of this backend */
	BACKEND_COMMAND_USM_COPY = 7, /* any two USM addresses or registered host addresses */
	BACKEND_COMMAND_USM_FILL = 8,
	BACKEND_COMMAND_USM_PREFETCH = 9, /* shared USM, to this device */
	BACKEND_COMMAND_USM_ADVISE = 10,  /* shared USM */
	/*
	 * Records a shared event, which happens when all earlier commands of the lane have ended.
	 */
	BACKEND_COMMAND_EVENT_RECORD = 11,
	BACKEND_COMMAND_EVENT_WAIT = 12, /* the lane goes on when the shared event has happened */
	BACKEND_COMMAND_NATIVE =
		13, /* the application's own calls of the vendor's driver, on the lane (K6 - K12) */
	BACKEND_COMMAND_GRAPH = 14,     /* a finished graph */
	BACKEND_COMMAND_CONDITION = 15, /* only for a node of a graph: IF and WHILE (R4) */
};

/* How launches differ from plain ones. */
enum backend_l2_use { BACKEND_L2_NORMAL = 0, BACKEND_L2_STREAMING = 1, BACKEND_L2_PERSISTING = 2 };

/* A hint: memory that the second-level cache treats specially while a launch runs. */
struct backend_l2_window {
	uint64_t address;    /* device USM, which may be freed before the launch */
	uint64_t size_bytes; /* 0: none; at most backend_device_facts.l2_window_bytes */
	float hit_ratio;     /* 0 to 1: this part of the window is `hit`, the rest `miss` */
	enum backend_l2_use hit, miss; /* miss is not PERSISTING */
};

struct backend_launch_properties {
	struct backend_l2_window window; /* only for a launch, not for a node */
	bool cooperative;                /* all groups are resident at one time */
	uint32_t cluster[3];             /* groups of a cluster, SYCL's order; all 0: none */
	/*
	 * With EARLY: the launch may begin before the previous command on its lane ends. That
	 * command must be the launch `early_after`, and this launch's kernel `waits`. The two may
	 * then be reported together. For a node: it may begin before the one node that it follows
	 * ends.
	 */
	bool early;
	uint64_t early_after; /* a sequence of the lane; 0: none. Not of nodes */
};

/*
 * A part of a launch's work-groups. The backend has made n groups along SYCL's dimension 0. The
 * part has those from n * first / of to before n * end / of; there may be none. The kernel gets
 * ids, ranges and numbers of groups as if all of them ran.
 */
struct backend_part {
	uint32_t first, end; /* first < end <= of */
	uint32_t of;         /* 0: all */
};

/* n * numerator / of, without overflow. */
static inline uint64_t backend_part_at(uint64_t n, uint32_t numerator, uint32_t of)
{
	return n / of * numerator + n % of * numerator / of;
}

/* Pointers must stay good until submit returns; host pointers of WRITE and READ until the command
 * is complete. */
struct backend_command {
	enum backend_command_kind kind;
	/* start_ns and end_ns of its completion must be exact: the application may query them. */
	bool timed;
	/* A thread may wait for this command by itself. So its end must be reported before commands
	 * behind it have ended. False: it may be reported with the next commands of its owner. */
	bool is_awaited;
	/* Whose command it is: the end of a command is not reported late because of another
	 * owner's. 0: nobody's; two owners may have one number. */
	uint32_t owner;
	union {
		struct {
			struct backend_kernel *kernel;
			uint32_t dimensions; /* 1 to 3 */
			uint64_t global[3];  /* none is 0: the engine completes empty ranges itself
						(B22) */
			uint64_t local[3];   /* all 0: the backend chooses */
			uint64_t offset[3];
			const struct backend_argument *arguments;
			uint32_t argument_count;
			const struct backend_launch_properties *properties; /* NULL: plain */
			struct backend_part part; /* of a plain launch of a kernel that `splits`;
						     not in graphs and bursts */
		} launch;
		struct {
			struct backend_memory *source, *destination;
			uint64_t source_offset_bytes, destination_offset_bytes, size_bytes;
			/* NULL: size_bytes in one piece. Only for COPY; size_bytes is that of the
			 * box. With an image: NULL copies a whole one to another that is alike. A
			 * box goes to one of the same format, or from or to a buffer, in which it
			 * is tightly packed. */
			const struct backend_rect *rect;
		} copy;
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			void *host;
			/* As for copies; `host` is the first byte of the box in host memory. NULL:
			 * one piece. */
			const struct backend_rect *rect;
		} transfer; /* WRITE and READ. Of an image without a box: the whole one, tightly
			       packed rows on the host, offset 0 */
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			const void *pattern;
			size_t pattern_bytes;
			/* Of an image: its destination_origin and size, and a pattern of 16 bytes:
			 * four floats, int32_t or uint32_t, as a kernel writes them. */
			const struct backend_rect *rect;
		} fill;
		struct {
			void *destination;  /* USM_PREFETCH, USM_ADVISE, USM_FILL: the range */
			const void *source; /* USM_COPY */
			/* USM_COPY: that end is host memory that the engine guarantees, registered
			 * or not. At most one end. */
			bool host_destination, host_source;
			uint64_t size_bytes;
			const void *pattern; /* USM_FILL */
			size_t pattern_bytes;
			enum backend_advice advice;
		} usm;
		struct backend_event *event; /* EVENT_RECORD, EVENT_WAIT */
		/*
		 * NATIVE: submit (or graph_add) calls the function once, when the lane waits for
		 * all that the command waits for, perhaps before these waits are reached. The
		 * command is complete when all work that the function sent is.
		 */
		struct {
			backend_native_function *function;
			void *context;
			struct backend_memory *const *memories;
			uint32_t memory_count;
		} native;
		/*
		 * GRAPH: a graph that is finished, and not in flight on another lane. Launches that
		 * are sent to one lane without waiting run one after the other. The times are from
		 * the beginning of the first node to the end of the last one. A node that fails
		 * ends the graph.
		 */
		struct backend_graph *graph;
		/*
		 * CONDITION: the next body_nodes nodes, with those of inner conditions, run once if
		 * the word is not 0. The word is read when all predecessors of this node are
		 * complete. `repeats`: they run again as long as the word is not 0. The word has 32
		 * bits.
		 */
		struct {
			struct backend_memory *memory; /* NULL: `usm` */
			uint64_t offset_bytes;         /* a multiple of 4 */
			const void *usm;
			bool repeats;
			uint32_t body_nodes; /* 1 at least */
		} condition;
	};
};

#endif
