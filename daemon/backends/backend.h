/*
 * What one vendor's driver does for the engine: opencl, cuda, and fake for tests.
 *
 * Who calls, from where. `open`, `enumerate`, `build` and `close` are called by one thread, once each (build: by the
 * build helper process, which calls nothing else but open and enumerate before it). Everything of a device - its lanes,
 * memories, programs, kernels - is called only from that device's own thread, unless an entry says otherwise.
 * An entry returns 0 or a negative errno and fills `fault_out` where it has one; it never calls upward (but `wake`),
 * never exits, never aborts, never prints. Outputs stay untouched on failure. Destructors accept NULL.
 *
 * The objects are opaque here; each backend defines its own `struct backend_device` and so on.
 * Ranges are in SYCL's order (the last dimension varies fastest); the backend reverses them (E1, E2).
 */
#ifndef SYCL_BACKENDS_BACKEND_H
#define SYCL_BACKENDS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKEND_OPS_VERSION 1u
#define BACKEND_TEXT_BYTES 256
#define BACKEND_LOG_BYTES_MAX (48u << 10)

struct backend;
struct backend_device;
struct backend_lane;
struct backend_memory;
struct backend_program;
struct backend_kernel;

/* Equal to proto's Backend. */
enum backend_kind { BACKEND_KIND_OPENCL = 1, BACKEND_KIND_CUDA = 2, BACKEND_KIND_FAKE = 3 };

/* Why an entry failed, for the client: a status of shared/status.h, the vendor's code, one sentence. */
struct backend_fault {
	int32_t status;
	int32_t native_code;
	bool device_lost; /* nothing more can be done on this device by this process */
	char text[BACKEND_TEXT_BYTES];
};

struct backend_platform_facts {
	enum backend_kind kind;
	bool available;
	char *name, *vendor, *version, *profile, *extensions; /* owned by the backend, good until close */
	char *unavailable_reason;
};

/* Aspects: bit numbers equal to enum sycl_aspect of include/syclclient/device.h. */
struct backend_device_facts {
	uint32_t platform; /* index among this backend's platforms */
	uint32_t type;     /* proto's DeviceType */
	char *name, *vendor, *version, *driver_version, *extensions, *builtin_kernels; /* the backend's, until close */
	char *key;         /* the same for the same device and driver in every process: for the build cache and helper */
	uint32_t vendor_id, max_compute_units, max_work_item_dimensions, max_clock_frequency_mhz, address_bits;
	uint64_t max_work_item_sizes[3]; /* SYCL's order */
	uint64_t max_work_group_size, max_mem_alloc_bytes, global_mem_bytes, global_mem_cache_bytes, local_mem_bytes;
	uint64_t max_constant_buffer_bytes, max_parameter_bytes, profiling_timer_resolution_ns, printf_buffer_bytes;
	uint32_t global_mem_cache_line_bytes, mem_base_addr_align_bits, partition_max_sub_devices;
	uint64_t aspects;
	uint32_t sub_group_sizes[8], sub_group_size_count;
	uint64_t preferred_vector_widths[7], native_vector_widths[7]; /* char short int long float double half */
	uint32_t fp_config[3];                                        /* half single double */
	bool host_unified_memory; /* memory_create on host memory copies nothing: host and device see one storage */
	bool little_endian, image_support, error_correction, available;
};

struct backend_topology {
	const struct backend_platform_facts *platforms;
	uint32_t platform_count;
	const struct backend_device_facts *devices;
	uint32_t device_count;
};

/* May be called from any thread, also from inside an entry: "progress() of this device has something". Never blocks. */
typedef void backend_wake(void *token);

enum backend_source_kind { /* proto's SourceKind */
	BACKEND_SOURCE_OPENCL_C = 1,
	BACKEND_SOURCE_PORTABLE = 2,
	BACKEND_SOURCE_BUILTIN = 3,
};

enum backend_argument_kind { /* proto's ArgumentKind */
	BACKEND_ARGUMENT_UNKNOWN = 0,
	BACKEND_ARGUMENT_VALUE = 1,
	BACKEND_ARGUMENT_GLOBAL = 2,
	BACKEND_ARGUMENT_LOCAL = 3,
	BACKEND_ARGUMENT_IMAGE = 4,
	BACKEND_ARGUMENT_SAMPLER = 5,
};

struct backend_argument_facts {
	enum backend_argument_kind kind;
	uint32_t size_bytes;      /* of a value; 0: not known */
	bool is_const;
	char type_name[64], name[64];
};

struct backend_kernel_facts {
	const struct backend_argument_facts *arguments; /* the kernel's, good while it lives */
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* SYCL's order; 0: none */
};

struct backend_argument {
	enum backend_argument_kind kind; /* VALUE, GLOBAL or LOCAL */
	union {
		struct {
			const void *bytes;
			size_t size_bytes;
		} value;
		struct {
			struct backend_memory *memory; /* NULL: a 0-byte buffer */
			uint64_t offset_bytes;
		} global;
		uint64_t local_bytes;
	};
};

enum backend_command_kind {
	BACKEND_COMMAND_NOP = 0, /* completes when its waits have */
	BACKEND_COMMAND_LAUNCH = 1,
	BACKEND_COMMAND_COPY = 2,  /* device to device, both of this device */
	BACKEND_COMMAND_WRITE = 3, /* host to device */
	BACKEND_COMMAND_READ = 4,  /* device to host */
	BACKEND_COMMAND_FILL = 5,
};

/* Pointers must stay good until submit returns; host pointers of WRITE and READ until the command is complete. */
struct backend_command {
	enum backend_command_kind kind;
	union {
		struct {
			struct backend_kernel *kernel;
			uint32_t dimensions; /* 1 to 3 */
			uint64_t global[3];  /* none is 0: the engine completes empty ranges itself (B22) */
			uint64_t local[3];   /* all 0: the backend chooses */
			uint64_t offset[3];
			const struct backend_argument *arguments;
			uint32_t argument_count;
		} launch;
		struct {
			struct backend_memory *source, *destination;
			uint64_t source_offset_bytes, destination_offset_bytes, size_bytes;
		} copy;
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			void *host;
		} transfer; /* WRITE and READ */
		struct {
			struct backend_memory *memory;
			uint64_t offset_bytes, size_bytes;
			const void *pattern;
			size_t pattern_bytes;
		} fill;
	};
};

/* Another lane of this device must have reached this sequence first. */
struct backend_wait {
	struct backend_lane *lane;
	uint64_t sequence;
};

/* One finished command. In any order between lanes, in order within one. */
struct backend_completion {
	struct backend_lane *lane;
	uint64_t sequence;
	struct backend_fault fault;  /* status 0: success */
	uint64_t start_ns, end_ns;   /* CLOCK_MONOTONIC; 0 where not known */
};

struct backend_ops {
	uint32_t version; /* BACKEND_OPS_VERSION */
	enum backend_kind kind;
	const char *name; /* "opencl", "cuda", "fake"; as in the configuration */
	uint32_t binary_format; /* of what `build` returns; raised when it changes, because binaries are kept on disk */

	/*
	 * Load the vendor's library. `cache_directory`: where the vendor may cache, NULL: nowhere. -ENODEV and a fault: not
	 * here (no library, no driver); the platform is then active, not available. May take a second.
	 */
	int (*open)(const char *cache_directory, struct backend **backend_out, struct backend_fault *fault_out);
	void (*close)(struct backend *backend);
	/* All platforms and devices; the backend's, good until close. May take a second the first time. */
	int (*enumerate)(struct backend *backend, struct backend_topology *topology_out, struct backend_fault *fault_out);

	/*
	 * Build a source for a device (index of enumerate). The binary and the log are malloc'ed and the caller's; the log
	 * also on failure, NULL if there is none. -EINVAL and STATUS_BUILD for a source that does not compile.
	 * Called in the build helper; may take as long as the compiler does.
	 */
	int (*build)(struct backend *backend, uint32_t device, enum backend_source_kind kind, const char *source,
		     size_t source_bytes, const char *options, void **binary_out, size_t *binary_bytes_out, char **log_out,
		     struct backend_fault *fault_out);

	/* Make the device usable. Called on the device's thread, as all below. `wake(token)`: see backend_wake. */
	int (*device_open)(struct backend *backend, uint32_t device, backend_wake *wake, void *token,
			   struct backend_device **device_out, struct backend_fault *fault_out);
	/* Everything of the device has been freed before. */
	void (*device_close)(struct backend_device *device);

	/* A lane runs its commands in order. */
	int (*lane_create)(struct backend_device *device, struct backend_lane **lane_out, struct backend_fault *fault_out);
	void (*lane_free)(struct backend_lane *lane); /* idle */

	/*
	 * Memory of a device. With `host` (page-aligned shared memory that outlives it) a device with
	 * host_unified_memory works in place; others may ignore it. Contents are undefined otherwise. size_bytes > 0.
	 */
	int (*memory_create)(struct backend_device *device, uint64_t size_bytes, void *host,
			     struct backend_memory **memory_out, struct backend_fault *fault_out);
	void (*memory_free)(struct backend_memory *memory); /* no command uses it any more */

	/* From what `build` returned. -EINVAL: not a binary for this device. */
	int (*program_load)(struct backend_device *device, const void *binary, size_t binary_bytes,
			    struct backend_program **program_out, struct backend_fault *fault_out);
	/* Names of all kernels, each ended by 0, a 0 at the end; malloc'ed, the caller's. */
	int (*program_kernels)(struct backend_program *program, char **names_out, struct backend_fault *fault_out);
	void (*program_free)(struct backend_program *program); /* its kernels keep what they need */
	/* -ENOENT: no such kernel. */
	int (*kernel_create)(struct backend_program *program, const char *name, struct backend_kernel **kernel_out,
			     struct backend_fault *fault_out);
	void (*kernel_facts)(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
	void (*kernel_free)(struct backend_kernel *kernel);

	/*
	 * Send one command to a lane; it gets `sequence` (larger than any before it on this lane) and starts when the
	 * waits have been reached. Does not wait for the device. A failure means that it was not sent and no completion follows.
	 */
	int (*submit)(struct backend_lane *lane, const struct backend_command *command, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);
	/* Everything submitted so far must get going (clFlush). Called once after a batch of submits. */
	void (*flush)(struct backend_device *device);
	/*
	 * What has finished since the last call: up to `capacity` completions. Never blocks. `wake` is called after a
	 * command finished that no progress() has reported; once is enough for several.
	 */
	uint32_t (*progress)(struct backend_device *device, struct backend_completion *completions, uint32_t capacity);
};

extern const struct backend_ops backend_opencl_ops;
extern const struct backend_ops backend_fake_ops;

/* The backends of this build, in the order of preference; NULL ends the list. `with_fake`: tests only. */
const struct backend_ops *const *backend_registry(bool with_fake);

/* What goes before a portable source for this kind of backend, "" if nothing: a build depends on it. Static. */
const char *backend_portable_prelude(enum backend_kind kind);

#endif
