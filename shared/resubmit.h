/*
 * The payload of a RESUBMIT record: a command group of a shape that an earlier message has defined
 * (CommandGroup.shape), with everything that differs. Its words have fixed widths and the byte
 * order of the machine. How many there are follows from the shape alone:
 *
 *   struct resubmit_record
 *   struct resubmit_event   one for each of the shape's depends_on, in its order
 *   uint64_t                one for each USM argument, in the order of arguments: its address; or
 *                           one if an end of a copy is USM
 *   uint8_t                 the values of all value arguments, in the order of arguments,
 *                           without gaps
 */
#ifndef SYCL_SHARED_RESUBMIT_H
#define SYCL_SHARED_RESUBMIT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct resubmit_record {
	uint32_t shape;            /* 1 to SHAPES_MAX */
	uint32_t generation;       /* generation of the shape's definition */
	uint64_t group;            /* group number as in CommandGroup */
	uint32_t flags;            /* RESUBMIT_*; the other bits 0 */
	uint32_t slot, slot_value; /* with RESUBMIT_WANTS_SLOT; else 0 */
	uint32_t rest_bytes;       /* bytes of the record behind this head */
};

struct resubmit_event {
	uint64_t queue, group; /* queue and group as in EventRef */
};

#define RESUBMIT_WANTS_SLOT 1u
#define RESUBMIT_HAS_EVENT  2u /* CommandGroup.has_event; only with feature bit 10 */

static_assert(sizeof(struct resubmit_record) == 32, "part of the layout");
static_assert(offsetof(struct resubmit_record, group) == 8, "part of the layout");
static_assert(offsetof(struct resubmit_record, rest_bytes) == 28, "part of the layout");
static_assert(sizeof(struct resubmit_event) == 16, "part of the layout");

#endif
