/*
 * The control of the fake backend. Its devices are ordinary host memory and a small set of built-in
 * kernel functions, so commands are really executed. A test decides here when they run and what
 * fails, and reads what happened.
 *
 * State is one per process. All functions may be called from any thread. Times are ns of
 * CLOCK_MONOTONIC.
 *
 * A program is text: names of functions, one per line (empty lines and lines that begin with # are
 * skipped).
 */
/* clang-format off */
/*
 *   fill_u32 (dst, value)          dst[i] = value
 *   fill_even_u32 (dst, value)     as fill_u32; an odd value: nothing is written, STATUS_KERNEL
 *   linear_id_u32 (dst)            dst[i] = i
 *   increment_u32 (dst)            dst[i] += 1
 *   add_u32 (dst, src)             dst[i] += src[i]
 *   copy_u32 (dst, src)            dst[i] = src[i]
 *   mix_u32 (dst, src, value)      dst[i] = dst[i] * 31 + src[i] + value
 *   sum_list_u32 (dst, head)       dst[0] += every value of a linked list in USM; its nodes are
 *                                  {uint64_t next; uint32_t value}
 *   fill_image (image, value)      each byte = value
 *   copy_image (image, image)      the first = the second
 *   mix_image (image, image, value)  each byte * 31 + byte of the second + value
 *   sampler_of_image (dst, sampled image), sampler_u32 (dst, sampler)
 *                                  dst[0] = addressing | normalised << 8 | linear << 9
 *   noop (anything)                nothing
 *   hold (gate)                    ends when fake_gate_open opened the gate
 *   take (ns)                      takes that long by a clock that fake_clock has set; a part of
 *                                  it takes its part
 *   take_increment_u32 (dst, ns)   both
 *   fail ([anything])              completes with STATUS_KERNEL
 *   lose_device ([anything])       the device is lost
 *   lose_process ([anything])      the device is lost, and the others can do nothing more: their
 *                                  commands neither run nor complete
 *   crash ([anything])             writes through a null pointer: the end of the process
 */
/* clang-format on */
/*
 * Lines "#build WORD [VALUE]" act when the program is built:
 *
 *   log TEXT     into the build's log
 *   print TEXT   on stderr
 *   crash, hang, exit STATUS
 *   eat          memory, until there is none
 *   touch FILE   appends a byte
 *   keep NAME    makes an empty file in the cache directory
 *   wait FIFO    until its other end is opened
 *   parent       logs "warm" or "cold", and the number of the parent
 *   kill NUMBER  kills a process
 *   fork FIFO    opens it, and starts a process that keeps it open
 *
 * dst, src: global memory; value, gate: uint32_t by value; i: linear index over the range (offset
 * added per dimension for linear_id_u32 only). Other work goes on while a command is held, also on
 * lanes of the same device.
 */
#ifndef SYCL_TESTS_FAKE_CONTROL_H
#define SYCL_TESTS_FAKE_CONTROL_H

#include "backend.h"

extern const struct backend_ops backend_fake_ops;

#define FAKE_DEVICES_MAX 8u
#define FAKE_GATES       64u
#define FAKE_POISON      0xa5 /* every byte of new device memory */
#define FAKE_ANY_DEVICE  UINT32_MAX

struct fake_device_options {
	bool unified; /* memory_create works in place on the host's memory */
	bool manual; /* there is no worker thread: commands run inside progress(), without delays */
	bool estimates;        /* times of commands that are not `timed` are called estimated */
	bool bursts;           /* launches of one kernel are taken as one command (submit_burst) */
	bool rows;             /* launches of any kernels are taken as one command (row_make) */
	bool frees_when_quiet; /* memory that commands use when it is freed is released in a quiet
				  moment; until then there is neither room nor USM: -EAGAIN */
	/*
	 * The bits of enum backend_feature that the device has. Other features are refused. With
	 * POLLED no thread is woken. EXPORT_VMM exports a memfd. The handles of EXPORT_IPC and
	 * SHARED_EVENT are valid in this process only. CLUSTER and EARLY are accepted and listed in
	 * the log; every kernel but "noop" then waits. With USM and HOST_ADDRESS the first device
	 * reports that atomics work there, and the others do not. USM_MIGRATES is only reported.
	 */
	uint32_t features;
	uint32_t preferred_lanes, lane_copy_bytes;
	uint32_t lane_room; /* commands of a lane in flight; then has_room is false; 0: no bound */
	uint32_t base_align_bits; /* where sub-buffers may begin; 0: 1024 */
	uint64_t memory_bytes;    /* private memory of buffers; 0: no limit */
	uint32_t context_set;     /* devices with different numbers cannot share a context */
	/*
	 * The number of compute units. The device can then be divided EQUALLY and BY_COUNTS. 0: it
	 * has one and cannot be divided. A sub-device is one more device, behind the others, with
	 * the options of the whole device. All of them together are at most FAKE_DEVICES_MAX.
	 */
	uint32_t units;
};

#define FAKE_FEATURES_ALL                                                                          \
	(BACKEND_FEATURE_POLLED | BACKEND_FEATURE_LOADER | BACKEND_FEATURE_HOST_REGISTER |         \
	 BACKEND_FEATURE_EXPORT_VMM | BACKEND_FEATURE_EXPORT_IPC | BACKEND_FEATURE_SHARED_EVENT |  \
	 BACKEND_FEATURE_PEER | BACKEND_FEATURE_COOPERATIVE | BACKEND_FEATURE_CLUSTER |            \
	 BACKEND_FEATURE_COPY_LANES | BACKEND_FEATURE_OCCUPANCY | BACKEND_FEATURE_USM |            \
	 BACKEND_FEATURE_HOST_ADDRESS | BACKEND_FEATURE_IMAGE | BACKEND_FEATURE_LINK |             \
	 BACKEND_FEATURE_INLINE | BACKEND_FEATURE_GRAPH | BACKEND_FEATURE_GRAPH_UPDATE |           \
	 BACKEND_FEATURE_GRAPH_NATIVE | BACKEND_FEATURE_VARIABLE | BACKEND_FEATURE_GRAPH_SWITCH |  \
	 BACKEND_FEATURE_EARLY | BACKEND_FEATURE_GRAPH_CONDITION | BACKEND_FEATURE_USM_MIGRATES)

#define FAKE_LATENCY_UNITS 2u     /* set apart for the latency class on a device with QUIET_LOAD */
#define FAKE_TURNS_MAX     65536u /* turns of the body of a WHILE node; after that it fails */
#define FAKE_L2_WINDOW_BYTES                                                                       \
	4096u /* largest window of the first device, with USM; the others have none */
#define FAKE_GRANULE_BYTES 65536u /* of exported memory */

/*
 * Resets everything: 3 devices with memory of their own, all gates closed, no scripts, counters 0,
 * no log. Call it only while no device is open.
 */
void fake_reset(void);
/* Call it before enumerate. -EINVAL: more than FAKE_DEVICES_MAX. 0 devices: an empty platform. */
int fake_devices(uint32_t count);
/* Call it before enumerate, because facts follow from the options. */
void fake_device_options(uint32_t device, struct fake_device_options options);

/* Gates of the `hold` kernel, 0 to FAKE_GATES - 1. */
void fake_gate_open(uint32_t gate);
void fake_gate_close(uint32_t gate);
/* While closed, commands of the device start but do not end. Open at first. */
void fake_device_gate_close(uint32_t device);
void fake_device_gate_open(uint32_t device);
/* While closed, "loader" entries of the device wait inside. Open at first. */
void fake_load_gate_close(uint32_t device);
void fake_load_gate_open(uint32_t device);
/* Waits until so many "loader" entries of the device have come to a closed gate since fake_reset.
 * Returns false if they do not in time. */
bool fake_wait_loading(uint32_t device, uint64_t count, uint64_t timeout_ns);
/* Each command of the device takes at least this long. */
void fake_delay(uint32_t device, uint64_t delay_ns);
/*
 * From now on each reading of the clock is `step_ns` later than the one before. The first one is
 * `start_ns`. 0, 0: the real clock.
 */
void fake_clock(uint64_t start_ns, uint64_t step_ns);
/* The value of the next reading. */
uint64_t fake_clock_now_ns(void);

enum fake_entry {
	FAKE_OPEN = 0,
	FAKE_ENUMERATE,
	FAKE_BUILD,
	FAKE_DEVICE_OPEN,
	FAKE_LANE_CREATE,
	FAKE_MEMORY_CREATE,
	FAKE_PROGRAM_LOAD,
	FAKE_PROGRAM_KERNELS,
	FAKE_KERNEL_CREATE,
	FAKE_SUBMIT,
	FAKE_MEMORY_EXPORT,
	FAKE_MEMORY_IMPORT,
	FAKE_HOST_REGISTER,
	FAKE_EVENT_CREATE,
	FAKE_EVENT_OPEN,
	FAKE_OCCUPANCY,
	FAKE_USM_ALLOC,
	FAKE_GRAPH_CREATE,
	FAKE_GRAPH_ADD,
	FAKE_GRAPH_FINISH,
	FAKE_GRAPH_UPDATE,
	FAKE_COMPLETION, /* the command ends with the fault; its function does not run */
	FAKE_ENTRY_COUNT
};

/*
 * After `skip` more calls of that entry on that device, `count` calls fail with this status and
 * text ("" for none). FAKE_ANY_DEVICE also applies to open, enumerate and build. device_lost: from
 * then on every call for the device fails. -ENOSPC: too many scripts.
 */
int fake_fail(enum fake_entry entry, uint32_t device, uint32_t skip, uint32_t count, int32_t status,
	      bool device_lost, const char *text);
/* As fake_fail, but once, and the process is lost. With FAKE_COMPLETION it happens at that command,
 * counted from now. */
int fake_lose_process(enum fake_entry entry, uint32_t device, uint32_t skip, const char *text);

/*
 * These act as the other process of a shared event. The first sends a record that has not happened
 * yet; the second makes it happen. The third returns how many records have happened so far, 0 for
 * an unknown handle.
 */
void fake_event_record(const uint8_t handle[64]);
void fake_event_happen(const uint8_t handle[64]);
uint64_t fake_event_happened(const uint8_t handle[64]);

struct fake_counters {
	uint64_t calls[FAKE_ENTRY_COUNT];
	uint64_t launches, copies, writes, reads, fills, nops, peer_copies, records,
		waits; /* ended with success */
	uint64_t bytes_copied, bytes_written, bytes_read, bytes_peer;
	uint64_t registered_transfers; /* writes and reads whose host memory is registered */
	uint64_t usm_copies, usm_fills, prefetches, advices; /* ended with success */
	uint64_t graph_launches; /* ended with success; their nodes are counted as if they had been
				    submitted */
	uint64_t graph_misuses;  /* changed or freed in flight, sent to another lane meanwhile, or
				    its host memory was unregistered */
	uint64_t graph_adds_at_once; /* the most nodes that were added while progress() was not
					called */
	uint64_t flushes, progresses;
	uint64_t lane_overruns; /* commands that were sent to a lane without room */
	uint64_t lane_waits;    /* for other lanes, of commands that were submitted */
	uint64_t l2_wanted_bytes,
		l2_tells; /* the last value of windows that persist, and how often it was set */
	uint64_t latency_tells; /* how often the device was notified that there are sessions of the
				   latency class, or that there are none any more */
	uint64_t quiet_misuses; /* lanes that had commands in a moment that was called quiet */
	/* alive now */
	uint32_t backends, devices, lanes, memories, programs, kernels, hosts, events, graphs,
		sub_devices;
	uint64_t memory_bytes; /* private memory of devices */
	uint32_t usms;
	uint64_t usm_bytes;
};
/* The counters of one device, or the sum of all (FAKE_ANY_DEVICE). */
void fake_counters(uint32_t device, struct fake_counters *counters_out);

static inline struct fake_counters fake_counters_of(uint32_t device)
{
	struct fake_counters counters;
	fake_counters(device, &counters);
	return counters;
}

/* Commands in the order in which they ended. The log starts empty and keeps up to `capacity`
 * entries from now on. */
struct fake_log_entry {
	uint32_t device, lane; /* lane: index in the order of creation on its device */
	enum backend_lane_kind lane_kind;
	enum backend_command_kind kind;
	bool timed, cooperative;
	struct backend_l2_window window; /* of the launch */
	uint64_t early_after; /* a sequence of its lane: the launch may begin before that one is
				 complete; 0: none */
	uint32_t cluster[3];
	struct backend_part part;
	char what[32]; /* function of a launch, else "" */
	uint64_t sequence;
	uint64_t start_order, end_order; /* one count over all devices: smaller is earlier */
	int32_t status;
};
int fake_log_start(uint32_t capacity);
/* Returns the number of entries so far, and copies up to `capacity` of them. */
uint32_t fake_log_read(struct fake_log_entry *entries, uint32_t capacity);

/*
 * The scope of a native command's function: `memories` are addresses of the devices' bytes. The
 * `graph` of a node takes calls. The device makes them one after the other whenever the node runs.
 * Returns 0 or -ENOMEM.
 */
#define FAKE_NATIVE_CONTEXT       0xfacecafeu
#define FAKE_NATIVE_CAPTURE_QUEUE 0xfaceda7au /* of a node, which has no lane */
typedef void fake_native_call(void *argument);
int fake_native_add(uint64_t graph, fake_native_call *call, void *argument);

/* Waits until so many commands have started, or ended, on the device (or all) since fake_reset.
 * Returns false if they do not in time. */
bool fake_wait_started(uint32_t device, uint64_t count, uint64_t timeout_ns);
bool fake_wait_ended(uint32_t device, uint64_t count, uint64_t timeout_ns);

#endif
