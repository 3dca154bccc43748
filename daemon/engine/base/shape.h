/*
 * A command group that a session has sent once and sends again: decoded, with room for what
 * changes. A RESUBMIT record (shared/resubmit.h) is written into it; then it is a command group
 * like any other, and is checked like any other. So a shape holds ids, no objects: nothing lives
 * longer for it, and an id that names nothing any more is refused as always. Front thread; never
 * blocks. Knows no session.
 */
#ifndef SYCL_ENGINE_SHAPE_H
#define SYCL_ENGINE_SHAPE_H

#include "command.pb-c.h"

#include <stdbool.h>

struct shape;

/*
 * Copies what the message says; its slot, number and events are replaced each time. -EPROTO: no
 * launch, images or samplers, or more than a shape may have. -ENOMEM.
 */
int shape_create(const Sycl__V1__CommandGroup *message, struct shape **shape_out);
/* Accepts NULL; returns NULL. */
struct shape *shape_free(struct shape *shape);
uint32_t shape_generation(const struct shape *shape);

/*
 * The group that a RESUBMIT record describes; good until the next call. `bytes`: all of the
 * record's payload, in private memory, not aligned. -EPROTO: its length, its flags or its
 * generation are not this shape's.
 */
int shape_apply(struct shape *shape, const void *bytes, size_t count,
		const Sycl__V1__CommandGroup **group_out);

/*
 * Bursts: groups of one shape, one behind the other, that may be taken as one task. Whether the
 * shape is fit for that: it names no event, each buffer once at most, asks for nothing special, has
 * values of SHAPE_BURST_VALUE_BYTES at most, and runs.
 */
#define SHAPE_BURST_VALUE_BYTES 64u
bool shape_makes_bursts(const struct shape *shape);
/*
 * Does a RESUBMIT record (as for shape_apply) ask for the group that was applied last once more, as
 * group `number`, with nothing else that is new but values, and without a slot of its own? Then
 * `values_out` is set to shape_value_bytes of them, in the record.
 */
bool shape_repeats(const struct shape *shape, const void *bytes, size_t count, uint64_t number,
		   const uint8_t **values_out);
uint32_t shape_value_bytes(const struct shape *shape);

#endif
