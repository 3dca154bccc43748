/* SPDX-License-Identifier: Apache-2.0 */
#include "base/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A slot is the address of an object with its type in the low bits, so that a look-up reads no
 * object: any value may be passed, also one whose object another thread ends just now. An object
 * never changes its slot. */
enum { LINES = 8192, LINE_SLOTS = 7, LINE_BYTES = 64, TYPE_BITS = 15 };

struct line {
	_Alignas(LINE_BYTES) _Atomic uintptr_t slots[LINE_SLOTS]; /* 0: free */
	_Atomic(struct line *) more;                              /* stays for good */
};

static struct line lines[LINES];
/* Guards changes of the lines, and the counts of all objects. Nothing is taken inside it. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static bool in_child;
static const cl_icd_dispatch *table_of_functions;

void object_set_dispatch(const cl_icd_dispatch *dispatch)
{
	table_of_functions = dispatch;
}

void object_forget_all(void)
{
	in_child = true;
}

bool object_is_child(void)
{
	return in_child;
}

static struct line *line_of(const void *handle)
{
	uint64_t number = (uint64_t)(uintptr_t)handle;
	return &lines[(number >> 4 ^ number >> 16) % LINES];
}

static _Atomic uintptr_t *slot_find(struct line *line, uintptr_t word)
{
	for (; line; line = atomic_load_explicit(&line->more, memory_order_acquire))
		for (int i = 0; i < LINE_SLOTS; i++)
			if (atomic_load_explicit(&line->slots[i], memory_order_acquire) == word)
				return &line->slots[i];
	return NULL;
}

void *object_find(const void *handle, enum object_type type)
{
	uintptr_t address = (uintptr_t)handle;
	if (address == 0 || address & TYPE_BITS || in_child)
		return NULL;
	return slot_find(line_of(handle), address | type) ? (void *)address : NULL;
}

static void remove_locked(struct object *object)
{
	_Atomic uintptr_t *slot = slot_find(line_of(object), (uintptr_t)object | object->type);
	if (slot)
		atomic_store_explicit(slot, 0, memory_order_release);
}

static struct line *line_add_locked(struct line *line)
{
	struct line *added = aligned_alloc(LINE_BYTES, sizeof(*added));
	if (!added)
		return NULL;
	for (int i = 0; i < LINE_SLOTS; i++)
		atomic_init(&added->slots[i], 0);
	atomic_init(&added->more, NULL);
	while (line->more)
		line = line->more;
	atomic_store_explicit(&line->more, added, memory_order_release);
	return added;
}

/* Without memory for one more line the object's handle is refused from then on. */
static void add_locked(struct object *object)
{
	struct line *line = line_of(object);
	_Atomic uintptr_t *slot = slot_find(line, 0);
	if (!slot) {
		line = line_add_locked(line);
		slot = line ? &line->slots[0] : NULL;
	}
	if (slot)
		atomic_store_explicit(slot, (uintptr_t)object | object->type, memory_order_release);
}

void object_publish(struct object *object, enum object_type type,
		    void (*destroy)(struct object *object))
{
	object->dispatch = table_of_functions;
	object->type = type;
	object->references = 1;
	object->uses = 0;
	object->destroy = destroy;
	pthread_mutex_lock(&table_lock);
	add_locked(object);
	pthread_mutex_unlock(&table_lock);
}

bool object_retain(void *handle, enum object_type type)
{
	if (in_child)
		return false;
	pthread_mutex_lock(&table_lock);
	struct object *object = object_find(handle, type);
	if (object)
		object->references++;
	pthread_mutex_unlock(&table_lock);
	return object != NULL;
}

bool object_release(void *handle, enum object_type type)
{
	if (in_child)
		return false;
	pthread_mutex_lock(&table_lock);
	struct object *object = object_find(handle, type);
	if (object && object->references == 0)
		object = NULL;
	bool ends = object && --object->references == 0 && object->uses == 0;
	if (ends)
		remove_locked(object);
	pthread_mutex_unlock(&table_lock);
	if (ends)
		object->destroy(object);
	return object != NULL;
}

void object_use(struct object *object)
{
	pthread_mutex_lock(&table_lock);
	object->uses++;
	pthread_mutex_unlock(&table_lock);
}

void *object_hold(const void *handle, enum object_type type)
{
	if (in_child)
		return NULL;
	pthread_mutex_lock(&table_lock);
	struct object *object = object_find(handle, type);
	if (object)
		object->uses++;
	pthread_mutex_unlock(&table_lock);
	return object;
}

void object_unuse(struct object *object)
{
	if (!object)
		return;
	pthread_mutex_lock(&table_lock);
	bool ends = --object->uses == 0 && object->references == 0;
	if (ends)
		remove_locked(object);
	pthread_mutex_unlock(&table_lock);
	if (ends)
		object->destroy(object);
}

cl_uint object_references(const struct object *object)
{
	pthread_mutex_lock(&table_lock);
	cl_uint count = object->references;
	pthread_mutex_unlock(&table_lock);
	return count;
}
