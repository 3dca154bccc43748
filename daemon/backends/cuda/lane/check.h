/*
 * Launches in checking mode (portable_check.h). The block of words that a kernel gets is memory of
 * its lane, with the table for races behind it: the launches of a lane do not overlap. Each launch
 * writes its words into the block first, and copies what the kernel has found back behind the
 * kernel. Both copies use pinned words of the launch's own. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_CHECK_H
#define SYCL_BACKENDS_CUDA_CHECK_H

#include "cuda/lane/send_context.h"

/* One launch in flight. */
struct cuda_check;

/*
 * For a prepared launch with `check`: puts on the lane's stream what comes before the kernel, and
 * gives the kernel the block's address. Fills ranges without contents (no_init) with a pattern.
 * Sets context->pending.check, and counts the operations of cuda_check_read, too. -ENOMEM, also if
 * cuda_check_is_full. After a failure the pending command keeps the check, as copies may be in
 * flight.
 */
int cuda_check_begin(struct cuda_send_context *context, const struct cuda_launch *launch,
		     struct backend_fault *fault_out);
/* Puts the copy back on the stream, behind the kernel. If that fails, the command fails. */
void cuda_check_read(struct cuda_send_context *context);
/* The launch has ended: the fault is about its first wrong access. If there was none, it is
 * untouched, and the direct completion is written. */
void cuda_check_end(const struct cuda_pending *pending, struct backend_fault *fault_out);
/* Nothing on the device uses the check any more. Accepts NULL. */
void cuda_check_give(struct backend_device *device, struct cuda_check *check);

/* True if the launches of one more burst cannot all be checked now. */
bool cuda_check_is_full(const struct backend_device *device);
/* The lane is idle. */
void cuda_check_lane_free(struct cuda_lane_state *state);
/* All lanes are freed. */
void cuda_checks_close(struct backend_device *device);

#endif
