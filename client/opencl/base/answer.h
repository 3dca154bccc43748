/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to queries, by OpenCL's rules of sizes, and codes. */
#ifndef SYCL_OPENCL_ANSWER_H
#define SYCL_OPENCL_ANSWER_H

#include "base/object.h"

#include "syclclient.h"

#include <stddef.h>

/* OpenCL's code for one of the library. */
cl_int code_of(sycl_result result);

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

#endif
