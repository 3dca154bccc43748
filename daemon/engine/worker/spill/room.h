/*
 * Room on a device whose memory several engines use (device thread). Where the device has no room
 * for a memory, the engine asks the supervisor for some, before it spills its own memory. Other
 * engines give, as far as they hold more than their part. The command waits for the answer like
 * other commands that wait for room, for ROOM_ASK_MOST_NS and as much longer as copies take. Then
 * the memory is tried again. Without room it goes on as if there had been no answer. After an
 * answer that brought nothing the engine asks no more for ROOM_REFUSED_NS.
 *
 * In the other direction a request comes. Memory that the backend keeps for reuse is given back to
 * the device. Then memories leave as if there were no room for another one: what no command in
 * flight uses, what is needed last first. When they have left, the figures are reported. For a
 * while afterwards the engine takes no more memory of the device, and its commands that need some
 * get the room of its own memory. Otherwise it would take back what it has just given.
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
/* For figures alone, the backend gives its kept memory back this often at most. */
#define ROOM_TRIM_NS  100000000u
#define ROOM_AGAIN_NS 1000000u /* time between two tries to find memory that may leave */

/* A memory was made or freed. held_bytes counts it if it is memory of a session. */
void worker_room_note_made(struct scheduler_device *device, const struct sched_memory *memory);
void worker_room_note_freed(struct scheduler_device *device, const struct sched_memory *memory);
void worker_room_note_bytes_freed(struct scheduler_device *device, uint64_t size_bytes);

/* There is no room for so many bytes. Returns true if the command should wait for an answer. */
bool worker_room_awaits(struct scheduler_device *device, uint64_t bytes);
/* An answer is awaited: meanwhile no command fails for want of room. */
bool worker_room_is_asking(const struct scheduler_device *device);
/* A memory has been made after all. */
void worker_room_found(struct scheduler_device *device);
/* May no more memory of the device be taken now? */
bool worker_room_is_held(const struct scheduler_device *device);
/* A memory that was to leave for a request has left, or stays. */
void worker_room_left(struct scheduler_device *device, uint64_t size_bytes, bool has_left);
/* Serves answers and requests. True: something was done. */
bool worker_room_step(struct scheduler_device *device);
/* How long the device's thread may sleep: `ns` at most. */
uint64_t worker_room_wait_ns(const struct scheduler_device *device, uint64_t ns);

#endif
