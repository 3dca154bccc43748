/* The ids that this session has named, by index. An index is used again, with the next generation,
 * only after the engine has sent Released. Called with the connection's state lock held. */
#ifndef SYCL_CLIENT_OBJECT_IDS_H
#define SYCL_CLIENT_OBJECT_IDS_H

#include "base/arena_ranges.h"
#include "base/error.h"
#include "object_id.h"

#include <stdatomic.h>

/* The library's side of an object of the engine: part of a context, queue line, buffer, ... */
struct remote {
	uint64_t id;
	/* A sycl_result, set once when a one-way request about the object has failed. */
	_Atomic int32_t failed;
	struct failure *why; /* written before `failed`; NULL: there was no memory for it */
};

struct connection;
struct queue_line;
struct usm_allocation;

#define NO_SLOT UINT32_MAX

/* The owner of an id, looked up when the engine sends Released. */
struct id_entry {
	uint64_t id;                /* 0: the entry is free */
	struct remote *owner;       /* NULL: the library has released the object */
	struct queue_line *line;    /* line of a queue; freed with the entry */
	uint32_t slot;              /* slot of the object, or NO_SLOT */
	uint32_t generation;        /* number of the last use */
	uint32_t next_free;         /* index + 1 */
	struct arena_range range;   /* size 0: no range */
	struct usm_allocation *usm; /* allocation of USM; freed with the entry */
	/* Frees `line` or `usm`; NULL if the entry has neither. With the state lock. */
	void (*released)(struct connection *connection, struct id_entry *entry);
};

struct object_ids {
	struct id_entry *entries;
	uint32_t capacity, used;
	uint32_t free_first, free_last;
};

/* Entries move when `object_ids_grow` succeeds: no pointer to one outlives the lock. */
int object_ids_init(struct object_ids *ids, uint32_t capacity);
void object_ids_fini(struct object_ids *ids);
/* Makes room for more ids, at most `most` in all. -EDQUOT: there are as many already. -ENOMEM. */
int object_ids_grow(struct object_ids *ids, uint32_t most);

/* Names an object and fills owner->id. -EDQUOT: as many as the session may have. */
int object_ids_take(struct object_ids *ids, enum object_type type, struct remote *owner,
		    struct id_entry **entry_out);

/* The entry of an id; NULL if the id is not in use. */
struct id_entry *object_ids_find(struct object_ids *ids, uint64_t id);

/* Frees the index of an id that was released or never sent. */
void object_ids_give(struct object_ids *ids, struct id_entry *entry);

#endif
