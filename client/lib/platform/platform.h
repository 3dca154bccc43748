/* Platforms, devices and contexts. */
#ifndef SYCL_CLIENT_PLATFORM_H
#define SYCL_CLIENT_PLATFORM_H

#include "connection/objects.h"
#include "syclclient.h"

#define INDEX_UNRESOLVED UINT32_MAX

struct platform {
	struct object object;
	/* Index in the topology; INDEX_UNRESOLVED: the connection's own platform, before the first
	 * query. */
	_Atomic uint32_t index;
};

struct device {
	struct object object;
	/* Index in the topology; for a sub-device a number that no other living device has. */
	uint32_t index;
	const Sycl__V1__DeviceFacts *facts; /* the topology's, or own_facts */
	struct platform *platform;
	struct context *
		implicit_context; /* weak; of queues made without a context. Under the state lock */
	struct device *parent;    /* for a sub-device: the parent, held; else NULL */
	struct remote remote;
	/* For a sub-device: the facts, to which `facts` points; else NULL. */
	Sycl__V1__DeviceFacts *own_facts;
};

struct context {
	struct object object;
	struct remote remote;
	struct platform *platform;
	uint32_t device_count;
	struct device **devices;
	bool is_native;                    /* over the application's own context */
	sycl_async_handler *async_handler; /* handler of queues that have none of their own */
	void *async_user_data;
};

DEFINE_PIN(platform, sycl_platform, HANDLE_PLATFORM)
DEFINE_PIN(device, sycl_device, HANDLE_DEVICE)
DEFINE_PIN(context, sycl_context, HANDLE_CONTEXT)

/* platform.c. `index`: in the topology, or INDEX_UNRESOLVED. NULL: no memory. */
struct platform *platform_new(struct connection *connection, uint32_t index);
/* device.c. NULL: no memory. */
struct device *device_new(struct connection *connection, uint32_t index,
			  const Sycl__V1__DeviceFacts *facts);
/* platform.c, device.c: the object at that place of the topology. A reference for the caller. */
sycl_result platform_at(struct connection *connection, uint32_t index,
			struct platform **platform_out);
sycl_result device_at(struct connection *connection, uint32_t index, struct device **device_out);
/* sub_device.c: the application's own part of `parent`. One user reference. */
sycl_result sub_device_take(struct device *parent, sycl_backend backend, uint64_t native,
			    sycl_device *device_out);
/* The service's number of the device, or of the device of which it is a part. */
uint32_t device_root_number(const struct device *device);

/* context.c: makes a context of pinned devices of one platform. `announce` notifies the service
 * (NULL: ContextCreate). One user reference. */
typedef sycl_result context_announce(struct context *context, void *what);
sycl_result context_make(uint32_t count, struct device *const *devices, context_announce *announce,
			 void *what, struct context **context_out);

/* context.c: the context that is shared by the queues of a device that were made without a context.
 * A reference for the caller. */
sycl_result context_implicit(struct device *device, struct context **context_out);
bool context_has(const struct context *context, const struct device *device);

/*
 * device.c: enum sycl_backend of the device's platform; 0 when the service sent an unknown number.
 */
uint32_t device_backend(const struct device *device);

#endif
