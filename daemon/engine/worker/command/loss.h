/* A device is lost (device thread). */
#ifndef SYCL_ENGINE_WORKER_LOSS_H
#define SYCL_ENGINE_WORKER_LOSS_H

struct backend_completion;
struct backend_fault;
struct worker;
struct worker_lane;
struct scheduler_device;

/* The device cannot be used, from now on or from the beginning. */
void worker_disable(struct scheduler_device *device, const struct backend_fault *fault,
		    int negative_errno);
/* All commands on the device fail now, and all that are sent to it later. Nothing happens to a
 * device that is lost already. */
void worker_lose(struct scheduler_device *device, const struct backend_fault *fault);
/* A completion of this lane reports that the device is lost. Its task ends with all the others,
 * after all tasks that may have been running were marked as suspects. There may be none. */
void worker_loss_note(struct worker *worker, const struct worker_lane *lane,
		      const struct backend_completion *completion);

#endif
