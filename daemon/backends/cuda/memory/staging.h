/*
 * Transfers between a device and host memory that is not registered: through pinned slots, in
 * pieces. A transfer is put on the lane's stream piece by piece. A piece is a host
 * function that waits until the copy thread has brought the slot's bytes. Then comes the device's
 * copy out of it (the other way round for READ). The host functions call no driver and wait only
 * for the copy thread, which waits for nothing. So nothing here holds a device thread up, and the
 * lane's order is the stream's. While the device moves one piece the copy thread works on the next.
 *
 * A host function runs on a thread of the driver that all lanes share: two staged transfers slow
 * each other down. A stream takes few host functions before it makes its caller wait
 * (lane/room.h). So a long transfer is sent as its pieces are done.
 */
#ifndef SYCL_BACKENDS_CUDA_STAGING_H
#define SYCL_BACKENDS_CUDA_STAGING_H

#include "copy_box.h"
#include "cuda/driver/rect.h"
#include "cuda/memory/memory.h"

#define CUDA_STAGING_BYTES ((size_t)16 << 20) /* slots of a device */

struct cuda_staging;

/*
 * struct cuda_finish: a function that must be run once (cuda_finish_run, which ends it). The
 * device's thread does that when the command is complete or the device is lost, before the
 * completion goes to the engine. It gives staging back, and after it the caller's host memory is
 * never touched again.
 */
void cuda_finish_run(struct cuda_finish *finish);

/*
 * Functions of the host that a stream may have in flight. The driver takes 55, and one transfer
 * more is sent where there are fewer.
 */
#define CUDA_HOST_FUNCTIONS_MOST 24u
/* How many pieces of it are on the stream at one time, at most: a function of the host each. */
uint32_t cuda_finish_pieces(const struct cuda_finish *finish);
/* Is all of it on the stream? */
bool cuda_finish_is_sent(const struct cuda_finish *finish);
/*
 * Put more of it on the stream, behind what is there of it: as many pieces as may be in flight, or
 * `all`, which may wait for the device. After a failure no more can be sent. Device thread.
 */
CUresult cuda_finish_send(struct backend_lane *lane, struct cuda_finish *finish, bool all);

/* Pins its slots. Device thread. */
int cuda_staging_open(struct backend_device *device, struct cuda_staging **staging_out,
		      struct backend_fault *fault_out);
/* All lanes are free. NULL is allowed. */
void cuda_staging_close(struct cuda_staging *staging);

/*
 * Put it on the lane's stream, or of a long one the beginning (cuda_finish_send). `to_device`: from
 * host to device, else back. `box`: what is moved, simple (copy_box_simplify) but for an image, not
 * empty. *finish_out (cuda_finish_run) must be run once, after the command is complete or the
 * device lost; then the host's memory is not touched any more. Device thread.
 */
int cuda_staging_enqueue(struct backend_lane *lane, bool to_device, struct cuda_rect_side device,
			 void *host, const struct copy_box *box, struct cuda_finish **finish_out,
			 struct backend_fault *fault_out);

/* Slots in pinned memory, with the context current. */
CUresult cuda_slots_pin(const struct cuda_library *cu, void **slots_out);

#endif
