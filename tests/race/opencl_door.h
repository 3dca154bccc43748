/* The OpenCL driver without a loader, for programs that pass what no loader would pass on: the
 * driver's own table of functions, a service with the fake backend in this process, and one of each
 * object. */
#ifndef SYCL_TEST_RACE_OPENCL_DOOR_H
#define SYCL_TEST_RACE_OPENCL_DOOR_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>

#include "check.h"

#define CL(call)            CHECK((call) == CL_SUCCESS)
#define REFUSES(call, code) CHECK((call) == (code))

enum { WORDS = 256, WORD_BYTES = WORDS * (int)sizeof(cl_uint) };

extern const cl_icd_dispatch *cl;
extern cl_platform_id cl_platform;
extern cl_device_id cl_device;
extern cl_context cl_context_made;
extern cl_command_queue cl_queue; /* in order */

/* Also starts the service, which lives until the process ends: so does the driver's connection. */
void door_open(void);
/* Releases what door_open made. */
void door_close(void);
/* A kernel of the fake backend, with a program of its own. */
cl_kernel door_kernel(const char *name);
cl_mem door_buffer(void);
/* Reads the whole buffer and checks that each word has this value. */
void door_check(cl_mem buffer, cl_uint value);
/* Fills the buffer by a kernel of fill_u32. */
void door_fill(cl_kernel fill, cl_mem buffer, cl_uint value, cl_event *event_out);

#endif
