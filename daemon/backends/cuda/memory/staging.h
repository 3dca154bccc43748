/*
 * Transfers between a device and host memory that is not registered. They go in pieces through
 * pinned slots. A transfer is put on the lane's stream piece by piece. A piece is a host function
 * that waits until the copy thread has filled the slot, and then the device's copy from the slot.
 * For READ the order is reversed. The host functions call no driver. They wait only for the copy
 * thread, which waits for nothing. So no call here holds up a device thread, and the lane's order
 * is the stream's. While the device moves one piece, the copy thread works on the next.
 *
 * A host function runs on a thread of the driver that all lanes share, so two staged transfers slow
 * each other down. A stream takes few host functions before it makes its caller wait (lane/room.h).
 * So a long transfer is sent as its pieces are done.
 */
#ifndef SYCL_BACKENDS_CUDA_STAGING_H
#define SYCL_BACKENDS_CUDA_STAGING_H

#include "copy_box.h"
#include "cuda/driver/rect.h"
#include "cuda/memory/memory.h"

#define CUDA_STAGING_BYTES ((size_t)16 << 20) /* slots of a device */

struct cuda_staging;

/*
 * struct cuda_finish: a function that must be run once, by cuda_finish_run, which also frees it.
 * The device's thread runs it when the command is complete or the device is lost, before the engine
 * gets the completion. The function returns the staging slots. After it, no thread touches the
 * caller's host memory.
 */
void cuda_finish_run(struct cuda_finish *finish);

/* The number of host functions that a stream may have in flight. The driver takes 55. A transfer
 * starts only if fewer than CUDA_HOST_FUNCTIONS_MOST are in flight, and may add as many. */
#define CUDA_HOST_FUNCTIONS_MOST 24u
/*
 * The most pieces of the transfer that are on the stream at one time. Each needs a host function.
 */
uint32_t cuda_finish_pieces(const struct cuda_finish *finish);
/* True if all of the transfer is on the stream. */
bool cuda_finish_is_sent(const struct cuda_finish *finish);
/*
 * Puts more of the transfer on the stream, behind the pieces already there. Sends as many pieces as
 * may be in flight, or `all`, which may wait for the device. After a failure no more can be sent.
 * Device thread.
 */
CUresult cuda_finish_send(struct backend_lane *lane, struct cuda_finish *finish, bool all);

/* Makes the staging state and pins its slots. Device thread. */
int cuda_staging_open(struct backend_device *device, struct cuda_staging **staging_out,
		      struct backend_fault *fault_out);
/* All lanes are freed before this call. NULL is allowed. */
void cuda_staging_close(struct cuda_staging *staging);

/*
 * Puts the transfer on the lane's stream, or the beginning of a long one (cuda_finish_send).
 * `to_device`: from host to device, else back. `box`: the bytes to move; not empty, and simple
 * (copy_box_simplify) except for an image. *finish_out (cuda_finish_run) must be run once, after
 * the command is complete or the device is lost. After that the host's memory is not touched any
 * more. Device thread.
 */
int cuda_staging_enqueue(struct backend_lane *lane, bool to_device, struct cuda_rect_side device,
			 void *host, const struct copy_box *box, struct cuda_finish **finish_out,
			 struct backend_fault *fault_out);

/* Slots in pinned memory, with the context current. */
CUresult cuda_slots_pin(const struct cuda_library *cu, void **slots_out);

#endif
