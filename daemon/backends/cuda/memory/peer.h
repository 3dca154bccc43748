/*
 * Copies from one GPU to another. There are four ways. The first way that works is used, or the one
 * that the settings force:
 *
 *   direct    the destination's stream reads the source's memory; access is enabled only for
 *             memory that is used
 *   peer      cuMemcpyPeerAsync without access: the driver finds a way
 *   managed   through two blocks of managed memory that move between the GPUs
 *   host      through two blocks of pinned host memory
 *
 * The last two read on a stream of the source, with events between that stream and the lane.
 * Nothing waits on the host, and stream 0 is never used.
 */
#ifndef SYCL_BACKENDS_CUDA_PEER_H
#define SYCL_BACKENDS_CUDA_PEER_H

#include "cuda/memory/memory.h"

/* Sends COPY_PEER: the lane's device is the destination; the source's device is open. Device thread
 * of the destination. -ENOTSUP: the forced way does not exist between the two devices. */
int cuda_peer_copy(struct backend_lane *lane, const struct backend_command *command,
		   struct backend_fault *fault_out);

/* Sends the same copy for device USM: from an address of `source` to an address of the lane's
 * device. `is_pooled`: `from` is in the pool of `source`. */
int cuda_peer_copy_usm(struct backend_lane *lane, struct backend_device *source, bool is_pooled,
		       uint64_t from, uint64_t to, uint64_t size_bytes,
		       struct backend_fault *fault_out);

/* Tries to give the destination's kernels and copies direct access to another device's memory.
 * True: they have access. Destination's thread. */
bool cuda_peer_reach(struct backend_device *destination, struct backend_memory *memory);

/* The way that copies from `source` use; AUTO: there was no copy yet. Device thread of the
 * destination. */
enum cuda_peer_path cuda_peer_path_of(struct backend_device *destination,
				      const struct backend_device *source);

/* The number of operations that COPY_PEER puts on the lane's stream, once the way is known. */
uint32_t cuda_peer_operations(struct backend_device *destination,
			      const struct backend_command *command);

/* Frees all links for copies to this device. */
void cuda_peers_close(struct backend_device *device);

#endif
