/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes whose source is still being written. The library reads the program's memory when a write
 * is submitted. If an earlier read is still to put bytes there, the write has to read them when its
 * own turn has come. So the driver keeps the places of reads that did not block, and such a write
 * is a host task. The program orders the two commands, as OpenCL asks of it.
 *
 * Each such read is a host task, too, of which a session has a limited number. So a program that
 * reads faster than the device waits here for its oldest read.
 */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct place {
	struct place *next;
	const char *begin;
	size_t bytes;
	sycl_event read;
};

/* A session has 1024 host tasks. Some are left for commands of other kinds. The wait for the oldest
 * one has a limit, because the program may yet have to decide a user event. */
enum { PLACES_FEW = 64, PLACES_MAX = 896, ROOM_NS = 500000000 };

/* Guards the list, the oldest place first. Calls of the library that never wait are made inside
 * it. */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places, **places_end = &places;
static size_t place_count, look_at = PLACES_FEW; /* with so many, all are looked at */
static sycl_event stuck;                         /* no wait for this one has helped; not held */

static bool is_over(const struct place *place)
{
	return sycl_event_wait_for(place->read, 0) != SYCL_ERROR_TIMEOUT;
}

/* Takes a place off the list, which `at` leads to. */
static void forget_locked(struct place **at)
{
	struct place *place = *at;
	*at = place->next;
	if (!*at)
		places_end = at;
	if (place->read == stuck)
		stuck = NULL;
	(void)sycl_event_release(place->read);
	free(place);
	place_count--;
}

/* Most reads end in their order. The others are looked at now and then, because each look costs a
 * call of the library. */
static void forget_old_locked(void)
{
	while (places && is_over(places))
		forget_locked(&places);
	if (place_count < PLACES_FEW)
		look_at = PLACES_FEW;
	if (place_count < look_at)
		return;
	for (struct place **at = &places; *at;) {
		if (is_over(*at))
			forget_locked(at);
		else
			at = &(*at)->next;
	}
	look_at = place_count + PLACES_FEW;
}

/* The oldest read, with a reference, if there is no room for more and a wait for it may help. */
static sycl_event oldest_locked(void)
{
	if (place_count < PLACES_MAX || places->read == stuck ||
	    sycl_event_retain(places->read) != SYCL_SUCCESS)
		return NULL;
	return places->read;
}

static void wait_for_room(sycl_event oldest)
{
	bool is_late = sycl_event_wait_for(oldest, ROOM_NS) == SYCL_ERROR_TIMEOUT;
	pthread_mutex_lock(&places_lock);
	if (is_late && places && places->read == oldest)
		stuck = oldest;
	pthread_mutex_unlock(&places_lock);
	(void)sycl_event_release(oldest);
}

void late_note_read(const void *to, size_t bytes, sycl_event read)
{
	sycl_event oldest = NULL;
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
	*places_end = place;
	places_end = &place->next;
	place_count++;
	oldest = oldest_locked();
	pthread_mutex_unlock(&places_lock);
	if (oldest)
		wait_for_room(oldest);
}

bool late_is_needed(const void *from, size_t bytes)
{
	const char *begin = from;
	bool found = false;
	pthread_mutex_lock(&places_lock);
	for (const struct place *at = places; at && !found; at = at->next)
		found = begin < at->begin + at->bytes && at->begin < begin + bytes && !is_over(at);
	pthread_mutex_unlock(&places_lock);
	return found;
}

/* A box of bytes; offsets of the destination are those of the buffer's part. */
struct late_write {
	const char *from;
	struct sycl_copy_rect box;
};

static sycl_result write_now(sycl_host_task task, void *pointer)
{
	const struct late_write *write = pointer;
	const struct sycl_copy_rect *box = &write->box;
	void *to = NULL;
	sycl_result r = sycl_host_task_get_pointer(task, 0, &to);
	for (uint64_t slice = 0; slice < box->slices && r == SYCL_SUCCESS; slice++)
		for (uint64_t row = 0; row < box->rows; row++)
			memcpy((char *)to + slice * box->destination_slice_pitch_bytes +
				       row * box->destination_row_pitch_bytes,
			       write->from + slice * box->source_slice_pitch_bytes +
				       row * box->source_row_pitch_bytes,
			       box->width_bytes);
	return r;
}

/* From the first byte of a box to behind its last one. */
static uint64_t extent(const struct sycl_copy_rect *box, uint64_t row, uint64_t slice)
{
	return (box->slices - 1) * slice + (box->rows - 1) * row + box->width_bytes;
}

size_t late_source_bytes(const struct sycl_copy_rect *box)
{
	return extent(box, box->source_row_pitch_bytes, box->source_slice_pitch_bytes);
}

size_t late_destination_bytes(const struct sycl_copy_rect *box)
{
	return extent(box, box->destination_row_pitch_bytes, box->destination_slice_pitch_bytes);
}

sycl_result late_copy_rect(sycl_handler handler, const void *from, cl_mem memory,
			   const struct sycl_copy_rect *box)
{
	/* The gaps between the rows keep what they have. */
	bool is_whole = box->slices == 1 && box->rows == 1;
	struct late_write *write = calloc(1, sizeof(*write));
	if (!write)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	write->from = (const char *)from + box->source_offset_bytes;
	write->box = *box;
	sycl_result r = sycl_handler_set_ranged_host_accessor(
		handler, 0, memory->sycl, is_whole ? SYCL_ACCESS_WRITE : SYCL_ACCESS_READ_WRITE,
		box->destination_offset_bytes, late_destination_bytes(box));
	if (r == SYCL_SUCCESS)
		r = sycl_handler_host_task(handler, write_now, write, free);
	if (r != SYCL_SUCCESS)
		free(write);
	return r;
}

sycl_result late_copy(sycl_handler handler, const void *from, cl_mem memory, size_t offset,
		      size_t bytes)
{
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	box.width_bytes = bytes;
	box.rows = box.slices = 1;
	box.destination_offset_bytes = offset;
	return late_copy_rect(handler, from, memory, &box);
}
