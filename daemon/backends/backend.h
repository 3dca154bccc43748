/*
 * The work of one vendor's driver for the engine: opencl and cuda.
 *
 * Threads. `open`, `enumerate`, `build` and `close` are called once each, by one thread at a time.
 * That may be another thread each time, and other backends may be opened and queried meanwhile. The
 * build helper process calls `build`, and before it only open and enumerate. Everything of a device
 * - its lanes, memories, programs, kernels - is called only from that device's own thread, unless
 * an entry's comment names another one. With BACKEND_FEATURE_INLINE the engine's front thread calls
 * submit, flush, progress and quiet_wanted, too. The device's own thread calls nothing meanwhile:
 * still one at a time, with memory fences in between. Entries marked "loader" may take long. Where
 * the device has BACKEND_FEATURE_LOADER its second thread calls them, at the same time as the
 * others; only one of them at a time. An entry returns 0 or a negative errno and fills `fault_out`
 * where it has one. It never calls upward (but `wake`), never exits, never aborts, never prints.
 * Outputs stay untouched on failure. Destructors accept NULL.
 *
 * The objects are opaque here; each backend defines its own `struct backend_device` and so on.
 * Ranges are in SYCL's order (the last dimension varies fastest); the backend reverses them (E1,
 * E2).
 */
#ifndef SYCL_BACKENDS_BACKEND_H
#define SYCL_BACKENDS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_scope.h"

#define BACKEND_OPS_VERSION   6u
#define BACKEND_TEXT_BYTES    256
#define BACKEND_LOG_BYTES_MAX (48u << 10)

struct backend;
struct backend_device;
struct backend_lane;
struct backend_memory;
struct backend_program;
struct backend_kernel;
struct backend_host;  /* a range of host memory that a device can reach */
struct backend_event; /* shared with other processes, or the vendor's own, given by the application
		       */
struct backend_graph; /* commands and their order, sent as one */

/* Equal to proto's Backend. FAKE: the devices of the project's tests, in no product. */
enum backend_kind { BACKEND_KIND_OPENCL = 1, BACKEND_KIND_CUDA = 2, BACKEND_KIND_FAKE = 3 };

/* Why an entry failed, for the client: a status of shared/status.h, the vendor's code, one
 * sentence. */
struct backend_fault {
	int32_t status;
	int32_t native_code;
	bool device_lost; /* nothing more can be done on this device by this process */
	/* With device_lost: nothing more can be done with this vendor's driver by this process,
	 * only a new one can. */
	bool process_lost;
	bool not_begun; /* with process_lost, of a command: it cannot have been the cause */
	char text[BACKEND_TEXT_BYTES];
};

/* No failure. Of the text only its end is written: it is long, and this is done for every command.
 */
static inline void backend_fault_none(struct backend_fault *fault)
{
	fault->status = 0;
	fault->native_code = 0;
	fault->device_lost = fault->process_lost = fault->not_begun = false;
	fault->text[0] = '\0';
}

struct backend_platform_facts {
	enum backend_kind kind;
	bool available;
	char *name, *vendor, *version, *profile,
		*extensions; /* owned by the backend, good until close */
	char *unavailable_reason;
	int32_t no_devices_code; /* the vendor's own, where it lists no device of this platform; 0:
				    it lists some */
};

/* Features of a device beyond the entries that every backend has. */
enum backend_feature {
	/* Completions call no wake: while something is in flight, progress() must be called again
	 * and again. */
	BACKEND_FEATURE_POLLED = 1u << 0,
	BACKEND_FEATURE_LOADER = 1u << 1, /* "loader" entries may be called from a second thread */
	BACKEND_FEATURE_HOST_REGISTER = 1u << 2, /* host_register and host_unregister pay */
	BACKEND_FEATURE_COMPLETION =
		1u << 3, /* submit takes a completion that the device writes itself */
	BACKEND_FEATURE_EXPORT_VMM = 1u << 4,   /* memory as a descriptor */
	BACKEND_FEATURE_EXPORT_IPC = 1u << 5,   /* memory as a 64-byte handle, within one uid */
	BACKEND_FEATURE_SHARED_EVENT = 1u << 6, /* event_* entries */
	BACKEND_FEATURE_PEER =
		1u << 7, /* BACKEND_COMMAND_COPY_PEER from other devices of this backend */
	BACKEND_FEATURE_USM = 1u << 8, /* usm_* entries and commands; which kinds: the aspects */
	BACKEND_FEATURE_COOPERATIVE = 1u << 9,
	BACKEND_FEATURE_CLUSTER = 1u << 10,
	BACKEND_FEATURE_COPY_LANES = 1u << 11, /* lanes for copies only: moves run beside kernels */
	BACKEND_FEATURE_OCCUPANCY = 1u << 12,  /* kernel_occupancy */
	/*
	 * program_load waits for all that runs on the device, and holds up all that is sent
	 * meanwhile. So it is called, and `quiet` is, while nothing is in flight.
	 */
	BACKEND_FEATURE_QUIET_LOAD = 1u << 13,
	BACKEND_FEATURE_IMAGE = 1u << 14, /* image_create; unsampled and sampled image arguments */
	BACKEND_FEATURE_LINK = 1u << 15,  /* `compile` and `link` */
	BACKEND_FEATURE_SPIRV = 1u << 16, /* `build` takes BACKEND_SOURCE_SPIRV */
	/*
	 * For a plain launch neither submit nor the flush after it waits, and progress() never
	 * waits. Plain means: the kernel has run with these ranges lately, its memory exists, and
	 * the lane is idle. So the engine's front thread, which must not wait, may call these three
	 * itself.
	 */
	BACKEND_FEATURE_INLINE = 1u << 17,
	/*
	 * Kernels and USM commands reach host memory of this process at its own address: with
	 * HOST_REGISTER what was registered, without it any.
	 */
	BACKEND_FEATURE_HOST_ADDRESS = 1u << 18,
	/* `preload` helps with it, and a process that was preloaded for it may change its user
	   before it opens it. */
	BACKEND_FEATURE_PRELOAD = 1u << 19,
	/*
	 * Commands on one lane hold up no other lane, and many commands are sent for little more
	 * than one. So a lane with many of them costs the others less than if they were sent one by
	 * one.
	 */
	BACKEND_FEATURE_SIDE_BY_SIDE = 1u << 20,
	BACKEND_FEATURE_NATIVE =
		1u << 21, /* native_* entries and commands; in an application's own process only */
	BACKEND_FEATURE_GRAPH = 1u << 22,        /* graph_* entries and commands */
	BACKEND_FEATURE_GRAPH_UPDATE = 1u << 23, /* graph_update */
	BACKEND_FEATURE_GRAPH_NATIVE = 1u << 24, /* native commands as nodes (K19) */
	BACKEND_FEATURE_VARIABLE = 1u << 25,     /* program_variable (R1) */
	BACKEND_FEATURE_GRAPH_SWITCH =
		1u << 26, /* graph_update takes NOP for a node that is to be skipped (R3) */
	BACKEND_FEATURE_EARLY =
		1u << 27, /* launches that begin before the one before them is over (R5) */
	BACKEND_FEATURE_GRAPH_CONDITION = 1u << 28, /* BACKEND_COMMAND_CONDITION as a node (R4) */
	BACKEND_FEATURE_USM_MIGRATES = 1u
				       << 29, /* shared USM of usm_alloc moves to the device or host
						 that uses it, and hints name the target (G1) */
};

/* Bits of SYCL's memory orders and scopes (G7 - G9), numbers as in syclclient/device.h. */
enum backend_memory_order {
	BACKEND_ORDER_RELAXED = 1u << 0,
	BACKEND_ORDER_ACQUIRE = 1u << 1,
	BACKEND_ORDER_RELEASE = 1u << 2,
	BACKEND_ORDER_ACQ_REL = 1u << 3,
	BACKEND_ORDER_SEQ_CST = 1u << 4,
};
enum backend_memory_scope {
	BACKEND_SCOPE_WORK_ITEM = 1u << 0,
	BACKEND_SCOPE_SUB_GROUP = 1u << 1,
	BACKEND_SCOPE_WORK_GROUP = 1u << 2,
	BACKEND_SCOPE_DEVICE = 1u << 3,
	BACKEND_SCOPE_SYSTEM = 1u << 4,
};

/* How a device is divided; numbers as in syclclient/device.h, and proto's Partition. */
enum backend_partition {
	BACKEND_PARTITION_NONE = 0,
	BACKEND_PARTITION_EQUALLY = 1,
	BACKEND_PARTITION_BY_COUNTS = 2,
	BACKEND_PARTITION_BY_AFFINITY = 3,
};
enum backend_affinity {
	BACKEND_AFFINITY_NONE = 0,
	BACKEND_AFFINITY_NUMA = 1,
	BACKEND_AFFINITY_L4_CACHE = 2,
	BACKEND_AFFINITY_L3_CACHE = 3,
	BACKEND_AFFINITY_L2_CACHE = 4,
	BACKEND_AFFINITY_L1_CACHE = 5,
	BACKEND_AFFINITY_NEXT_PARTITIONABLE = 6,
};
struct backend_division {
	enum backend_partition partition;
	const uint32_t *counts;       /* BY_COUNTS: compute units of each, none 0 */
	uint32_t count;               /* of `counts` */
	uint32_t units;               /* EQUALLY: compute units of each */
	enum backend_affinity domain; /* BY_AFFINITY */
};

/* Aspects: bit numbers equal to enum sycl_aspect of include/syclclient/device.h. */
struct backend_device_facts {
	uint32_t platform;    /* index among this backend's platforms */
	uint32_t context_set; /* devices of a platform with different numbers do not fit one context
				 (A12); 0: all do */
	uint32_t type;        /* proto's DeviceType */
	char *name, *vendor, *version, *driver_version, *extensions,
		*builtin_kernels; /* the backend's, until close */
	char *key; /* the same for the same device and driver in every process: for the build cache
		      and helper */
	uint32_t vendor_id, max_compute_units, max_work_item_dimensions, max_clock_frequency_mhz,
		address_bits;
	uint64_t max_work_item_sizes[3]; /* SYCL's order */
	uint64_t max_work_group_size, max_mem_alloc_bytes, global_mem_bytes, global_mem_cache_bytes,
		local_mem_bytes;
	uint64_t max_constant_buffer_bytes, max_parameter_bytes, profiling_timer_resolution_ns,
		printf_buffer_bytes;
	uint32_t global_mem_cache_line_bytes, mem_base_addr_align_bits, partition_max_sub_devices;
	uint64_t aspects;
	uint32_t sub_group_sizes[16], sub_group_size_count;
	uint64_t preferred_vector_widths[7],
		native_vector_widths[7]; /* char short int long float double half */
	uint32_t fp_config[3];           /* half single double */
	bool host_unified_memory; /* memory_create on host memory copies nothing: host and device
				     share one storage */
	bool little_endian, image_support, error_correction, available;
	char *unavailable_reason; /* the backend's; NULL if available */
	uint32_t features;        /* enum backend_feature */
	uint32_t preferred_lanes; /* for computing; 0: no preference */
	uint32_t atomic_order_bits, atomic_scope_bits, fence_order_bits, fence_scope_bits;
	uint32_t max_sub_groups;                                          /* of a work-group */
	bool independent_progress;                                        /* of sub-groups */
	uint8_t uuid[16];                                                 /* all 0: none */
	uint32_t max_read_image_args, max_write_image_args, max_samplers; /* 0: no images */
	uint64_t image_sizes[6]; /* largest: 2-D width, height, 3-D width, height, depth, of a
				    buffer in elements */
	uint64_t image_layered_sizes[3]; /* largest of a layered image: a layer's width, its height,
					    layers; 0, 0, 0: none */
	uint64_t l2_window_bytes;        /* largest backend_l2_window; 0: none */
	uint32_t image_formats; /* with BACKEND_FEATURE_IMAGE: bit 1 << enum backend_image_format */
	uint32_t max_constant_args;
	uint32_t global_mem_cache_type, local_mem_type,
		execution_capabilities; /* as in proto's DeviceFacts */
	uint32_t partition_properties,
		partition_domains; /* bits 1 << enum backend_partition; enum backend_affinity */
	enum backend_partition partition_type; /* of a sub-device, as the next; NONE: it is none */
	enum backend_affinity partition_domain;
	char *bus_id; /* "0000:1b:00.0"; NULL: none */
	char *mode;   /* for operators: "MIG 1g.18gb", "MPS client", "exclusive process"; NULL:
			 nothing special */
};

/* A part of a device, itself a device: `index` is for device_open, and stays this one's until
 * sub_device_free. */
struct backend_sub_device {
	uint32_t index, root; /* root: the device of enumerate that it is a part of */
	const struct backend_device_facts
		*facts; /* the backend's, as long; its key is the root's */
};

struct backend_topology {
	const struct backend_platform_facts *platforms;
	uint32_t platform_count;
	const struct backend_device_facts *devices;
	uint32_t device_count;
};

/* May be called from any thread, also from inside an entry: "progress() of this device has
 * something". Never blocks. */
typedef void backend_wake(void *token);

enum backend_source_kind { /* proto's SourceKind */
			   BACKEND_SOURCE_OPENCL_C = 1,
			   BACKEND_SOURCE_PORTABLE = 2,
			   BACKEND_SOURCE_BUILTIN = 3,
			   BACKEND_SOURCE_PTX = 4,
			   BACKEND_SOURCE_CUBIN = 5, /* a cubin or a fatbin: bytes, no text */
			   BACKEND_SOURCE_CUDA_CPP = 6,
			   BACKEND_SOURCE_SPIRV = 7, /* bytes, no text; where the device has
							BACKEND_FEATURE_SPIRV */
};

enum backend_argument_kind { /* proto's ArgumentKind */
			     BACKEND_ARGUMENT_UNKNOWN = 0,
			     BACKEND_ARGUMENT_VALUE = 1,
			     BACKEND_ARGUMENT_GLOBAL = 2,
			     BACKEND_ARGUMENT_LOCAL = 3,
			     BACKEND_ARGUMENT_IMAGE = 4,
			     BACKEND_ARGUMENT_SAMPLER = 5,
};

/* Address spaces of an argument's target; numbers equal to enum sycl_address_space of
 * syclclient/kernel.h. */
enum backend_address_space {
	BACKEND_ADDRESS_UNKNOWN = 0,
	BACKEND_ADDRESS_PRIVATE = 1, /* a value */
	BACKEND_ADDRESS_GLOBAL = 2,
	BACKEND_ADDRESS_CONSTANT = 3,
	BACKEND_ADDRESS_LOCAL = 4,
};

struct backend_argument_facts {
	enum backend_argument_kind kind;
	uint32_t size_bytes; /* of a value; 0: not known */
	bool is_const;
	enum backend_address_space address;
	char type_name[64], name[64];
};

struct backend_kernel_facts {
	const struct backend_argument_facts *arguments; /* the kernel's, good while it lives */
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* SYCL's order; 0: none */
	uint64_t max_local_mem_bytes; /* that a launch may request, beside local_mem_bytes; 0: the
					 device's */
	uint64_t max_global_size[3]; /* SYCL's order; of a built-in kernel or on a custom device; 0:
					not known */
	uint32_t registers;          /* of a work-item; 0: not known */
	uint32_t sub_group_size;     /* 0: not known */
	/*
	 * The kernel is written in the vendor's own language and computes its ids itself. It takes
	 * no offset (E13), and a basic range runs only in groups that divide it.
	 */
	bool native;
	bool has_presets; /* the application's own: an argument of kind UNKNOWN is as it has been
			     set (J9) */
	bool splits;      /* its launches may be sent in parts (struct backend_part) */
	bool waits;       /* with EARLY: the kernel itself waits for the launches before it (R5) */
};

struct backend_occupancy {
	uint32_t groups_per_compute_unit; /* resident at one time */
	uint32_t max_cooperative_groups;  /* of one cooperative launch; 0: none */
	uint32_t max_cluster_groups;      /* 0: none */
	uint32_t suggested_group_size;    /* that fills the device best */
};

/* The eleven formats of 000 (G4); numbers equal to enum sycl_image_format of syclclient/image.h.
 * Channels r, g, b, a. */
enum backend_image_format {
	BACKEND_IMAGE_R8G8B8A8_UNORM = 1,
	BACKEND_IMAGE_R16G16B16A16_UNORM = 2,
	BACKEND_IMAGE_R8G8B8A8_SINT = 3,
	BACKEND_IMAGE_R16G16B16A16_SINT = 4,
	BACKEND_IMAGE_R32B32G32A32_SINT = 5, /* S1: SYCL spells it so; channels are r, g, b, a */
	BACKEND_IMAGE_R8G8B8A8_UINT = 6,
	BACKEND_IMAGE_R16G16B16A16_UINT = 7,
	BACKEND_IMAGE_R32B32G32A32_UINT = 8,
	BACKEND_IMAGE_R16G16B16A16_SFLOAT = 9,
	BACKEND_IMAGE_R32G32B32A32_SFLOAT = 10,
	BACKEND_IMAGE_B8G8R8A8_UNORM = 11,
};

struct backend_image {
	enum backend_image_format format;
	uint32_t dimensions; /* 1 to 3 */
	uint64_t size[3]; /* SYCL's order: the last one, of `dimensions`, is the width; none is 0 */
	bool is_layered;  /* 2 or 3 dimensions: the first one counts layers, which are images of one
			     dimension less */
};

/* S2: in kernels these have core SYCL's meaning; numbers equal to the enums of
 * syclclient/image.h. */
enum backend_addressing {
	BACKEND_ADDRESSING_MIRRORED_REPEAT = 1,
	BACKEND_ADDRESSING_REPEAT = 2,
	BACKEND_ADDRESSING_CLAMP_TO_EDGE = 3,
	BACKEND_ADDRESSING_CLAMP = 4, /* out of range: the border colour */
	BACKEND_ADDRESSING_NONE = 5,
};
struct backend_sampler {
	enum backend_addressing addressing;
	bool normalised, linear;
};

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
			void *usm; /* without `memory`: the address that the kernel gets; NULL: none
				    */
		} global;
		uint64_t local_bytes;
		struct {
			struct backend_memory *memory; /* IMAGE */
			bool sampled,
				writes; /* `writes`: the accessor's mode lets the kernel write */
			struct backend_sampler sampler; /* IMAGE with `sampled`, SAMPLER */
		} image;
	};
};

/*
 * A box of bytes in two linear memories: `width_bytes` x `rows` x `slices`, none 0. Pitches are
 * distances in bytes of the beginnings of rows and slices; the command's offsets name the first
 * byte of each box.
 */
struct backend_rect {
	uint64_t width_bytes, rows, slices;
	uint64_t source_row_pitch, source_slice_pitch, destination_row_pitch,
		destination_slice_pitch;
};

enum backend_command_kind {
	BACKEND_COMMAND_NOP = 0, /* completes when its waits have */
	BACKEND_COMMAND_LAUNCH = 1,
	BACKEND_COMMAND_COPY = 2,  /* device to device, both of this device */
	BACKEND_COMMAND_WRITE = 3, /* host to device */
	BACKEND_COMMAND_READ = 4,  /* device to host */
	BACKEND_COMMAND_FILL = 5,
	BACKEND_COMMAND_COPY_PEER =
		6, /* as COPY, from the memory of another device of this backend */
	BACKEND_COMMAND_USM_COPY = 7, /* any two USM addresses or registered host addresses */
	BACKEND_COMMAND_USM_FILL = 8,
	BACKEND_COMMAND_USM_PREFETCH = 9, /* shared USM, to this device */
	BACKEND_COMMAND_USM_ADVISE = 10,  /* shared USM */
	BACKEND_COMMAND_EVENT_RECORD =
		11, /* a shared event: happens when all before on the lane has */
	BACKEND_COMMAND_EVENT_WAIT = 12, /* the lane goes on when the shared event has happened */
	BACKEND_COMMAND_NATIVE =
		13, /* the application's own calls of the vendor's driver, on the lane (K6 - K12) */
	BACKEND_COMMAND_GRAPH = 14,     /* a finished graph */
	BACKEND_COMMAND_CONDITION = 15, /* of a node of a graph only: IF and WHILE (R4) */
};

/* The ten of 000 (G1); the first six are about the command's device. */
enum backend_advice {
	BACKEND_ADVICE_SET_READ_MOSTLY = 1,
	BACKEND_ADVICE_UNSET_READ_MOSTLY = 2,
	BACKEND_ADVICE_SET_PREFERRED_LOCATION = 3,
	BACKEND_ADVICE_UNSET_PREFERRED_LOCATION = 4,
	BACKEND_ADVICE_SET_ACCESSED_BY = 5,
	BACKEND_ADVICE_UNSET_ACCESSED_BY = 6,
	BACKEND_ADVICE_SET_PREFERRED_LOCATION_HOST = 7,
	BACKEND_ADVICE_UNSET_PREFERRED_LOCATION_HOST = 8,
	BACKEND_ADVICE_SET_ACCESSED_BY_HOST = 9,
	BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST = 10,
};

/*
 * The vendor's handles, as numbers: CUdevice, CUcontext, CUstream, CUdeviceptr, CUevent, CUgraph;
 * cl_platform_id, cl_device_id, cl_context, cl_command_queue, cl_mem, cl_program, cl_kernel,
 * cl_event, cl_command_buffer_khr.
 */
enum backend_native_kind {
	BACKEND_NATIVE_PLATFORM = 1,
	BACKEND_NATIVE_DEVICE = 2,
	BACKEND_NATIVE_CONTEXT = 3,
	BACKEND_NATIVE_QUEUE = 4,  /* of a lane */
	BACKEND_NATIVE_MEMORY = 5, /* of a backend_memory, an image too */
	BACKEND_NATIVE_PROGRAM = 6,
	BACKEND_NATIVE_KERNEL = 7,
	BACKEND_NATIVE_EVENT = 8,
};

/* How far programs have come; numbers equal to enum sycl_bundle_state of syclclient/kernel.h. */
enum backend_program_state {
	BACKEND_PROGRAM_INPUT = 0,
	BACKEND_PROGRAM_OBJECT = 1,
	BACKEND_PROGRAM_EXECUTABLE = 2
};

/* The description of a native object, for kinds with more properties than their devices. */
struct backend_native_facts {
	uint64_t devices;                 /* bits: indices of enumerate; of a QUEUE, one */
	bool out_of_order;                /* QUEUE: its commands are not ordered by themselves */
	bool profiling;                   /* QUEUE: it keeps times */
	uint64_t size_bytes;              /* MEMORY; of an image as its pixels lie tightly packed */
	struct backend_image image;       /* MEMORY; dimensions 0: a buffer */
	enum backend_program_state state; /* PROGRAM: how far it has come, on any of its devices */
	uint64_t program;                 /* KERNEL: whose it is; good as long as the kernel */
	char name[256];                   /* KERNEL */
	bool is_sub_device;               /* DEVICE: a part of `devices` */
};

/* The event has happened (0), or never will (a negative vendor's code). From any thread, also from
 * inside event_watch. */
typedef void backend_happened(void *token, int32_t native_code);

/* How launches differ from plain ones. */
enum backend_l2_use { BACKEND_L2_NORMAL = 0, BACKEND_L2_STREAMING = 1, BACKEND_L2_PERSISTING = 2 };

/* Memory that the second-level cache treats specially while a launch runs: a hint. */
struct backend_l2_window {
	uint64_t address;              /* device USM, which may be freed by then */
	uint64_t size_bytes;           /* 0: none; at most backend_device_facts.l2_window_bytes */
	float hit_ratio;               /* 0 to 1: so much of it is `hit`, the rest `miss` */
	enum backend_l2_use hit, miss; /* miss is not PERSISTING */
};

struct backend_launch_properties {
	struct backend_l2_window window; /* of a launch, not of a node */
	bool cooperative;                /* all groups are resident at one time */
	uint32_t cluster[3];             /* groups of a cluster, SYCL's order; all 0: none */
	/*
	 * The launch may begin before the command before it on its lane is over, if that is the
	 * launch `early_after`, and its kernel `waits` (with EARLY). The two may then be reported
	 * together. As a node: before the one node that it comes after.
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
	bool timed; /* start_ns and end_ns of its completion must be exact: the application may
		       query them */
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
			const struct backend_rect *rect; /* NULL: size_bytes in one piece. COPY
							    only; size_bytes is the box's */
		} copy;
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			void *host;
			/* As for copies; `host` is the first byte of the box there. NULL: in one
			 * piece. */
			const struct backend_rect *rect;
		} transfer; /* WRITE and READ. Of an image: the whole one, tightly packed rows on
			       the host, offset 0 */
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			const void *pattern;
			size_t pattern_bytes;
		} fill;
		struct {
			void *destination;  /* USM_PREFETCH, USM_ADVISE, USM_FILL: the range */
			const void *source; /* USM_COPY */
			/* USM_COPY: that end is host memory that the engine vouches for, registered
			 * or not. At most one. */
			bool host_destination, host_source;
			uint64_t size_bytes;
			const void *pattern; /* USM_FILL */
			size_t pattern_bytes;
			enum backend_advice advice;
		} usm;
		struct backend_event *event; /* EVENT_RECORD, EVENT_WAIT */
		/*
		 * NATIVE: called once, from submit (or graph_add), when the lane waits for
		 * everything that the command waits for, perhaps before that has come. Complete
		 * when all is that the function has sent.
		 */
		struct {
			backend_native_function *function;
			void *context;
			struct backend_memory *const *memories;
			uint32_t memory_count;
		} native;
		/*
		 * GRAPH: finished, and not in flight on another lane; launches that are sent to one
		 * lane without waiting run one after the other. Times are of its first node's
		 * beginning and its last one's end. A node that fails ends the graph.
		 */
		struct backend_graph *graph;
		/*
		 * CONDITION: the next body_nodes nodes, with those of conditions among them, run
		 * once if the word is not 0 when all before this node is complete. `repeats`: again
		 * and again, as long as it is not 0. The word has 32 bits.
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

/* Memory that another process may open. */
enum backend_export_kind {
	BACKEND_EXPORT_NONE = 0,
	BACKEND_EXPORT_VMM = 1,
	BACKEND_EXPORT_CUDA_IPC = 2
};

struct backend_shared_memory {
	enum backend_export_kind kind;
	int descriptor;      /* VMM: the receiver's to close; -1 otherwise */
	uint8_t handle[64];  /* CUDA_IPC */
	uint64_t size_bytes; /* mapped by an importer: rounded up to the granule */
};

enum backend_lane_kind {
	BACKEND_LANE_COMPUTE = 0,
	BACKEND_LANE_COPY_IN = 1,  /* host to device; only with BACKEND_FEATURE_COPY_LANES */
	BACKEND_LANE_COPY_OUT = 2, /* device to host */
	/* As COMPUTE, for work that must not wait: before what other lanes have and has not begun,
	   where the device can do that. */
	BACKEND_LANE_LATENCY = 3,
};

static inline bool backend_lane_computes(enum backend_lane_kind kind)
{
	return kind == BACKEND_LANE_COMPUTE || kind == BACKEND_LANE_LATENCY;
}

enum backend_usm_kind { BACKEND_USM_DEVICE = 1, BACKEND_USM_HOST = 2, BACKEND_USM_SHARED = 3 };

/* The device writes `value` to registered host memory when the command has succeeded, and never
 * otherwise. */
struct backend_direct_completion {
	struct backend_host *host;
	uint64_t offset_bytes; /* a multiple of 4 */
	uint32_t value;
};

/* How a backend is set up. Options are "NAME=VALUE", of this backend alone; an unknown one is
 * -EINVAL with a sentence. */
struct backend_settings {
	const char *cache_directory; /* where the vendor may cache; NULL: nowhere */
	const char *const *options;  /* NULL ends it; NULL: none */
	/*
	 * Only of preload: the process will become another user. Then cache_directory is a path
	 * that leads to an empty folder, or nowhere, and to that user's folder later.
	 */
	bool for_another_user;
};

/* Another lane of this device must have reached this sequence first. */
struct backend_wait {
	struct backend_lane *lane;
	uint64_t sequence;
};

/* A finished command. In any order between lanes, in order within one. */
struct backend_completion {
	struct backend_lane *lane;
	uint64_t sequence;
	struct backend_fault fault; /* status 0: success */
	uint64_t start_ns, end_ns;  /* CLOCK_MONOTONIC; 0 where not known */
	bool estimated;             /* by the host's clock: good for accounts, not for profiling */
	uint32_t failed_launches;   /* of submit_burst, with a fault: bit n, the n-th launch did not
				       run for that; the others did */
};

/* How launches went to the driver, since the device was opened. */
struct backend_sendings {
	uint64_t chains;         /* calls that sent one or more launches as one */
	uint64_t chain_launches; /* and how many launches those were */
	uint64_t refused; /* chains that the driver refused: their launches went one by one */
};

struct backend_ops {
	uint32_t version; /* BACKEND_OPS_VERSION */
	enum backend_kind kind;
	const char *name;       /* "opencl", "cuda"; as in the configuration */
	uint32_t binary_format; /* of what `build` returns; raised when it changes, because binaries
				   are kept on disk */

	/*
	 * Optional. Sets what the vendor's library will read from the environment, and nothing
	 * else. Called for every backend before any is opened, by one thread: later, others may be
	 * reading it.
	 */
	void (*prepare)(const struct backend_settings *settings);
	/*
	 * Optional. Prepares devices in a process without a user, so that opening them later takes
	 * less time. Bit n: device n of enumerate, which has the same number in every process. One
	 * thread calls this before everything else. It may call again with more devices, or with
	 * the same ones to check that they still work; earlier preparation stays. No data of a user
	 * may be read, made or kept. 0: some devices are prepared, or none was requested.
	 * -EOPNOTSUPP: none of these devices is prepared or can be. Any other error: all
	 * preparation is lost. May take a second for each device.
	 */
	int (*preload)(const struct backend_settings *settings, uint64_t devices,
		       struct backend_fault *fault_out);
	/*
	 * Load the vendor's library. -ENODEV and a fault: not here (no library, no driver); the
	 * platform is then active, not available. May take a second.
	 */
	int (*open)(const struct backend_settings *settings, struct backend **backend_out,
		    struct backend_fault *fault_out);
	void (*close)(struct backend *backend);
	/* All platforms and devices; the backend's, good until close. May take a second the first
	 * time. */
	int (*enumerate)(struct backend *backend, struct backend_topology *topology_out,
			 struct backend_fault *fault_out);

	/*
	 * Build a source for a device (index of enumerate). The binary and the log are malloc'ed
	 * and the caller's; the log also on failure, NULL if there is none. -EINVAL and
	 * STATUS_BUILD for a source that does not compile. Called in the build helper; may take as
	 * long as the compiler does.
	 */
	int (*build)(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		     const char *source, size_t source_bytes, const char *options,
		     void **binary_out, size_t *binary_bytes_out, char **log_out,
		     struct backend_fault *fault_out);

	/*
	 * Optional (LINK). As `build`, for one object that `link` takes; and several of them into
	 * what `program_load` takes. Objects carry the backend's own head, so that anything else is
	 * refused (-EINVAL).
	 */
	int (*compile)(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		       const char *source, size_t source_bytes, const char *options,
		       void **object_out, size_t *object_bytes_out, char **log_out,
		       struct backend_fault *fault_out);
	int (*link)(struct backend *backend, uint32_t device, uint32_t count,
		    const void *const *objects, const size_t *object_bytes, const char *options,
		    void **binary_out, size_t *binary_bytes_out, char **log_out,
		    struct backend_fault *fault_out);

	/*
	 * Optional; called where enumerate is. Divides a device of enumerate, or a part of one, in
	 * a way that its facts allow. *count_out: how many parts that makes; more than `capacity`:
	 * then none was made. -EINVAL: the driver refuses.
	 */
	int (*sub_devices_create)(struct backend *backend, uint32_t device,
				  const struct backend_division *division, uint32_t capacity,
				  struct backend_sub_device *sub_devices_out, uint32_t *count_out,
				  struct backend_fault *fault_out);
	/* Optional (NATIVE); as above. The application's own part of a device, retained until
	 * sub_device_free. -EINVAL: it is none. */
	int (*sub_device_take)(struct backend *backend, uint64_t native,
			       struct backend_sub_device *sub_device_out,
			       struct backend_fault *fault_out);
	/* The sub-device must not be open any more. */
	void (*sub_device_free)(struct backend *backend, uint32_t sub_device);

	/* Make the device usable. Called on the device's thread, as all below. `wake(token)`: see
	 * backend_wake. */
	int (*device_open)(struct backend *backend, uint32_t device, backend_wake *wake,
			   void *token, struct backend_device **device_out,
			   struct backend_fault *fault_out);
	/* Everything of the device has been freed before. */
	void (*device_close)(struct backend_device *device);

	/* A lane runs its commands in order. A copy lane takes NOP, COPY, WRITE, READ, FILL and
	 * COPY_PEER. */
	int (*lane_create)(struct backend_device *device, enum backend_lane_kind kind,
			   struct backend_lane **lane_out, struct backend_fault *fault_out);
	void (*lane_free)(struct backend_lane *lane); /* idle */

	/*
	 * Memory of a device. With `host` (page-aligned shared memory that outlives it) a device
	 * with host_unified_memory works in place; others may ignore it. Contents are undefined
	 * otherwise. size_bytes > 0. `export_kind` other than NONE: memory_export can be called on
	 * it; its address never changes, and nothing else lies in its granules. -ENOTSUP: the
	 * device has not that feature.
	 */
	int (*memory_create)(struct backend_device *device, uint64_t size_bytes, void *host,
			     enum backend_export_kind export_kind,
			     struct backend_memory **memory_out, struct backend_fault *fault_out);
	void (*memory_free)(struct backend_memory *memory); /* no command uses it any more */

	/*
	 * Optional (IMAGE). A memory for WRITE, READ and COPY (whole, between images of one
	 * description) and for IMAGE arguments only. -ENOTSUP: this device has not that format, or
	 * not that many dimensions. -EINVAL: too large.
	 */
	int (*image_create)(struct backend_device *device, const struct backend_image *image,
			    struct backend_memory **memory_out, struct backend_fault *fault_out);

	/* Optional (EXPORT_*). A descriptor in *shared_out is the caller's. */
	int (*memory_export)(struct backend_memory *memory,
			     struct backend_shared_memory *shared_out,
			     struct backend_fault *fault_out);
	/*
	 * Optional (EXPORT_*). Memory that another process exported; size_bytes <=
	 * shared->size_bytes of it are used. The descriptor stays the caller's. Ended by
	 * memory_free: the exporter's memory lives on.
	 */
	int (*memory_import)(struct backend_device *device,
			     const struct backend_shared_memory *shared, uint64_t size_bytes,
			     struct backend_memory **memory_out, struct backend_fault *fault_out);

	/*
	 * Optional (HOST_REGISTER); loader, and one more thread at the same time. Page-aligned
	 * memory that commands will read and write: pinned, so that transfers run at full speed.
	 * Transfers from memory that is not registered work too, slower.
	 */
	int (*host_register)(struct backend_device *device, void *host, uint64_t size_bytes,
			     struct backend_host **host_out, struct backend_fault *fault_out);
	void (*host_unregister)(struct backend_host *host); /* no command uses it any more */

	/*
	 * Optional (USM); loader. The address is the same for the device and, for HOST and SHARED,
	 * for this process. `alignment_bytes`: a power of two up to 4096, 0: the device's.
	 * -ENOTSUP: not that kind. size_bytes > 0.
	 */
	int (*usm_alloc)(struct backend_device *device, enum backend_usm_kind kind,
			 uint64_t size_bytes, uint64_t alignment_bytes, void **pointer_out,
			 struct backend_fault *fault_out);
	void (*usm_free)(struct backend_device *device, enum backend_usm_kind kind, void *pointer);

	/* Optional (SHARED_EVENT). The handle is what another process gives to event_open, or a
	 * CUDA program to its driver. */
	int (*event_create)(struct backend_device *device, struct backend_event **event_out,
			    uint8_t handle_out[64], struct backend_fault *fault_out);
	int (*event_open)(struct backend_device *device, const uint8_t handle[64],
			  struct backend_event **event_out, struct backend_fault *fault_out);
	void (*event_free)(struct backend_event *event);
	/* Optional (SHARED_EVENT). Record it now, behind all that the lane was given: no command,
	 * and no completion reports it. */
	int (*event_record)(struct backend_lane *lane, struct backend_event *event,
			    struct backend_fault *fault_out);

	/*
	 * Optional (NATIVE), in an application's own process only. The vendor's handle of an object
	 * (a lane, a memory, a program, a kernel, an event; NULL for platform, device and context).
	 * Where the vendor counts references (OpenCL) the caller gets one of its own (J4).
	 * Elsewhere (CUDA) the handle is the backend's for as long as the object lives (I8).
	 * -EOPNOTSUPP: this kind has none.
	 */
	int (*native_get)(struct backend_device *device, enum backend_native_kind kind,
			  void *object, uint64_t *native_out, struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The devices (bits: indices of enumerate) that belong to a native
	 * platform, device or context; called where enumerate is. -EINVAL: no such thing, or not of
	 * this vendor.
	 */
	int (*native_devices)(struct backend *backend, enum backend_native_kind kind,
			      uint64_t native, uint64_t *devices_out,
			      struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). As above for a QUEUE, MEMORY, PROGRAM or KERNEL; and whether a DEVICE
	 * is a part of another. `context`: the native one to which it must belong, or 0. Without
	 * this entry no memory can be made. A queue then counts as in-order, without times and of
	 * its context's only device. -EINVAL: no such object, or of another context. -EOPNOTSUPP:
	 * this kind is not supported, or SYCL has no such image.
	 */
	int (*native_describe)(struct backend *backend, enum backend_native_kind kind,
			       uint64_t native, uint64_t context,
			       struct backend_native_facts *facts_out,
			       struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). As device_open, in the application's context: all of it lives there.
	 * OpenCL retains the context until device_close, CUDA does not and the application must
	 * keep it (I9, J2).
	 */
	int (*device_open_native)(struct backend *backend, uint32_t device, uint64_t native_context,
				  backend_wake *wake, void *token,
				  struct backend_device **device_out,
				  struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The application's QUEUE, MEMORY, KERNEL or EVENT as a lane, memory,
	 * kernel or event of this device, freed as any other. Retained until then by OpenCL, left
	 * to the application by CUDA. -EINVAL: not of this device's context, or not of this kind.
	 * -EOPNOTSUPP: this kind cannot be made. size_out: of a memory, in bytes; else 0.
	 */
	int (*native_make)(struct backend_device *device, enum backend_native_kind kind,
			   uint64_t native, void **object_out, uint64_t *size_out,
			   struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). The application's programs, 1 or more, as one program of this device
	 * in that state. They are compiled and linked as necessary, and each is retained until
	 * program_free (J10 - J12). Loader. -EINVAL: not of this device's context, or a state that
	 * does not fit them. If the vendor refuses: STATUS_INVALID with one program and
	 * STATUS_BUILD with several.
	 */
	int (*native_program)(struct backend_device *device, enum backend_program_state state,
			      const uint64_t *natives, uint32_t count,
			      struct backend_program **program_out,
			      struct backend_fault *fault_out);
	/*
	 * Optional (NATIVE). Of an event of native_make, once: have `happened` called once. It is
	 * not called any more when event_free has returned. Without this entry EVENT_WAIT on a lane
	 * waits for such events, and holds up the lane.
	 */
	int (*event_watch)(struct backend_event *event, backend_happened *happened, void *token,
			   struct backend_fault *fault_out);

	/*
	 * Optional (GRAPH). Commands are added after the nodes that they wait for, each of which
	 * has been added before. Data that they point to is read now. Memories, kernels and host
	 * ranges must live as long as the graph. LAUNCH, COPY, WRITE, READ, FILL, COPY_PEER, USM_*,
	 * NOP; NATIVE with BACKEND_FEATURE_GRAPH_NATIVE; GRAPH: the nodes of a finished graph are
	 * copied in, as they are then; that graph may change or be freed. -EOPNOTSUPP: this command
	 * cannot be a node here; the graph is as before. Nodes count from 0. CONDITION with
	 * BACKEND_FEATURE_GRAPH_CONDITION: nodes of its body wait for nodes of the same body only,
	 * and no others wait for them. Neither NATIVE nor GRAPH is among them. Such a graph is no
	 * node of another one, and has neither memory of its own nor updates. A node keeps the
	 * addresses of its memories. A memory that was freed and made again is another memory, for
	 * graph_update or another graph. The host memory of WRITE and READ is read and written at
	 * each launch. Prefetches and advice may be given before the whole graph. A native
	 * command's function is called by graph_add. It gets a graph of its own where the vendor
	 * has such (CUDA), else the graph itself between barriers (OpenCL). If it fails there,
	 * graph_finish fails.
	 */
	int (*graph_create)(struct backend_device *device, struct backend_graph **graph_out,
			    struct backend_fault *fault_out);
	int (*graph_add)(struct backend_graph *graph, const struct backend_command *command,
			 const uint32_t *after, uint32_t after_count, uint32_t *node_out,
			 struct backend_fault *fault_out);
	/*
	 * Optional (GRAPH). Memory of a graph that is not finished: only nodes of the graph may
	 * name it. It exists while a launch runs, from before the first node that names it to
	 * behind the last one, with undefined contents. Its address is the graph's for good. Graphs
	 * whose launches do not run at one time may share device memory. It ends with the graph:
	 * neither memory_free nor any entry but graph_add and graph_update may get it. -EOPNOTSUPP:
	 * this graph can have none.
	 */
	int (*graph_temporary)(struct backend_graph *graph, uint64_t size_bytes,
			       struct backend_memory **memory_out, struct backend_fault *fault_out);
	/* Then it can be submitted, and nothing can be added. `updatable`: graph_update will be
	 * called. May take milliseconds; with QUIET_LOAD it may wait for what runs. */
	int (*graph_finish)(struct backend_graph *graph, bool updatable,
			    struct backend_fault *fault_out);
	/*
	 * Optional (GRAPH_UPDATE). A node of a finished graph that is not in flight gets other
	 * arguments, ranges, memories or bytes; kind and kernel stay. With
	 * BACKEND_FEATURE_GRAPH_SWITCH a launch, a copy or a fill may get a NOP. The node is then
	 * skipped, and only orders, until it gets a command of its own kind again. -EOPNOTSUPP: not
	 * this change; nothing has changed.
	 */
	int (*graph_update)(struct backend_graph *graph, uint32_t node,
			    const struct backend_command *command, struct backend_fault *fault_out);
	void (*graph_free)(struct backend_graph *graph); /* not in flight */

	/* Loader. From what `build` returned. -EINVAL: not a binary for this device. */
	int (*program_load)(struct backend_device *device, const void *binary, size_t binary_bytes,
			    struct backend_program **program_out, struct backend_fault *fault_out);
	/* Loader. Names of all kernels, each ended by 0, a 0 at the end; malloc'ed, the caller's.
	 */
	int (*program_kernels)(struct backend_program *program, char **names_out,
			       struct backend_fault *fault_out);
	void (*program_free)(struct backend_program *program); /* its kernels keep what they need */
	/*
	 * Optional (VARIABLE); loader. A variable of the program, by its name (R1). From then on it
	 * is USM of the kind DEVICE, for commands and arguments, until usm_free, which leaves it to
	 * the program. The program is kept that long. -ENOENT: there is none of that name. -EEXIST:
	 * it is USM already.
	 */
	int (*program_variable)(struct backend_program *program, const char *name,
				void **pointer_out, uint64_t *size_bytes_out,
				struct backend_fault *fault_out);
	/* Loader. -ENOENT: no such kernel. Its code is on the device when this returns: a first
	 * launch loads nothing. */
	int (*kernel_create)(struct backend_program *program, const char *name,
			     struct backend_kernel **kernel_out, struct backend_fault *fault_out);
	/* Loader, right after kernel_create. */
	void (*kernel_facts)(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
	void (*kernel_free)(struct backend_kernel *kernel);
	/* Optional (OCCUPANCY); loader. `local` in SYCL's order, all 0: not chosen; only
	 * suggested_group_size is filled in then. */
	int (*kernel_occupancy)(struct backend_kernel *kernel, const uint64_t local[3],
				uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
				struct backend_fault *fault_out);

	/*
	 * Send one command to a lane; it gets `sequence` (larger than any before it on this lane)
	 * and starts when the waits have been reached. Does not wait for the device. A failure
	 * means that it was not sent and no completion follows. `completion`: NULL, or only with
	 * BACKEND_FEATURE_COMPLETION; it is written before progress() reports the command.
	 */
	int (*submit)(struct backend_lane *lane, const struct backend_command *command,
		      const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		      const struct backend_direct_completion *completion,
		      struct backend_fault *fault_out);
	/*
	 * Optional. `count` plain launches, a power of two, each behind the one before, as one
	 * command: it has one sequence and one completion. They differ in values alone: those of
	 * each lie value_stride_bytes behind those of the one before. Not `timed`. All of it is
	 * sent, or nothing is. -EAGAIN: not in this way; any other failure is that of some of them:
	 * submit them one by one.
	 */
	int (*submit_burst)(struct backend_lane *lane, const struct backend_command *command,
			    uint32_t count, uint32_t value_stride_bytes,
			    const struct backend_wait *waits, uint32_t wait_count,
			    uint64_t sequence, struct backend_fault *fault_out);
	/* Everything submitted so far must get going (clFlush). Called once after a batch of
	 * submits. */
	void (*flush)(struct backend_device *device);
	/*
	 * Returns the completions since the last call, `capacity` at most. Never blocks. `wake` is
	 * called after the end of a command that no progress() has reported; once is enough for
	 * several. With BACKEND_FEATURE_POLLED it need not be called. Then progress() also finds a
	 * failure of the device, at the latest within a millisecond of calls. It completes
	 * everything in flight with `fault.status` DEVICE_LOST. Commands that may have been running
	 * come first, so the first is the offender or a suspect. They have the vendor's code in
	 * `fault.native_code`; all others have `fault.not_begun`. A chain is sent as one, so
	 * several commands of a lane may have been running.
	 */
	uint32_t (*progress)(struct backend_device *device, struct backend_completion *completions,
			     uint32_t capacity);
	/*
	 * Optional. Has the driver begun the command with this sequence, the lane's first? True
	 * also if it has ended, and if the driver cannot report it. *begun_ns_out: since when
	 * (CLOCK_MONOTONIC). 0: unknown, or not yet known, so call again; always 0 for a command
	 * that was not `timed`. Never blocks.
	 */
	bool (*begun)(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

	/*
	 * Optional (QUIET_LOAD). quiet_wanted: is there something that is better done while nothing
	 * runs, such as freeing memory of kinds that the driver frees only then? Costs nothing.
	 * quiet: do it; nothing is in flight; it may take milliseconds.
	 */
	bool (*quiet_wanted)(struct backend_device *device);
	void (*quiet)(struct backend_device *device);
	/*
	 * Optional (QUIET_LOAD). Reports whether there are sessions of the latency class; called
	 * when that changes. The device may reserve a part of itself for their lanes, and free it
	 * again, in quiet moments (quiet_wanted). Costs nothing by itself.
	 */
	void (*latency_wanted)(struct backend_device *device, bool is_wanted);
	/* With latency_wanted: compute units that are set apart now; 0: none. */
	uint32_t (*latency_units)(struct backend_device *device);
	/*
	 * Optional (QUIET_LOAD). The sum of the bytes in queues' windows that should persist;
	 * called when it changes. The device reserves a part of its second-level cache within its
	 * own bounds, and frees all when the sum is 0, in quiet moments. Costs nothing by itself.
	 */
	void (*l2_wanted)(struct backend_device *device, uint64_t size_bytes);
	/* Optional (QUIET_LOAD); loader. Will program_load find it on the device already, and need
	 * no quiet moment? */
	bool (*program_is_loaded)(struct backend_device *device, const void *binary,
				  size_t binary_bytes);
	/* Optional. From any thread, between device_open and device_close; what is sent meanwhile
	 * may be in it or not. */
	void (*sendings)(struct backend_device *device, struct backend_sendings *sendings_out);
};

extern const struct backend_ops backend_opencl_ops;
extern const struct backend_ops backend_cuda_ops; /* where the build has it */

/* The backends of this build, in the order of preference, then those that were added; NULL ends the
 * list. Static. */
const struct backend_ops *const *backend_registry(void);
/* Add one that this build does not have: a program of its own does so before it starts an engine or
 * any thread. Twice is as once. 0, or -ENOSPC. */
int backend_registry_add(const struct backend_ops *ops);

/* The prelude that is put before a portable source for this kind of backend; "" if none. It is part
 * of a build's key. Static. */
const char *backend_portable_prelude(enum backend_kind kind);

#endif
