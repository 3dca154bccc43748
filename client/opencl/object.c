/* SPDX-License-Identifier: Apache-2.0 */
#include "object.h"

#include <pthread.h>
#include <stddef.h>

enum { BUCKETS = 4096 };

/* Guards the buckets and the counts of all objects. Nothing is taken inside it. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *buckets[BUCKETS];

static struct object **bucket_of(const void *handle)
{
	uint64_t number = (uint64_t)(uintptr_t)handle;
	return &buckets[(number >> 4 ^ number >> 16) % BUCKETS];
}

static struct object *find_locked(const void *handle, enum object_type type)
{
	for (struct object *at = *bucket_of(handle); at; at = at->next)
		if (at == handle)
			return at->type == type ? at : NULL;
	return NULL;
}

static void remove_locked(struct object *object)
{
	struct object **at = bucket_of(object);
	while (*at != object)
		at = &(*at)->next;
	*at = object->next;
}

void object_publish(struct object *object, enum object_type type,
		    void (*destroy)(struct object *object))
{
	object->dispatch = &opencl_dispatch;
	object->type = type;
	object->references = 1;
	object->uses = 0;
	object->destroy = destroy;
	pthread_mutex_lock(&table_lock);
	struct object **bucket = bucket_of(object);
	object->next = *bucket;
	*bucket = object;
	pthread_mutex_unlock(&table_lock);
}

void *object_find(const void *handle, enum object_type type)
{
	pthread_mutex_lock(&table_lock);
	struct object *object = find_locked(handle, type);
	pthread_mutex_unlock(&table_lock);
	return object;
}

bool object_retain(void *handle, enum object_type type)
{
	pthread_mutex_lock(&table_lock);
	struct object *object = find_locked(handle, type);
	if (object)
		object->references++;
	pthread_mutex_unlock(&table_lock);
	return object != NULL;
}

bool object_release(void *handle, enum object_type type)
{
	pthread_mutex_lock(&table_lock);
	struct object *object = find_locked(handle, type);
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
