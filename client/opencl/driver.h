/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the driver, each beside the object of the library that it stands for, and what
 * several files need of each other. README.md says which file has what.
 */
#ifndef SYCL_OPENCL_DRIVER_H
#define SYCL_OPENCL_DRIVER_H

#include "object.h"

#include "syclclient.h"

#include <pthread.h>
#include <stddef.h>

#define FIND_PLATFORM(h) ((cl_platform_id)object_find((h), OBJECT_PLATFORM))
#define FIND_DEVICE(h)   ((cl_device_id)object_find((h), OBJECT_DEVICE))
#define FIND_CONTEXT(h)  ((cl_context)object_find((h), OBJECT_CONTEXT))
#define FIND_QUEUE(h)    ((cl_command_queue)object_find((h), OBJECT_QUEUE))
#define FIND_MEMORY(h)   ((cl_mem)object_find((h), OBJECT_MEMORY))
#define FIND_PROGRAM(h)  ((cl_program)object_find((h), OBJECT_PROGRAM))
#define FIND_KERNEL(h)   ((cl_kernel)object_find((h), OBJECT_KERNEL))
#define FIND_EVENT(h)    ((cl_event)object_find((h), OBJECT_EVENT))
#define FIND_SAMPLER(h)  ((cl_sampler)object_find((h), OBJECT_SAMPLER))

/* An OpenCL platform of the service. Platforms live as long as the process. */
struct _cl_platform_id {
	struct object head;
	sycl_platform sycl;
	uint32_t device_count;
	cl_device_id *devices;
};

struct _cl_device_id {
	struct object head;
	cl_platform_id platform;
	sycl_device sycl;
	cl_device_id parent; /* NULL: no sub-device */
	cl_device_partition_property partition[8];
	size_t partition_bytes;
	cl_device_type type;
	size_t max_group, max_items[3]; /* OpenCL's order of dimensions */
	cl_ulong max_alloc_bytes, local_bytes;
	cl_uint align_bits;
	size_t max_parameter_bytes;
};

/* A function of the program that is called when an object ends. The last one is called first. */
struct destructor {
	struct destructor *next;
	void *function, *user_data;
};

struct _cl_context {
	struct object head;
	cl_platform_id platform;
	sycl_context sycl;
	sycl_queue gates;     /* of user events; made with the first one */
	pthread_mutex_t lock; /* guards gates and destructors */
	struct destructor *destructors;
	cl_uint device_count;
	cl_device_id *devices;
	cl_context_properties *properties;
	size_t properties_bytes;
};

struct _cl_command_queue {
	struct object head;
	cl_context context;
	cl_device_id device;
	sycl_queue sycl;
	cl_command_queue_properties flags;
	cl_queue_properties properties[8];
	size_t properties_bytes;
	pthread_mutex_t lock; /* guards barrier */
	sycl_event barrier;   /* the latest one of an out-of-order queue, or NULL */
};

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
	void *host;    /* of CL_MEM_USE_HOST_PTR */
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
	cl_mem_properties properties[4];
	size_t properties_bytes;
};

struct _cl_sampler {
	struct object head;
	cl_context context;
	cl_bool normalized;
	cl_addressing_mode addressing;
	cl_filter_mode filter;
	sycl_sampler sycl;
	cl_sampler_properties properties[9];
	size_t properties_bytes;
};

/* What a build left for one device. */
struct device_build {
	cl_device_id device;
	cl_build_status status;
	char *log, *options;
	cl_program_binary_type type;
};

/* A text that was compiled, with its headers in it. */
struct part {
	char *source, *options;
};
struct parts {
	size_t count;
	struct part *list;
	char *link_options; /* NULL: the one part was built at once */
};

struct _cl_program {
	struct object head;
	cl_context context;
	cl_uint device_count;
	cl_device_id *devices;
	char *source; /* all strings joined; "" for a linked program */
	size_t source_bytes;
	bool is_binary;              /* made of binaries, which contain sources */
	bool is_linked;              /* by clLinkProgram */
	pthread_mutex_t lock;        /* guards what follows */
	struct device_build *builds; /* one for each device */
	struct parts parts;          /* what the bundle was, or is to be, made of */
	sycl_kernel_bundle bundle;   /* executable or object; NULL: not built */
	bool is_object;
	uint32_t kernel_count; /* kernels that live */
};

/* The value of a kernel's argument. */
struct argument {
	sycl_argument_kind kind;
	bool is_set, is_const;
	cl_kernel_arg_address_qualifier address;
	cl_kernel_arg_type_qualifier qualifiers;
	cl_kernel_arg_access_qualifier access;
	size_t bytes; /* as the kernel declares it; 0: not known */
	size_t set_bytes;
	void *value;          /* a copy, of `bytes` */
	cl_mem memory;        /* not kept: to be looked up; or NULL */
	sycl_sampler sampler; /* of SYCL_ARGUMENT_SAMPLER */
	const void *svm;
};

/* What a launch needs of a kernel on one device, asked for once. */
struct kernel_facts {
	bool are_known;
	size_t required[3]; /* of a work-group, in OpenCL's order; 0: any */
	size_t group_limit;
};

struct _cl_kernel {
	struct object head;
	cl_program program;
	sycl_kernel sycl;
	char *name;
	cl_uint count;
	pthread_mutex_t lock; /* guards what follows */
	struct argument *arguments;
	struct kernel_facts *facts; /* one for each device of the program */
};

struct event_callback {
	struct event_callback *next;
	cl_event event;
	cl_int status;
	void(CL_CALLBACK *function)(cl_event, cl_int, void *);
	void *user_data;
};

struct _cl_event {
	struct object head;
	cl_context context;
	cl_command_queue queue; /* NULL: a user event */
	cl_command_type type;
	sycl_event sycl;
	cl_ulong queued_ns;
	bool is_open;          /* a user event that is not decided; guarded by lock */
	_Atomic cl_int status; /* of a user event; of others the final one, once it is known */
	pthread_mutex_t lock;  /* guards callbacks */
	struct event_callback *waiting; /* of a user event */
};

/* result.c: OpenCL's code for one of the library. */
cl_int code_of(sycl_result result);

/* answer.c: answers to queries, by OpenCL's rules of sizes. */
struct answer {
	size_t room;
	void *value;
	size_t *bytes_out;
};
#define ANSWER ((struct answer){size, value, bytes_out})
cl_int answer_bytes(struct answer answer, const void *bytes, size_t count);
cl_int answer_text(struct answer answer, const char *text);
/* Puts a separator and a word behind the words in `text`, as far as there is room. */
void text_append(char *text, size_t room, const char *separator, const char *word);
cl_int answer_uint(struct answer answer, cl_uint number);
cl_int answer_ulong(struct answer answer, cl_ulong number);
cl_int answer_size(struct answer answer, size_t number);
cl_int answer_handle(struct answer answer, const void *handle);
/* A public call that makes an object: stores the code where the program asked for it. */
void *made(void *object, cl_int code, cl_int *code_out);

/* device.c: makes the object for a device of the library, whose reference it takes. */
cl_device_id device_make(cl_platform_id platform, sycl_device sycl);
cl_int device_info(cl_device_id device, cl_device_info what, struct answer answer);
void device_use(cl_device_id device);
void device_unuse(cl_device_id device);

/* context.c */
bool context_has_device(cl_context context, cl_device_id device);
void destructors_run_context(cl_context context);

/* command.c: what all commands share. */
struct command {
	cl_command_queue queue;
	cl_command_type type;
	cl_ulong queued_ns;
	sycl_handler handler;
	cl_event *event_out;
};
/* Checks the queue and the wait list, and begins a handler that depends on it. Ended by
 * command_submit or command_drop. */
cl_int command_begin(struct command *command, cl_command_queue queue, cl_command_type type,
		     cl_uint count, const cl_event *events, cl_event *event_out);
void command_drop(struct command *command);
/* Sends it if `result` is success, and makes the event. With `blocking` it waits. The event of the
 * library is also returned to `sycl_out`, if that is not NULL. */
cl_int command_submit(struct command *command, sycl_result result, bool blocking,
		      sycl_event *sycl_out);
cl_int wait_list_check(cl_context context, cl_uint count, const cl_event *events);
/* Makes an event of the driver over one of the library, whose reference it takes. */
cl_int event_make(cl_command_queue queue, cl_command_type type, sycl_event sycl, cl_ulong queued_ns,
		  cl_event *event_out);
cl_ulong now_ns(void);
/* The time at which a command was asked for, if anybody can ask for that. */
cl_ulong command_time(cl_command_queue queue, const cl_event *event_out);
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* The status of an event: CL_QUEUED to CL_COMPLETE, or an error. */
cl_int event_status(cl_event event);

/* printed.c: what kernels have printed goes to standard output. After a wait. */
void printed_pass_on(cl_context context);

/* user_event.c: the end of a user event that nobody has decided counts as a failure. */
void user_event_end(cl_event event);

/* callback.c: passes the callback on to the thread, which is started if there is none. */
cl_int callback_watch(struct event_callback *callback);
void callback_call(struct event_callback *callback, cl_int status);

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

/* launch.c: checks a launch as clEnqueueNDRangeKernel does, and sets it as the group's action. */
struct ranges {
	cl_uint dimensions;
	const size_t *offset, *global, *local;
};
cl_int launch_fill(cl_command_queue queue, cl_kernel kernel, const struct ranges *ranges,
		   sycl_handler handler);

/* command_buffer.c: finds the functions of the extension. NULL: no such name. */
void *command_buffer_function(const char *name);

/* late.c: a read that does not block writes there; takes the reference to its event. */
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

/* image_format.c. Reads OpenCL's numbers; bytes of a pixel. False: no such format. */
bool image_format_read(const cl_image_format *format, sycl_image_format *ours, size_t *bytes_out);
bool image_device_has(cl_device_id device, sycl_image_format format, cl_mem_object_type type);
bool image_context_has(cl_context context, sycl_image_format format, cl_mem_object_type type);
/* Whether the device has images at all. */
bool image_device_has_any(cl_device_id device);

/* image_commands.c. Where a pixel lies in the program's memory, by the pitches of the creation. */
size_t image_offset(cl_mem image, size_t column, size_t row, size_t slice);
cl_int image_check(cl_command_queue queue, cl_mem handle);
cl_int image_check_host(cl_command_queue queue, cl_mem handle, unsigned use);
cl_int image_check_region(cl_mem image, const size_t *origin, const size_t *region);
struct image_pitches {
	size_t row, slice; /* as the library counts them */
};
/* False: they are too small. */
bool image_read_pitches(cl_mem image, const size_t *region, size_t row, size_t slice,
			struct image_pitches *out);
struct sycl_image_region image_region_of(const size_t *from, const size_t *to, const size_t *size,
					 const struct image_pitches *pitches);
sycl_result image_read(sycl_handler handler, cl_mem image, const size_t *origin,
		       const size_t *region, const struct image_pitches *pitches, void *to);
sycl_result image_write(sycl_handler handler, cl_mem image, const size_t *origin,
			const size_t *region, const struct image_pitches *pitches,
			const void *from);

/* buffer.c: what buffers and images share. NULL: no memory. */
cl_mem memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags);
cl_int memory_check_flags(cl_mem_flags flags, const void *host);
/* Calls the destructors, and frees all but the library's object. */
void memory_end(cl_mem memory);

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

/* program.c, program_include.c, program_build.c, program_binary.c */
char *program_join_sources(cl_uint count, const char **strings, const size_t *lengths,
			   size_t *bytes_out);
cl_program program_make(cl_context context, cl_uint count, const cl_device_id *devices,
			char *source, size_t bytes, cl_int *code_out);
/* The source with its headers in it, which the caller frees: programs with names, and files of the
 * folders that the options name. NULL: no memory. */
char *program_include(const char *source, cl_uint count, const cl_program *programs,
		      const char **names, const char *options);
/* program_parts.c. On a failure for want of memory what was added stays. */
void parts_clear(struct parts *parts);
bool parts_add(struct parts *parts, const char *source, size_t source_bytes, const char *options,
	       size_t options_bytes);
bool parts_add_all(struct parts *parts, const struct parts *more);
struct device_build *program_build_of(cl_program program, cl_device_id device);
cl_int program_answer_binaries(cl_program program, cl_program_info what, struct answer answer);

/* kernel.c */
void argument_clear(struct argument *argument);
/* The same with a value that clSetKernelArg or another kernel gave. */
cl_int argument_copy(struct argument *to, const struct argument *from);

#endif
