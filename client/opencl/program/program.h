/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, and what they were made of. */
#ifndef SYCL_OPENCL_PROGRAM_H
#define SYCL_OPENCL_PROGRAM_H

#include "device/device.h"

#define FIND_PROGRAM(h) ((cl_program)object_find((h), OBJECT_PROGRAM))

/* What a build left for one device. */
struct device_build {
	cl_device_id device;
	cl_build_status status;
	char *log, *options;
	cl_program_binary_type type;
};

/* What is compiled: a text with its headers in it, or a SPIR-V module. */
struct source {
	const char *bytes;
	size_t count;
	bool is_il;
};

/* The same, with the options that it was compiled with. */
struct part {
	char *source, *options;
	size_t source_bytes; /* a 0 follows */
	bool is_il;
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
	char *source; /* all strings joined; "" for a linked program and for a module */
	size_t source_bytes;
	void *il; /* the module as the program gave it; NULL: not made of one */
	size_t il_bytes;
	bool is_binary;              /* made of binaries, which contain sources */
	bool is_linked;              /* by clLinkProgram */
	pthread_mutex_t lock;        /* guards what follows */
	uint32_t *module;            /* the same, with the values of its constants */
	struct device_build *builds; /* one for each device */
	struct parts parts;          /* what the bundle was, or is to be, made of */
	sycl_kernel_bundle bundle;   /* executable or object; NULL: not built */
	bool is_object;
	uint32_t kernel_count; /* kernels that live */
};

char *program_join_sources(cl_uint count, const char **strings, const size_t *lengths,
			   size_t *bytes_out);
cl_program program_make(cl_context context, cl_uint count, const cl_device_id *devices,
			char *source, size_t bytes, cl_int *code_out);
/* The source with its headers in it, which the caller frees: programs with names, and files of the
 * folders that the options name. NULL: no memory. */
char *program_include(const char *source, cl_uint count, const cl_program *programs,
		      const char **names, const char *options);
/* The options without the folders of headers, if the text has all its headers: the service does not
 * keep what may depend on files that the options name. The caller frees it. NULL: no memory. */
char *program_options(const char *options, const char *text);
/* parts.c. On a failure for want of memory what was added stays. */
void parts_clear(struct parts *parts);
bool parts_add(struct parts *parts, struct source source, const char *options,
	       size_t options_bytes);
bool parts_add_all(struct parts *parts, const struct parts *more);
/* module.c. Reads only the beginning: a build says what is wrong behind it. */
bool module_is_good(const void *bytes, size_t count);
cl_int module_set_constant(uint32_t *words, size_t bytes, cl_uint spec_id, size_t value_bytes,
			   const void *value);
struct device_build *program_build_of(cl_program program, cl_device_id device);
cl_int program_answer_binaries(cl_program program, cl_program_info what, struct answer answer);

#endif
