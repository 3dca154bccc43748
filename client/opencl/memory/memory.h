/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects, and commands on buffers. */
#ifndef SYCL_OPENCL_MEMORY_H
#define SYCL_OPENCL_MEMORY_H

#include "queue/queue.h"
#include "svm/svm.h"

#define FIND_MEMORY(h) ((cl_mem)object_find((h), OBJECT_MEMORY))

/* A part of a memory object that the program has mapped. */
struct mapping {
	struct mapping *next;
	void *pointer;
	size_t offset, bytes;    /* in the object, if it is a buffer */
	size_t at[3], region[3]; /* in the object, if it is an image */
	bool writes;
	sycl_event mapped; /* until it is complete the program must not write; NULL: complete */
};

struct _cl_mem {
	struct object head;
	cl_context context;
	cl_mem_object_type type;
	cl_mem_flags flags;
	size_t bytes;
	void *host; /* of CL_MEM_USE_HOST_PTR */
	/* The contents themselves, in memory that this process shares with every device of the
	 * context; or NULL. A sub-buffer has its parent's: memory_is_direct. */
	char *direct;
	char *svm; /* the contents are this shared virtual memory, and `sycl` is NULL; or NULL */
	cl_mem parent; /* of a sub-buffer, or an image of a buffer */
	size_t origin; /* in the parent */
	sycl_buffer
		sycl; /* of an image of a buffer: the parent's, not kept; of other images NULL */
	/* Of an image. Lengths are columns, rows, slices or layers; of a 1D array the rows are its
	 * layers. Pitches are those of the program's memory at creation. */
	sycl_image image; /* NULL: it is a buffer, or an image of one */
	cl_image_format format;
	cl_image_desc description;
	sycl_image_format sycl_format;
	size_t extent[3], pixel_bytes, row_pitch, slice_pitch;
	pthread_mutex_t lock; /* guards what follows */
	void *shadow; /* where mapped parts lie; NULL: not mapped yet. Of the whole buffer */
	struct mapping *mappings;
	cl_uint map_count;
	struct destructor *destructors;
	struct late_end later; /* once nobody has a reference */
	cl_mem_properties properties[4];
	size_t properties_bytes;
};

/* transfer.c: checks a buffer that a command of the queue uses. */
cl_int buffer_check(cl_command_queue queue, cl_mem handle);
enum host_use { HOST_READS = 1, HOST_WRITES = 2 };
/* The same for a command that reads or writes it for the host. */
cl_int buffer_check_host(cl_command_queue queue, cl_mem handle, unsigned use);
bool is_inside(size_t offset, size_t bytes, size_t all);

/* The same for both buffers of a copy, and for a fill, with all that OpenCL asks of them. */
cl_int copy_check(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
		  size_t to_offset, size_t bytes);
cl_int fill_check(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes,
		  size_t offset, size_t bytes);

/* rect.c: a copy between boxes, as OpenCL's calls describe it. */
struct rect_pitches {
	const size_t *from_origin, *to_origin, *region;
	size_t from_row, from_slice, to_row, to_slice;
};
cl_int rect_check_copy(cl_command_queue queue, cl_mem from, cl_mem to,
		       const struct rect_pitches *pitches, struct sycl_copy_rect *box_out);

/* contents.c: set the action of a group. As the library's functions with buffers. */
sycl_result buffer_to_host(sycl_handler handler, cl_mem from, size_t offset, void *to,
			   size_t bytes);
sycl_result buffer_from_host(sycl_handler handler, const void *from, cl_mem to, size_t offset,
			     size_t bytes);
sycl_result buffer_copy(sycl_handler handler, cl_mem from, size_t from_offset, cl_mem to,
			size_t to_offset, size_t bytes);
sycl_result buffer_fill(sycl_handler handler, cl_mem memory, size_t offset, size_t bytes,
			const void *pattern, size_t pattern_bytes);
sycl_result buffer_rect_to_host(sycl_handler handler, cl_mem from, void *to,
				const struct sycl_copy_rect *box);
sycl_result buffer_rect_from_host(sycl_handler handler, const void *from, cl_mem to,
				  const struct sycl_copy_rect *box);
sycl_result buffer_copy_rect(sycl_handler handler, cl_mem from, cl_mem to,
			     const struct sycl_copy_rect *box);

/* late.c: a read that does not block writes there; takes the reference to its event. Waits if there
 * are too many. */
void late_note_read(const void *to, size_t bytes, sycl_event read);
/* Whether such a read may still write there. */
bool late_is_needed(const void *from, size_t bytes);
/* Sets the action: a copy that reads the memory when its turn has come. */
sycl_result late_copy(sycl_handler handler, const void *from, cl_mem memory, size_t offset,
		      size_t bytes);
sycl_result late_copy_rect(sycl_handler handler, const void *from, cl_mem memory,
			   const struct sycl_copy_rect *box);
/* How many bytes a box of the program's memory spans, gaps included. */
size_t late_source_bytes(const struct sycl_copy_rect *box);
size_t late_destination_bytes(const struct sycl_copy_rect *box);

/* buffer.c: what buffers and images share. NULL: no memory. */
cl_mem memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags);
cl_int memory_check_flags(cl_mem_flags flags, const void *host);
/* Calls the destructors, and frees all but the library's object. */
void memory_end(cl_mem memory);
/* Commands that run keep what they need. But a destructor is called when they have ended, because
 * it may free the memory that they use. So an object with destructors ends at once or later, by
 * `try_end` (struct late_end). A release never waits for commands: the program may yet have to
 * decide a user event. */
void memory_end_later(cl_mem memory, bool (*try_end)(void *memory, uint64_t most_ns));

/* memory.c */
bool memory_is_image(cl_mem memory);
/* Whether the flags let the host read or write it. */
cl_int memory_check_host(cl_mem memory, unsigned use);
void memory_use(cl_mem memory);
void memory_unuse(cl_mem memory);
/* How kernels may use it, by its flags. */
sycl_access_mode memory_mode(cl_mem memory);
/* Where a mapped part lies. NULL: no memory. */
void *memory_shadow(cl_mem memory);
/* Whether that is the contents themselves, so that nothing is copied. */
bool memory_is_direct(cl_mem memory);

#endif
