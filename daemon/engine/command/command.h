/*
 * Records of a client: each command_* runs one, and checks everything again. Further below are the
 * functions that process devices' replies. Front thread.
 */
#ifndef SYCL_ENGINE_COMMAND_H
#define SYCL_ENGINE_COMMAND_H

#include "group/check.h"
#include "group/group.h"
#include "session/hooks.h"
#include "session/session.h"

/* kinds.c: how objects of each type are released and end; by enum object_type. */
extern const struct object_kind command_object_kinds[OBJECT_TYPE_COUNT];

/* commands.c: session_hooks.run_command. */
int session_command(struct session *session, const Sycl__V1__Command *command);

/* As session_command, which finds each in a table by the kind of its body. A failure is sent to the
 * client; it is no reason to return anything but 0. */
int command_release(struct session *session, const Sycl__V1__Command *command);
int command_release_id(struct session *session, uint64_t id);
int command_discover(struct session *session, const Sycl__V1__Command *command);
int command_context_create(struct session *session, const Sycl__V1__Command *command);
int command_sub_devices_create(struct session *session, const Sycl__V1__Command *command);
int command_queue_create(struct session *session, const Sycl__V1__Command *command);
int command_buffer_create(struct session *session, const Sycl__V1__Command *command);
int command_image_create(struct session *session, const Sycl__V1__Command *command);
int command_bundle_build(struct session *session, const Sycl__V1__Command *command);
int command_bundle_link(struct session *session, const Sycl__V1__Command *command);
int command_kernel_create(struct session *session, const Sycl__V1__Command *command);
/* `checked`: where the results of its checks are, or are kept (group/checked.h); NULL: nowhere. */
int command_group(struct session *session, const Sycl__V1__CommandGroup *message,
		  struct group_checked **checked);
/* The data of a burst beside the message of its first group. */
struct group_burst {
	uint32_t count;        /* number of groups; their numbers are consecutive */
	const uint8_t *values; /* values of the groups behind the first: task_request.launch */
	uint32_t value_bytes;
	bool is_awaited; /* the program has the event of the last group */
	/* Instead of values; NULL: the groups have one shape. */
	const struct group_stretch *stretch;
};
enum burst_result {
	BURST_DONE = 0,
	/* The burst cannot be taken as one task, and nothing has happened: run each group by
	 * itself. */
	BURST_SPLIT,
};
/* Negative instead: the session will close. */
int command_burst(struct session *session, const Sycl__V1__CommandGroup *message,
		  const struct group_burst *burst, struct group_checked **checked);
/*
 * stretch.c: takes the present group, which is applied to shape `number`, and the groups behind it
 * in the ring as one task. Returns the number of groups taken, which may be 0. Negative: the
 * session will close.
 */
int command_take_stretch(struct session *session, uint32_t number,
			 const Sycl__V1__CommandGroup *group);
/* resubmit.c: takes the groups of a burst as one task. Returns their number. 0: they cannot be one
 * task; the groups are read again from `place` on, one by one. Negative: the session will close. */
int command_take_as_one(struct session *session, uint32_t number,
			const Sycl__V1__CommandGroup *group, const struct group_burst *burst,
			uint64_t place);
/*
 * burst_room.c: returns how many more groups may be read as one, by the limits of the session and
 * of this turn.
 */
uint32_t command_burst_room(const struct session *session, const struct queue *queue);
/* resubmit.c: keeps the group's shape; the group is not run. */
int command_define_shape(struct session *session, const Sycl__V1__CommandGroup *message);
/* session_hooks.run_resubmit: runs a group by its shape. */
int command_resubmit(struct session *session, const void *bytes, uint32_t count);
/* graph.c */
int command_graph_create(struct session *session, const Sycl__V1__Command *command);
int command_graph_node(struct session *session, const Sycl__V1__Command *command);
int command_graph_edges(struct session *session, const Sycl__V1__Command *command);
int command_graph_finish(struct session *session, const Sycl__V1__Command *command);
int command_graph_update(struct session *session, const Sycl__V1__Command *command);
int command_graph_switch(struct session *session, const Sycl__V1__Command *command);
/* window.c */
int command_queue_window(struct session *session, const Sycl__V1__Command *command);
/* The queue ends. Ends its window. */
void queue_l2_end(struct queue *queue);
int command_host_access(struct session *session, const Sycl__V1__Command *command);
/* host_task.c: session_hooks.abandon_host_tasks. */
void command_abandon_host_tasks(struct session *session);
int command_host_task_done(struct session *session, const Sycl__V1__Command *command);
int command_usage_query(struct session *session, const Sycl__V1__Command *command);
/* 0: a queue that exists, released or not. 1: freed with everything that was kept with it; failed
 * or beyond the limit. Negative: a violation. */
int command_find_queue(struct session *session, uint64_t id, struct queue **queue_out,
		       struct backend_fault *fault);
int command_profile_query(struct session *session, const Sycl__V1__Command *command);
int command_ping(struct session *session, const Sycl__V1__Command *command);
int command_native_describe(struct session *session, const Sycl__V1__Command *command);
int command_native_get(struct session *session, const Sycl__V1__Command *command);
int command_native_make(struct session *session, const Sycl__V1__Command *command);
int command_occupancy_query(struct session *session, const Sycl__V1__Command *command);
int command_buffer_export(struct session *session, const Sycl__V1__Command *command);
int command_buffer_import(struct session *session, const Sycl__V1__Command *command);
int command_shared_event_create(struct session *session, const Sycl__V1__Command *command);
int command_usm_allocate(struct session *session, const Sycl__V1__Command *command);
int command_usm_free(struct session *session, const Sycl__V1__Command *command);
int command_shared_event_open(struct session *session, const Sycl__V1__Command *command);

/* access.c */
void host_accessor_done(struct host_accessor *accessor, const struct task_outcome *outcome);
void host_accessor_end(struct host_accessor *accessor);

/* share.c */
struct export_request;
/* These two functions return the session, which may be freed after its next step. */
struct session *buffer_exported(struct export_request *request,
				const struct backend_shared_memory *shared,
				const struct backend_fault *fault);
struct session *buffer_imported(struct buffer *buffer, const struct backend_fault *fault);
void buffer_share_end(struct buffer *buffer);

/* event.c */
void event_share_ready(struct event_share *share, const uint8_t *handle,
		       const struct backend_fault *fault);
void shared_event_end(struct shared_event *event);
/* Attaches the share to the event, and replies if the share is ready. */
void shared_event_attach(struct shared_event *event, struct event_share *share);
int shared_event_admit(struct shared_event *event, struct backend_fault *fault);

/* build.c */
struct build_result;
struct build_request;
void bundle_end(struct bundle *bundle);
/* Reports the bundle's failure. */
void bundle_fail(struct bundle *bundle, const struct backend_fault *fault);
/* 0 or 1 and a fault. Limits of a request are filled in. */
int bundle_check_options(const struct session *session, const char *options,
			 struct backend_fault *fault);
int bundle_submit(struct bundle *bundle, struct build_request *request,
		  struct backend_fault *fault);
/*
 * late.c. Chooses the numbers of dimensions that a build of this source makes first, and keeps the
 * source for the others. 0: all, because the text does not show it, or the session may keep no
 * more.
 */
uint32_t bundle_choose_dimensions(struct bundle *bundle, const struct build_request *request);
/* As session_hooks. */
int bundle_needs_dimensions(struct bundle *bundle, uint32_t dimensions,
			    struct backend_fault *fault);
void bundle_end_late_builds(struct session *session);
void bundle_loaded(struct bundle *bundle, const char *kernel_names,
		   const struct backend_fault *fault);
void kernel_created(struct kernel *kernel, const struct backend_kernel_facts *facts,
		    const struct backend_fault *fault);

/* usm.c: these two functions return the session, which may be freed after its next step. */
struct session *usm_allocated(struct usm *usm, void *address, const struct backend_fault *fault);
struct session *usm_registered(struct usm *usm, const struct backend_fault *fault);
void usm_end(struct usm *usm);

/* native.c; returns the session, which may be freed after its next step. */
struct native_request;
struct session *native_answered(struct native_request *request, uint64_t native,
				const struct backend_fault *fault);
void context_end(struct context *context);

/* occupancy.c; returns the session, which may be freed after its next step. */
struct occupancy_request;
struct session *occupancy_known(struct occupancy_request *request,
				const struct backend_occupancy *occupancy,
				const struct backend_fault *fault);

/* share.c: which feature a kind of sharing needs; what a shared buffer counts as. 0, or 1 with a
 * fault. */
int share_kind_feature(uint32_t kind, uint32_t *feature_out, struct backend_fault *fault);
int share_admit(struct session *session, uint64_t size_bytes, uint64_t *charged_out,
		struct backend_fault *fault);
/* Memory on a device at once, which its own thread makes; NULL: another one does. 0, or 1 with a
 * fault. */
int device_admit(struct session *session, const struct scheduler_device *device,
		 uint64_t size_bytes, struct backend_fault *fault);
/* A buffer's limit and its place in an arena (none for 0 bytes): 0, or 1 with a fault. */
int buffer_admit(struct session *session, uint64_t charged_bytes, uint64_t size_bytes,
		 const Sycl__V1__ArenaRange *range, struct arena **arena_out, void **host_out,
		 struct backend_fault *fault);
/* The buffer has its memory. From now on the buffer holds the memory that buffer_admit allowed. */
void buffer_settle(struct buffer *buffer, uint64_t charged_bytes, uint64_t size_bytes,
		   struct arena *arena);

/* The sub-devices among a new context's devices are held. -ENOMEM. */
int context_hold_sub_devices(struct session *session, struct context *context);
/* objects.c: checks that these devices fit one context. 0, or 1 with a fault. */
int context_check_devices(struct session *session, const uint32_t *list, size_t list_count,
			  struct backend_fault *fault);
/* Gives a new context these devices. -ENOMEM. */
int context_set_devices(struct context *context, const uint32_t *list, size_t count);
/* Sets the context and the device of a queue. */
void queue_settle(struct queue *queue, const struct context_device *found, uint32_t device_index);
/* image.c: a description, as a client wrote it. 0, or 1 with a fault. */
int image_read(uint32_t format, bool is_layered, size_t dimensions, const uint64_t *size,
	       struct backend_image *image_out, uint64_t *bytes_out, struct backend_fault *fault);

#endif
