/*
 * When memory objects are released. To free memory, NVIDIA's driver (580) waits for all commands in
 * flight, as cuMemFree does, and holds a lock meanwhile. A command in flight may wait for an event
 * of another queue. A thread of the driver lets that command continue, and needs the same lock. So
 * a release beside commands in flight may never return. On a device whose memory is not the host's,
 * memory is released when nothing is in flight: at once, or in a quiet moment (backend.h). A
 * sub-buffer has no memory of its own and may be released at any time.
 *
 * Device thread.
 */
#ifndef SYCL_BACKENDS_OPENCL_LEAVING_H
#define SYCL_BACKENDS_OPENCL_LEAVING_H

#include "opencl/driver/objects.h"

/*
 * Releases the object, now or later, and frees `memory`. No command may still use it. Accepts NULL.
 */
void opencl_leave(struct backend_memory *memory);
/* Releases memory in the same way, for memory of commands that were sent but are not in their
 * lane's list yet. */
void opencl_leave_behind(struct backend_memory *memory);
/*
 * Call before memory is allocated. No program is charged for memory that waits for its release, so
 * its amount is bounded. 0: the amount is below the bound. -EAGAIN and a fault: the bound is
 * reached, and a quiet moment has been requested, in which the memory will be released.
 */
int opencl_leaving_check(struct backend_device *device, struct backend_fault *fault_out);
/*
 * Call when the driver has refused an allocation with `fault`, whose errno is `error`. 0: memory
 * was released, and the allocation can be repeated. -EAGAIN: a quiet moment has been requested, in
 * which memory will be released. `error`: no memory waits for its release, or the fault has another
 * reason.
 */
int opencl_leaving_make_room(struct backend_device *device, int error,
			     const struct backend_fault *fault);

/* backend.h */
bool opencl_quiet_wanted(struct backend_device *device);
/* Releases all objects that wait. Nothing is in flight. Also called when the device closes. */
void opencl_quiet(struct backend_device *device);

#endif
