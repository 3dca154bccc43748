/* Native handles: the common part of native_get.c, native_make.c, native_program.c, native_task.c,
 * event_native.c, and of native_memory.c and native_events.c in submit/. */
#ifndef SYCL_CLIENT_NATIVE_H
#define SYCL_CLIENT_NATIVE_H

#include "kernel/bundle.h"
#include "platform/topology.h"

struct event;

#define NATIVES_MAX 64u

/* Sycl__V1__NativeKind, as bits. */
#define NATIVE_BIT(kind) (1u << SYCL__V1__NATIVE_KIND__NATIVE_KIND_##kind)

/* Native handles are valid in one process only, so the engine must be in this process. Fails as the
 * service would. */
sycl_result native_check_process(const struct connection *connection);
/* Checks whether the handle may be requested, before any request. The engine must be in this
 * process, and the backend must be `is` and have such objects. `kind`: Sycl__V1__NativeKind. */
sycl_result native_check(const struct connection *connection, uint32_t is, sycl_backend wanted,
			 int kind);

/* The service's answer about a native object. */
struct native_facts {
	uint32_t devices[NATIVES_MAX]; /* the service's numbers */
	uint32_t device_count;
	bool out_of_order, profiling, is_sub_device;
	uint64_t size_bytes;
	uint32_t image_format, dimensions;
	uint64_t image_size[3];
	uint64_t program;
	uint32_t state;
	char name[256];
};
/* `context`: the context to which the native object must belong; NULL: any. A round trip. */
sycl_result native_describe(struct connection *connection, sycl_backend backend, int kind,
			    uint64_t native, const struct context *context,
			    struct native_facts *facts_out);

/* A list that is returned in the usual way. Handles for which there is no room are unused
 * references, so all are requested together. */
struct native_list {
	uint64_t items[NATIVES_MAX];
	uint32_t count;
};
/* Sends one NativeGet, and appends its answers to the list. */
sycl_result native_get(struct connection *connection, const Sycl__V1__NativeGet *get,
		       struct native_list *list);
sycl_result native_get_one(struct connection *connection, const Sycl__V1__NativeGet *get,
			   uint64_t *native_out);

/* Sends the message and waits. The body of the answer is not used. */
sycl_result native_make(struct connection *connection, const Sycl__V1__NativeMake *make);

/* `capacity` and the outputs go together. */
sycl_result native_check_outputs(uint32_t capacity, const uint64_t *natives_out,
				 const uint32_t *count_out);

/* A queue of the library, for work that must precede an object that is made. The caller releases
 * the queue. */
sycl_result native_helper_queue(struct context *context, sycl_queue *queue_out);

/* event_native.c: returns the number of native events of an event. A command's native event is made
 * when it is first requested, by a round trip. */
uint32_t event_natives(struct event *event);

#endif
