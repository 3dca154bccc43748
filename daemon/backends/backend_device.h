/* Facts about the platforms and devices of a backend. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_DEVICE_H
#define SYCL_BACKENDS_BACKEND_DEVICE_H

#include "backend_fault.h"

#include <stdbool.h>
#include <stdint.h>

struct backend_platform_facts {
	enum backend_kind kind;
	bool available;
	char *name, *vendor, *version, *profile,
		*extensions; /* owned by the backend, good until close */
	char *unavailable_reason;
	/* The vendor's code if it lists no device of this platform; 0: it lists some. */
	int32_t no_devices_code;
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
	/* program_load waits for all work on the device, and holds up all work that is sent
	 * meanwhile. So program_load and `quiet` are called while nothing is in flight. */
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
	/* Kernels and USM commands reach host memory of this process at its own address: registered
	 * memory with HOST_REGISTER, otherwise any memory. */
	BACKEND_FEATURE_HOST_ADDRESS = 1u << 18,
	/* `preload` shortens opening the device. A process that was preloaded for the device may
	 * change its user before it opens the device. */
	BACKEND_FEATURE_PRELOAD = 1u << 19,
	/*
	 * Commands on one lane hold up no other lane, and sending many commands together costs
	 * little more than sending one. So a lane with many commands costs the others less than if
	 * its commands were sent one by one.
	 */
	BACKEND_FEATURE_SIDE_BY_SIDE = 1u << 20,
	BACKEND_FEATURE_NATIVE =
		1u << 21, /* native_* entries and commands; in an application's own process only */
	BACKEND_FEATURE_GRAPH = 1u << 22,        /* graph_* entries and commands */
	BACKEND_FEATURE_GRAPH_UPDATE = 1u << 23, /* graph_update */
	BACKEND_FEATURE_GRAPH_NATIVE = 1u << 24, /* native commands as nodes (K19) */
	BACKEND_FEATURE_VARIABLE = 1u << 25,     /* program_variable (R1) */
	BACKEND_FEATURE_GRAPH_SWITCH =
		1u << 26, /* graph_update takes NOP for a node that must be skipped (R3) */
	BACKEND_FEATURE_EARLY = 1u
				<< 27, /* launches that begin before the previous ones end (R5) */
	BACKEND_FEATURE_GRAPH_CONDITION = 1u << 28, /* BACKEND_COMMAND_CONDITION as a node (R4) */
	BACKEND_FEATURE_USM_MIGRATES = 1u
				       << 29, /* shared USM of usm_alloc moves to the device or host
						 that uses it, and hints name the target (G1) */
	BACKEND_FEATURE_BESIDE = 1u << 30,    /* lanes of kind BACKEND_LANE_BESIDE */
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
	uint32_t count;               /* number of `counts` */
	uint32_t units;               /* EQUALLY: compute units of each */
	enum backend_affinity domain; /* BY_AFFINITY */
};

/* Aspects: bit numbers equal to enum sycl_aspect of include/syclclient/device.h. */
#define BACKEND_GENERAL_FORMATS_MAX 160u

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
	bool needs_no_processes;  /* its driver starts no other process once the device is open */
	bool little_endian, image_support, error_correction, available;
	char *unavailable_reason; /* the backend's; NULL if available */
	char *il_version;         /* the backend's: "SPIR-V_1.0 SPIR-V_1.1"; NULL: none */
	uint32_t features;        /* enum backend_feature */
	uint32_t preferred_lanes; /* number of lanes for computing; 0: no preference */
	uint32_t lane_copy_bytes; /* WRITE and READ of registered memory of up to so many bytes are
				     as cheap as launches on a lane that computes; 0: none are */
	uint32_t atomic_order_bits, atomic_scope_bits, fence_order_bits, fence_scope_bits;
	uint32_t max_sub_groups;   /* limit in a work-group */
	bool independent_progress; /* sub-groups make independent progress */
	uint8_t uuid[16];          /* all 0: none */
	uint32_t max_read_image_args, max_write_image_args, max_samplers; /* 0: no images */
	uint64_t image_sizes[6]; /* largest: 2-D width, height, 3-D width, height, depth, of a
				    buffer in elements */
	uint64_t image_layered_sizes[3]; /* largest of a layered image: a layer's width, its height,
					    layers; 0, 0, 0: none */
	uint64_t l2_window_bytes;        /* largest backend_l2_window; 0: none */
	uint32_t image_formats; /* with BACKEND_FEATURE_IMAGE: bit 1 << enum backend_image_format */
	/* General formats, as IMAGE_ENTRY_FORMAT and IMAGE_ENTRY_KINDS of image_format.h. */
	uint32_t general_image_formats[BACKEND_GENERAL_FORMATS_MAX], general_image_format_count;
	uint32_t max_read_write_image_args;
	/* Views of buffers: rows and beginnings are at multiples of so many pixels; 0: no views of
	 * two dimensions. */
	uint32_t image_view_pitch_pixels, image_view_base_pixels;
	uint32_t max_constant_args;
	uint32_t global_mem_cache_type, local_mem_type,
		execution_capabilities; /* as in proto's DeviceFacts */
	uint32_t partition_properties,
		partition_domains; /* bits 1 << enum backend_partition; enum backend_affinity */
	/* For a sub-device, as the next field; NONE: no sub-device. */
	enum backend_partition partition_type;
	enum backend_affinity partition_domain;
	char *bus_id; /* "0000:1b:00.0"; NULL: none */
	char *mode;   /* for operators: "MIG 1g.18gb", "MPS client", "exclusive process"; NULL:
			 nothing special */
};

/* A part of a device, which is itself a device. `index` is for device_open, and stays this part's
 * until sub_device_free. */
struct backend_sub_device {
	uint32_t index, root; /* root: the device of enumerate of which it is a part */
	const struct backend_device_facts
		*facts; /* the backend's, valid as long; the key is the root's */
};

struct backend_topology {
	const struct backend_platform_facts *platforms;
	uint32_t platform_count;
	const struct backend_device_facts *devices;
	uint32_t device_count;
};

#endif
