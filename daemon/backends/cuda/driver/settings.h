/* The options of this backend: `[cuda]` in sycld.conf, "NAME=VALUE" in backend_settings. */
#ifndef SYCL_BACKENDS_CUDA_SETTINGS_H
#define SYCL_BACKENDS_CUDA_SETTINGS_H

#include "backend.h"

#define CUDA_LANES_DEFAULT               16u
#define CUDA_LANES_MAX                   64u
#define CUDA_CONNECTIONS_DEFAULT         32u
#define CUDA_CONNECTIONS_MAX             32u
#define CUDA_CHAIN_MAX                   16u
#define CUDA_LATENCY_MULTIPROCESSORS_MAX 1024u
#define CUDA_HEADROOM_DEFAULT            (256ull << 20)
#define CUDA_COPY_KERNEL_BYTES_DEFAULT   (64u << 10)
#define CUDA_COPY_KERNEL_BYTES_MAX       (1u << 20)
#define CUDA_LANE_OPERATIONS_DEFAULT     512u
#define CUDA_LANE_OPERATIONS_MAX         1000u
#define CUDA_OVERLAP_LANES_MAX           1024u
/* The largest stack of a work-item. */
#define CUDA_STACK_BYTES_MAX (512ull << 10)

/* The path of data from one GPU to another. AUTO takes the first that works. */
enum cuda_peer_path {
	CUDA_PEER_AUTO = 0,
	CUDA_PEER_DIRECT = 1,  /* access enabled: the destination reads the source's memory */
	CUDA_PEER_COPY = 2,    /* cuMemcpyPeerAsync, access not enabled */
	CUDA_PEER_MANAGED = 3, /* through managed memory, which migrates */
	CUDA_PEER_HOST = 4,    /* through pinned host memory */
};

enum cuda_signals {
	CUDA_SIGNALS_NO = 0,
	CUDA_SIGNALS_EVENTS = 1, /* those that a thread may wait for by themselves */
	CUDA_SIGNALS_ALL = 2,
};

/* driver/settings.c: options of sycld.conf's section [cuda]. Each has a default. */
#define CUDA_SPARES_EIGHTH UINT32_MAX

struct cuda_settings {
	char *library; /* "library": a name instead of libcuda.so.1 */
	char *nvrtc;   /* "nvrtc": a name instead of the usual ones */
	char *clang;   /* "clang": a program instead of the usual ones (translate/tools.h) */
	/* "cupti" = no, yes or a name instead of the usual ones: traces with exact times use it. */
	bool uses_cupti;
	char *cupti;
	enum cuda_peer_path peer_path; /* "peer_path" = auto direct peer managed host */
	uint64_t stack_bytes;          /* "stack_bytes": of a work-item; 0: the driver's */
	uint64_t headroom_bytes; /* "headroom_bytes": of device memory, left for modules (F9) */
	uint32_t lanes;          /* "lanes": compute lanes of a device */
	uint32_t connections;    /* "connections": the driver's queues to a device */
	uint32_t chain_length;   /* "chain_length": longest chain template, 1 2 4 8 16; 0: plain
				    launches only */
	/* "exact_chains" = yes no: chains of any length that occurs often (lane/chain.h). */
	bool exact_chains;
	/* "graph_chains" = yes no: short graphs of kernels in a row are sent in chains, too
	 * (lane/series.h). */
	bool graph_chains;
	/* "chain_marks" = yes no: chains have words of their own that always get the same value
	 * (lane/mark.h). */
	bool chain_marks;
	/* "chain_signals" = no events all: which commands within a chain are reported when they end
	 * (lane/signal.h). */
	enum cuda_signals chain_signals;
	bool overlap; /* "overlap" = yes no: a kernel may begin while the one before it ends */
	/* "overlap_lanes" = 0 to 1024: in chains it may only while at most so many lanes have
	 * commands. */
	uint32_t overlap_lanes;
	/* "copy_kernel_bytes": copies up to this size are kernels, which are sent with launches
	 * (lane/copy.c); 0: none. */
	uint32_t copy_kernel_bytes;
	/* "fill_kernel" = yes no: one kernel makes small fills, and those for which the driver
	 * would need several operations (lane/fill.h). */
	bool fill_kernel;
	/* "lane_operations": driver operations that a lane may have in flight; 0: no limit
	 * (lane/room.c). */
	uint32_t lane_operations;
	/* "latency_multiprocessors": number reserved for the latency class; 0: none
	 * (lane/partition.h). */
	uint32_t latency_multiprocessors;
	/* "best_effort" = beside gaps: it has lanes of its own, with the least priority (false: it
	 * has those of the normal class). */
	bool best_effort_beside;
	/* "best_effort_spares": number that such lanes leave to others, while there are others; 0:
	 * none; CUDA_SPARES_EIGHTH: an eighth of all (lane/partition.h). */
	uint32_t best_effort_spares;
};

/*
 * `options`: ended by NULL; NULL: none. The caller frees the settings, whose texts are copies.
 * -EINVAL, with a sentence that names the option: the option or its value is unknown. Then there is
 * nothing to free.
 */
int cuda_settings_read(const char *const *options, struct cuda_settings *settings_out,
		       struct backend_fault *fault_out);
void cuda_settings_free(struct cuda_settings *settings);

#endif
