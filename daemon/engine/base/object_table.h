/*
 * The objects of one session, by the ids that its client chose. An id is looked up by index and
 * then compared whole, so that a stale, mistyped or foreign one reaches nothing. An index is used
 * again only with a newer generation. Front thread; never blocks. Holds pointers only: the objects
 * are the caller's.
 */
#ifndef SYCL_ENGINE_OBJECT_TABLE_H
#define SYCL_ENGINE_OBJECT_TABLE_H

#include "object_id.h"

#include <stdbool.h>
#include <stdint.h>

struct object;

struct object_entry {
	struct object *object; /* NULL: free */
	uint32_t generation;   /* the last generation that was used at this index; 0: none yet */
	uint32_t type;         /* type of the object */
};

struct object_table {
	struct object_entry *entries;
	uint32_t capacity;                  /* grows up to limit */
	uint32_t limit;                     /* indices are below the limit */
	uint32_t count;                     /* number of objects */
	uint32_t counts[OBJECT_TYPE_COUNT]; /* objects of each type */
};

void object_table_init(struct object_table *table, uint32_t limit);
/* The objects must have been removed. */
void object_table_fini(struct object_table *table);

/*
 * Put an object in. -EPROTO: the id is no id of this type, or its index is in use, or its
 * generation is not newer than the last. -EDQUOT: the index is beyond the limit. -ENOMEM.
 */
int object_table_insert(struct object_table *table, uint64_t id, enum object_type type,
			struct object *object);
/* NULL: there is no such object. */
struct object *object_table_find(const struct object_table *table, uint64_t id);
/* The object at an index now, or NULL. To visit all objects: index < table->capacity. */
struct object *object_table_at(const struct object_table *table, uint32_t index);
/* True if an object of that index and generation existed and was freed. */
bool object_table_gone(const struct object_table *table, uint64_t id);
/* Remove an object; its generation is not used again. */
void object_table_remove(struct object_table *table, uint64_t id);

#endif
