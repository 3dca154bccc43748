/*
 * When a command began, while it runs. PoCL 3.1 gives the state of a command at any time, and its
 * times only when it has ended. But it runs callbacks for CL_RUNNING on the thread that begins the
 * command. So a timed command requests that call, which notes the time.
 */
#ifndef SYCL_BACKENDS_OPENCL_BEGIN_H
#define SYCL_BACKENDS_OPENCL_BEGIN_H

#include "opencl/driver/objects.h"

/* For a command that was sent and not pushed yet. Without memory, or if the driver does not report
 * it, the beginning is known only at the end of the command. */
void opencl_begin_watch(const struct backend_lane *lane, struct opencl_pending *pending);
/* The lane does not need it any more; the driver may still call. NULL: nothing. */
void opencl_begin_drop(struct opencl_begin *begin);
/* backend_ops' begun. */
bool opencl_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

#endif
