/*
 * The command groups that an engine has on its devices now. The engine writes the page. When the
 * engine has died, the supervisor and the engine's clients read the page, through a descriptor that
 * cannot write. A single entry is the offender; several entries are suspects.
 */
#ifndef SYCL_SHARED_FLIGHT_PAGE_H
#define SYCL_SHARED_FLIGHT_PAGE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define FLIGHT_MAGIC             0x746867696c667973ull /* "syflight" */
#define FLIGHT_LAYOUT            1u
#define FLIGHT_ENTRIES           1020u
#define FLIGHT_KERNEL_NAME_BYTES 40u
#define FLIGHT_FAULT_TEXT_BYTES  212u

struct flight_entry {
	_Atomic uint64_t session; /* 0: free. Written last when taken, first when freed */
	uint64_t queue;           /* id within the session */
	uint64_t group;           /* number within the queue */
	char what[FLIGHT_KERNEL_NAME_BYTES]; /* kernel's name, "copy", "fill" ...; cut off, always
						terminated */
};

static_assert(sizeof(struct flight_entry) == 64, "part of the layout");

/* The reason why the engine ended itself. With DEVICE, the page keeps only entries that may have
 * been running at that time. */
enum flight_fault_known {
	FLIGHT_FAULT_NONE = 0,
	/* A device failed for good (M10, F12), or a command on it passed its deadline. The text
	 * distinguishes the two. */
	FLIGHT_FAULT_DEVICE = 1,
	/* An assertion failed, or a filter could not be set. No entry is the cause. */
	FLIGHT_FAULT_ABORTED = 2,
	/* The engine is about to be ABORTED: the text must not be read yet. */
	FLIGHT_FAULT_WRITING = 3,
};

struct flight_fault {
	/* An enum flight_fault_known: whether and why the engine ended itself. Written last. */
	_Atomic uint32_t known;
	uint32_t backend;    /* proto's Backend */
	int32_t native_code; /* the vendor's */
	/* One sentence; cut off if too long, always terminated. */
	char text[FLIGHT_FAULT_TEXT_BYTES];
};

static_assert(sizeof(struct flight_fault) == 224, "part of the layout");

struct flight_page {
	uint64_t magic;
	uint32_t layout;
	uint32_t entry_count;
	/* Groups in flight without an entry of their own: no entry was free, or they are behind an
	 * entry's group in its queue. */
	_Atomic uint64_t more;
	struct flight_fault fault;
	_Atomic uint64_t open_devices; /* bit n: the engine has opened its device n, up to 63 */
	struct flight_entry entries[FLIGHT_ENTRIES];
};

static_assert(sizeof(struct flight_page) == 256 + 64 * FLIGHT_ENTRIES, "part of the layout");

#endif
