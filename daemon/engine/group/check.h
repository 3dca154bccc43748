/*
 * From a decoded command group to a task request: every id, index, mode, size and count is checked
 * here, whatever the library has checked. Front thread.
 */
#ifndef SYCL_ENGINE_GROUP_CHECK_H
#define SYCL_ENGINE_GROUP_CHECK_H

#include "command.pb-c.h"
#include "protocol_limits.h"
#include "scheduler/public/scheduler.h"
#include "session/group_scratch.h"

struct session;
struct queue;
struct arena;
struct buffer;

int group_scratch_init(struct group_scratch *scratch);
void group_scratch_fini(struct group_scratch *scratch);
/* -ENOMEM */
int group_scratch_after(struct group_scratch *scratch, struct task *task);
/* A launch of a burst: task_launch_bit. */
int group_scratch_after_launch(struct group_scratch *scratch, struct task *task, uint32_t launch);
/* All tasks of `after` are put aside as `before`; the first `data` of them pass failures on.
 * -ENOMEM */
int group_scratch_keep_before(struct group_scratch *scratch, uint32_t data);
/* `before` again at the end of `after`; how many of it only order. -ENOMEM */
int group_scratch_put_before(struct group_scratch *scratch, uint32_t *order_out);

/*
 * These return 0; 1 with a fault when the group is refused; a negative errno when the session will
 * close.
 */
int group_check_requirements(struct session *session, const Sycl__V1__CommandGroup *message,
			     struct task_request *request, struct backend_fault *fault);
/* True if two buffers that were marked with this stamp have the same memory. */
bool group_names_twice(uint64_t stamp, struct buffer *buffer);
/*
 * Checks the ranges of a requirement, as a client wrote them, against the size of its buffer. There
 * is a range that orders, and inside it the range that is accessed. A range of two zeros becomes
 * the whole.
 */
int group_check_ranges(struct task_requirement *requirement, uint64_t buffer_bytes,
		       struct backend_fault *fault);
int group_check_dependencies(struct session *session, const struct queue *queue,
			     const Sycl__V1__CommandGroup *message, struct task_request *request,
			     struct backend_fault *fault);
/* action.c: the action, whatever it is but a graph's launch. A table there has one of the functions
 * below for each kind of action. */
int group_check_action(struct session *session, const struct queue *queue,
		       const Sycl__V1__CommandGroup *group, struct task_request *request,
		       struct backend_fault *fault);
int group_check_launch(struct session *session, const struct queue *queue,
		       const Sycl__V1__CommandGroup *group, struct task_request *request,
		       struct backend_fault *fault);
int group_check_copy(struct session *session, const struct queue *queue,
		     const Sycl__V1__CommandGroup *group, struct task_request *request,
		     struct backend_fault *fault);
int group_check_fill(struct session *session, const struct queue *queue,
		     const Sycl__V1__CommandGroup *group, struct task_request *request,
		     struct backend_fault *fault);
/* transfer.c: checks a fill's pattern, also of USM. 0, or the result of fault_set. */
int group_check_fill_pattern(uint64_t size_bytes, size_t pattern_bytes,
			     struct backend_fault *fault);
int group_check_host_update(struct session *session, const struct queue *queue,
			    const Sycl__V1__CommandGroup *group, struct task_request *request,
			    struct backend_fault *fault);
/*
 * poison.c: the data that a refused group would have written is lost, and tasks that need it fail.
 */
void group_poison(struct session *session, const Sycl__V1__CommandGroup *message,
		  const struct backend_fault *fault);
/* The same step by step, of requirements of several groups. */
struct group_poisoning {
	struct session *session;
	struct sched_cause *cause;
	uint64_t stamp;
	uint32_t parts; /* requirements, and parts of buffers, that were visited */
	bool whole;     /* each buffer as a whole, once */
};
struct group_poisoning group_poisoning_begin(struct session *session,
					     const struct backend_fault *fault, bool whole);
void group_poisoning_add(struct group_poisoning *poisoning, const Sycl__V1__Requirement *message);
void group_poisoning_end(const struct group_poisoning *poisoning);
/* action.c: the client's fault for a refusal of task_submit or host_access_submit. 1. */
int group_submit_fault(int error, const char *what, struct backend_fault *fault);
/* Adds a host task to the session; its slot was checked before, and its requirements are in the
 * scratch. */
int group_check_host_task(struct session *session, const struct queue *queue,
			  const Sycl__V1__CommandGroup *group, struct task_request *request,
			  struct backend_fault *fault);
/* native_command.c: by itself, and as a node of a graph. */
int group_check_native_command(struct session *session, const struct queue *queue,
			       const Sycl__V1__CommandGroup *group, struct task_request *request,
			       struct backend_fault *fault);
int group_check_native_node(struct session *session, const struct queue *queue,
			    const Sycl__V1__CommandGroup *group, struct task_request *request,
			    struct backend_fault *fault);
/*
 * Called for a group that did not become a task: its function, if it has one, will never be called.
 */
void group_native_command_refused(const struct session *session,
				  const Sycl__V1__CommandGroup *message);
/* image.c. For an image: the requirement must be for the whole image, and it orders as a whole. For
 * a buffer: no check. */
int group_check_image_whole(const struct buffer *buffer, const struct task_requirement *requirement,
			    struct backend_fault *fault);
int group_check_no_image(const struct buffer *buffer, struct backend_fault *fault);
/* `facts`: the kernel's declaration of the argument. */
int group_check_image_argument(struct group_scratch *scratch, const struct queue *queue,
			       const struct task_request *request,
			       const Sycl__V1__Argument *message,
			       const struct backend_argument_facts *facts, uint32_t index,
			       struct task_argument *argument, struct backend_fault *fault);
int group_check_sampler_argument(const Sycl__V1__Argument *message, uint32_t index,
				 struct task_argument *argument, struct backend_fault *fault);
/* A kernel in PTX or CUDA C++ takes an image as a word of 64 bits. Only its backend can find out
 * which words are images. */
bool group_image_fits_word(const struct backend_argument_facts *facts,
			   const struct task_argument *argument);
bool group_copies_image(const struct group_scratch *scratch, const struct task_request *request,
			const Sycl__V1__Copy *copy);
int group_check_image_copy(struct session *session, const struct queue *queue,
			   const Sycl__V1__Copy *copy, struct task_request *request,
			   struct backend_fault *fault);
/* The queue's device has images of this kind, format and size; views of buffers. */
int group_check_image_device(const struct queue *queue, const struct backend_image *image,
			     struct backend_fault *fault);
int group_check_view_device(const struct queue *queue, const struct backend_image *image,
			    struct backend_fault *fault);
/* image_box.c: a part of an image. `source` and `destination`: the images, NULL for another end. */
int group_check_image_box(struct session *session, const struct queue *queue,
			  const Sycl__V1__Copy *copy, const struct buffer *source,
			  const struct buffer *destination, struct task_request *request,
			  struct backend_fault *fault);
int group_check_image_fill(struct session *session, const struct queue *queue,
			   const Sycl__V1__Fill *fill, struct task_request *request,
			   struct backend_fault *fault);
int group_check_image_view(struct group_scratch *scratch, const struct queue *queue,
			   const Sycl__V1__ImageArgument *message, uint32_t index,
			   struct task_argument *argument, struct backend_fault *fault);
/* ends.c: every byte must be inside the requirement, whose mode allows the access. */
int group_check_place(const struct group_scratch *scratch, const struct task_request *request,
		      uint32_t index, uint64_t offset, uint64_t size, uint32_t needed_bit,
		      struct backend_fault *fault);
/* An end of a copy: a requirement, or memory of the host. */
int group_transfer_check_end(struct session *session, const struct queue *queue,
			     const Sycl__V1__MemoryEnd *message, uint64_t size, uint32_t needed_bit,
			     struct task_request *request, int32_t *index_out, uint64_t *offset_out,
			     struct backend_fault *fault);
/* usm.c. `index`: of the argument, for people. */
int group_check_usm_argument(struct session *session, const struct queue *queue, uint64_t address,
			     uint32_t index, struct task_argument *argument,
			     struct backend_fault *fault);
/*
 * Checks the bytes that a node of a graph reads as its condition. `what`: for the error sentence.
 */
int group_check_usm_word(struct session *session, const struct queue *queue, uint64_t address,
			 uint64_t size_bytes, const char *what, const void **pointer_out,
			 struct backend_fault *fault);
/* Checks the bytes in host memory that a copy from or to a buffer reads or writes. */
int group_check_usm_host(struct session *session, const struct queue *queue, uint64_t address,
			 uint64_t size_bytes, const char *what, void **pointer_out,
			 struct backend_fault *fault);
/* condition.c: only for a node of a graph. */
int group_check_condition(struct session *session, const struct queue *queue,
			  const Sycl__V1__CommandGroup *group, struct task_request *request,
			  struct backend_fault *fault);
int group_check_usm_copy(struct session *session, const struct queue *queue,
			 const Sycl__V1__CommandGroup *group, struct task_request *request,
			 struct backend_fault *fault);
int group_check_usm_fill(struct session *session, const struct queue *queue,
			 const Sycl__V1__CommandGroup *group, struct task_request *request,
			 struct backend_fault *fault);
int group_check_usm_prefetch(struct session *session, const struct queue *queue,
			     const Sycl__V1__CommandGroup *group, struct task_request *request,
			     struct backend_fault *fault);
int group_check_usm_advise(struct session *session, const struct queue *queue,
			   const Sycl__V1__CommandGroup *group, struct task_request *request,
			   struct backend_fault *fault);
/* A shared event is recorded or waited for. */
int group_check_event(struct session *session, const struct queue *queue,
		      const Sycl__V1__CommandGroup *group, struct task_request *request,
		      struct backend_fault *fault);

#endif
