/*
 * Host memory for spilled device memory (device thread). It comes in pieces, so that a large memory
 * needs no long range and no piece takes long to pin. There are few sizes, so that pieces are
 * reused. A new piece serves at once. A thread pins it in the background, unless it is small,
 * because pinning may wait for what runs on the device. A pinned piece is copied by the device
 * itself. Freed pieces are kept, pinned, for the next memory. All devices together keep at most a
 * quarter of what may be spilled, and none after SPILL_KEEP_NS without a spill or a return.
 *
 * Memory in use counts in scheduler.spill_bytes, which has a limit. Together with kept pieces it is
 * above that limit only until some are freed. While there are other sessions, one session gets no
 * more than is left for them. That is half of all for the first that needs much, half of the rest
 * for the next.
 */
#ifndef SYCL_ENGINE_WORKER_SPILL_HOST_H
#define SYCL_ENGINE_WORKER_SPILL_HOST_H

#include "worker/state/spill.h"

#include <stdbool.h>
#include <stdint.h>

#define SPILL_PIECE_BYTES (8u << 20) /* size of a piece, in whole pages of any machine */
/* A memory has no more pieces than this: larger memory gets pieces of twice the size, and so on. */
#define SPILL_PIECES 128u
/* A memory has so many pieces at least: smaller memory gets pieces of half the size, and so on, if
 * they are then worth pinning. */
#define SPILL_PIECES_WANTED 8u
/* Pieces of at least so many times the smallest memory that is spilled are pinned. */
#define SPILL_PIN_PART 16u
#define SPILL_KEEP_NS  2000000000u

void spill_host_open(struct spill_host *host, struct scheduler_device *device);
/* Nothing uses any piece. */
void spill_host_close(struct spill_host *host);
/* Pieces for so much, all but the last full, or with `is_whole` one. NULL: there is no memory, or
 * too much is in use, or for the claim's owner. */
struct spill_piece *spill_host_take(struct spill_host *host, const struct spill_claim *claim,
				    uint64_t size_bytes, bool is_whole);
/* Gives back pieces that nothing uses any more. NULL is allowed. */
void spill_host_give(struct spill_host *host, struct spill_piece *pieces);
/* Gives up pieces that a lost device may use for ever: they stay mapped. */
void spill_host_lose(struct spill_host *host, struct spill_piece *pieces);

#endif
