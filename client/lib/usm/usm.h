/*
 * The connection's USM allocations, by address, and the source of their memory. Host and shared USM
 * of a service's clients are pieces of arenas that lie at the same address in the engine. Other USM
 * is memory of the engine's backends. Under the state lock, unless noted otherwise.
 */
#ifndef SYCL_CLIENT_USM_H
#define SYCL_CLIENT_USM_H

#include "base/arena_ranges.h"
#include "base/object_ids.h"
#include "base/usm_slabs.h"

#include "syclclient/types.h"
#include "syclclient/usm.h"

struct connection;
struct context;
struct device;
struct handler;

/* The source of an allocation's memory. */
struct usm_place {
	struct arena_range range; /* size 0: none */
	struct usm_slab *slab;    /* NULL: the range belongs to this allocation alone */
	bool keeps_pages;         /* this process keeps the pages of these addresses free */
};

struct usm_allocation {
	struct remote remote;
	uint64_t address, size_bytes; /* address and size for the program */
	uint64_t real_bytes;          /* size in the engine: not less than size_bytes */
	uint64_t context;             /* the id */
	uint32_t kind;
	uint32_t device, device_index; /* numbers of the device in the service and in this library;
					  for host USM, of the context's first device */
	/* The program has freed the allocation: it may not be named any more, but groups may use
	 * it. */
	bool freed;
	uint64_t bundle; /* id of the bundle that has the memory as a variable; 0: no variable */
	char *name;      /* name of the variable; NULL: no variable */
	struct usm_allocation *next_variable; /* the next variable of the same image */
	struct usm_place place;
};

/* Bytes of a program's own memory, on their way from or to a device. */
struct usm_staging;

struct usm_state {
	struct usm_allocation **table; /* sorted by address */
	uint32_t count, capacity;
	struct usm_slabs slabs;
	struct usm_staging *stagings; /* may still be in use by the engine */
};

/* No thread uses the connection any more, and the engine neither. */
void usm_fini(struct connection *connection);
/* Copies the allocation that has all of these bytes (0: that address) and that the program may
 * still name. `context` 0: in any context. False: there is none. Takes the state lock. */
bool usm_find(struct connection *connection, uint64_t context, const void *pointer,
	      uint64_t size_bytes, struct usm_allocation *allocation_out);

/* True if the address lies in USM of any context, or in USM that was freed or never assigned. Takes
 * the state lock. */
bool usm_is_near(struct connection *connection, const void *pointer);

/* The kinds of memory at the program's end of a copy from or to a buffer. */
enum usm_host_end {
	USM_HOST_PLAIN,  /* memory of the program that the engine cannot reach */
	USM_HOST_DIRECT, /* host memory that the engine has at the same address */
	USM_HOST_WRONG,  /* not inside of one allocation, freed, or memory of a device */
};
/*
 * USM of another context counts as plain, and so does shared USM that moves. Takes the state lock.
 */
enum usm_host_end usm_find_host_end(struct connection *connection, uint64_t context,
				    const void *pointer, uint64_t size_bytes);

/*
 * A variable of a program, as USM of the image's device. A round trip, without locks. `plan`: its
 * bundle and name, whose text becomes the variable's, or is freed. It ends by usm_forget_variable,
 * once.
 */
sycl_result usm_name_variable(struct connection *connection, const struct usm_allocation *plan,
			      struct usm_allocation **variable_out);
void usm_forget_variable(struct connection *connection, struct usm_allocation *variable);

#endif
