/*
 * A command group that a session has sent once and sends again: decoded, with room for what
 * changes. A RESUBMIT record (shared/resubmit.h) is written into it; then it is a command group
 * like any other, and is checked like any other. So a shape holds ids, no objects. It keeps no
 * object alive, and the id of a freed object is refused as always. Front thread; never blocks.
 * Independent of sessions.
 */
#ifndef SYCL_ENGINE_SHAPE_H
#define SYCL_ENGINE_SHAPE_H

#include "command.pb-c.h"

#include <stdbool.h>

struct shape;

/*
 * Copies the message; its slot, number and events are replaced each time. -EPROTO: the group is
 * neither a launch nor a copy, or is larger than a shape may be. Nor may it have images or samplers
 * as arguments, or a copy's end in an arena. -ENOMEM.
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
 * A burst is a row of groups of one shape that may be taken as one task. True if the shape allows
 * that: it names no event and each buffer once at most. It has no special properties, values of
 * SHAPE_BURST_VALUE_BYTES at most, and a kernel that runs.
 */
#define SHAPE_BURST_VALUE_BYTES 64u
bool shape_makes_bursts(const struct shape *shape);
/*
 * True if a RESUBMIT record (as for shape_apply) repeats the last group that was applied, as group
 * `number`. Only the values may differ, and the record has no slot. Then `values_out` points to
 * shape_value_bytes of values in the record.
 */
bool shape_repeats(const struct shape *shape, const void *bytes, size_t count, uint64_t number,
		   const uint8_t **values_out);
uint32_t shape_value_bytes(const struct shape *shape);
/* The values of the last group that was applied. */
const uint8_t *shape_values(const struct shape *shape);
/* As shape_repeats, for a shape that makes bursts and has no USM addresses, whatever group was
 * applied last. */
bool shape_joins(const struct shape *shape, const void *bytes, size_t count, uint64_t number,
		 const uint8_t **values_out);
bool shape_has_usm(const struct shape *shape);

#endif
