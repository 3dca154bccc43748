/* Launches in checking mode: the block of words that the kernel gets (portable_check.h). Device
 * thread. */
#ifndef SYCL_BACKENDS_OPENCL_CHECK_H
#define SYCL_BACKENDS_OPENCL_CHECK_H

#include "opencl/driver/objects.h"
#include "opencl/driver/waits.h"

struct opencl_check;

/*
 * For a prepared launch of a kernel with `has_check`: makes the block, sets it as the argument, and
 * fills ranges without contents (no_init) with a pattern, behind the events of the list. After a
 * failure, too, the caller frees the check: fills may be in flight.
 */
int opencl_check_begin(struct backend_lane *lane, cl_kernel prepared,
		       const struct backend_command *command, struct opencl_waits *list,
		       struct opencl_check **check_out, struct backend_fault *fault_out);
/* For a launch that has failed: gives the caller the event of the last fill, which has waited for
 * the others. NULL: no fill was sent. Accepts NULL. */
cl_event opencl_check_take_fill(struct opencl_check *check);
/* The launch has ended: the fault is about its first wrong access. Untouched if there was none. */
void opencl_check_end(struct backend_device *device, const struct opencl_pending *pending,
		      struct backend_fault *fault_out);
/* Accepts NULL, returns NULL. */
struct opencl_check *opencl_check_free(struct backend_device *device, struct opencl_check *check);

#endif
