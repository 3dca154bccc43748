/*
 * The time at which a command began, while it runs. PoCL 3.1 gives the state of a command at any
 * time, but its times only when it has ended. However, it runs callbacks for CL_RUNNING on the
 * thread that begins the command. So a timed command requests that call, which notes the time.
 */
#ifndef SYCL_BACKENDS_OPENCL_BEGIN_H
#define SYCL_BACKENDS_OPENCL_BEGIN_H

#include "opencl/driver/objects.h"

/* Call for a command that was sent and not pushed yet. Without memory, or if the driver does not
 * report the beginning, it is known only at the end of the command. */
void opencl_begin_watch(const struct backend_lane *lane, struct opencl_pending *pending);
/* Drops the lane's reference; the driver may still call. Accepts NULL. */
void opencl_begin_drop(struct opencl_begin *begin);
/* backend_ops' begun. */
bool opencl_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

#endif
