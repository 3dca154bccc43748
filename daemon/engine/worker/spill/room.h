/*
 * Room on a device whose memory several engines use (device thread). If the device has no room for
 * a memory, the engine requests room from the supervisor before it spills its own memory. Engines
 * that hold more than their part give room. The command waits for the answer like other commands
 * that wait for room, for ROOM_ASK_MOST_NS and as much longer as copies take. Then the engine tries
 * again to make the memory. If there is still no room, it spills as without an answer. After an
 * answer that brought no room, the engine requests none for ROOM_REFUSED_NS.
 *
 * In the other direction the supervisor requests room from this engine. The backend returns the
 * memory that it keeps for reuse to the device. Then memories leave as if there were no room for
 * another one. Only memories that no command in flight uses leave, and of these first the ones that
 * are needed last. When they have left, the figures are reported. For a while afterwards the engine
 * takes no more memory of the device, and its commands get the room of its own memory. Otherwise
 * the engine would take back the room that it has just given.
 */
#ifndef SYCL_ENGINE_WORKER_SPILL_ROOM_H
#define SYCL_ENGINE_WORKER_SPILL_ROOM_H

#include "worker/state/room.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_memory;
struct scheduler_device;

#define ROOM_ASK_MOST_NS  4000000000u
#define ROOM_BYTES_PER_NS 4u
#define ROOM_REFUSED_NS   200000000u
#define ROOM_TRIES        3u
/* If only figures are requested, the backend returns its kept memory at most this often. */
#define ROOM_TRIM_NS  100000000u
#define ROOM_AGAIN_NS 1000000u /* time between two tries to find memory that may leave */

/* A memory was made or freed. held_bytes counts it if it is memory of a session. */
void worker_room_note_made(struct scheduler_device *device, const struct sched_memory *memory);
void worker_room_note_freed(struct scheduler_device *device, const struct sched_memory *memory);
void worker_room_note_bytes_freed(struct scheduler_device *device, uint64_t size_bytes);

/* Called when there is no room for so many bytes. True: the command should wait for an answer. */
bool worker_room_awaits(struct scheduler_device *device, uint64_t bytes);
/* True if an answer is awaited. Meanwhile no command fails for lack of room. */
bool worker_room_is_asking(const struct scheduler_device *device);
/* Called when a memory was made after all. */
void worker_room_found(struct scheduler_device *device);
/* True if the engine may take no more memory of the device now. */
bool worker_room_is_held(const struct scheduler_device *device);
/* Called when a memory that was to leave for a request has left, or stays. */
void worker_room_left(struct scheduler_device *device, uint64_t size_bytes, bool has_left);
/* Serves answers and requests. True: there was work to do. */
bool worker_room_step(struct scheduler_device *device);
/* The time for which the device's thread may sleep: `ns` at most. */
uint64_t worker_room_wait_ns(const struct scheduler_device *device, uint64_t ns);

#endif
