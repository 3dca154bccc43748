/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes whose source is still being written. The library reads the program's memory when a write
 * is submitted. If an earlier read is still to put bytes there, the write has to read them when its
 * own turn has come. So the driver keeps the places of reads that did not block, and such a write
 * is a host task. The program orders the two commands, as OpenCL asks of it.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct place {
	struct place *next;
	const char *begin;
	size_t bytes;
	sycl_event read;
};

/* Guards the list. Calls of the library that never wait are made inside it. */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;

static bool is_over(const struct place *place)
{
	return sycl_event_wait_for(place->read, 0) != SYCL_ERROR_TIMEOUT;
}

static void forget_old_locked(void)
{
	for (struct place **at = &places; *at;) {
		struct place *place = *at;
		if (!is_over(place)) {
			at = &place->next;
			continue;
		}
		*at = place->next;
		(void)sycl_event_release(place->read);
		free(place);
	}
}

void late_note_read(const void *to, size_t bytes, sycl_event read)
{
	struct place *place = calloc(1, sizeof(*place));
	if (!place) {
		(void)sycl_event_release(read);
		return;
	}
	place->begin = to;
	place->bytes = bytes;
	place->read = read;
	pthread_mutex_lock(&places_lock);
	forget_old_locked();
	place->next = places;
	places = place;
	pthread_mutex_unlock(&places_lock);
}

bool late_is_needed(const void *from, size_t bytes)
{
	const char *begin = from;
	bool found = false;
	pthread_mutex_lock(&places_lock);
	if (places)
		forget_old_locked();
	for (const struct place *at = places; at && !found; at = at->next)
		found = begin < at->begin + at->bytes && at->begin < begin + bytes;
	pthread_mutex_unlock(&places_lock);
	return found;
}

struct late_write {
	const void *from;
	size_t bytes;
};

static sycl_result write_now(sycl_host_task task, void *pointer)
{
	const struct late_write *write = pointer;
	void *to = NULL;
	sycl_result r = sycl_host_task_get_pointer(task, 0, &to);
	if (r == SYCL_SUCCESS)
		memcpy(to, write->from, write->bytes);
	return r;
}

sycl_result late_copy(sycl_handler handler, const void *from, cl_mem memory, size_t offset,
		      size_t bytes)
{
	struct late_write *write = calloc(1, sizeof(*write));
	if (!write)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	write->from = from;
	write->bytes = bytes;
	sycl_result r = sycl_handler_set_ranged_host_accessor(handler, 0, memory->sycl,
							      SYCL_ACCESS_WRITE, offset, bytes);
	if (r == SYCL_SUCCESS)
		r = sycl_handler_host_task(handler, write_now, write, free);
	if (r != SYCL_SUCCESS)
		free(write);
	return r;
}
