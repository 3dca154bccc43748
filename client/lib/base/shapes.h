/*
 * The shapes of command groups that this session has sent, so that a group of a known one travels
 * as a RESUBMIT record (shared/resubmit.h). A shape is everything about a group but its number, its
 * slot, its events, the values of its arguments and its USM addresses. It is held here as a key:
 * words that are equal when, and only when, the messages would be. A key has ids, no objects: it
 * keeps nothing alive, and the service looks each id up again for each group, as for a message.
 *
 *   unknown --sent--> seen --sent again: the message defines it--> defined --sent again--> a record
 *      ^                                                              |
 *      +------------ another shape needs its place <------------------+
 *
 * A place is a number that the service keeps a shape under. A new shape in a place is defined, with
 * a generation of its own, before a record names it. So both sides drop the former shape at the
 * same record, and no request is needed. Called with the submit lock held.
 */
#ifndef SYCL_CLIENT_SHAPES_H
#define SYCL_CLIENT_SHAPES_H

#include "protocol_limits.h"

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_KEY_WORDS_MAX 128u /* groups that need more are sent as messages */
#define SHAPE_WAYS          4u   /* places where a key may be */
#define SHAPE_SETS          (SHAPES_MAX / SHAPE_WAYS)

/*
 * The words of a shape, one behind the other. The function that appends them checks the limit, and
 * then calls shape_key_end. Only shapes_find needs the sum, so a key is sealed just before it:
 * shapes_match_last needs none.
 */
struct shape_key {
	uint64_t sum; /* when sealed: of the products of words that stand in a pair, each with a
			 number of its place's own */
	uint32_t count;
	uint64_t words[SHAPE_KEY_WORDS_MAX + 1]; /* the last one is never used but to seal */
};

struct shape_place {
	uint64_t sum, used;  /* used: when, by shapes.clock */
	uint32_t generation; /* 0: not defined */
	uint32_t count;
	uint64_t words[]; /* SHAPE_KEY_WORDS_MAX */
};

struct shapes {
	bool agreed_on;
	uint32_t generation; /* the last one that was given out */
	uint64_t clock;
	struct shape_place *places[SHAPES_MAX]; /* made on demand */
};

enum shape_use {
	SHAPE_MESSAGE, /* send the group as a message, nothing more */
	SHAPE_DEFINE,  /* send it as a message that defines the shape; then call shapes_defined */
	SHAPE_KNOWN,   /* send a record */
};

/* The place and generation that a record names. */
struct shape_name {
	uint32_t shape, generation;
};

__extension__ typedef unsigned __int128 shape_product;

/* The words end at `end`, behind which one more may be written. */
static inline void shape_key_end(struct shape_key *key, uint64_t *end)
{
	*end = 0; /* what the last one stands in a pair with */
	key->count = (uint32_t)(end - key->words);
}

static inline void shape_key_seal(struct shape_key *key)
{
	const uint64_t *end = key->words + key->count;
	uint64_t sum = 0, place = 0x9e3779b97f4a7c15ull;
	for (const uint64_t *word = key->words; word < end; word += 2) {
		shape_product product = (shape_product)(word[0] ^ place) * (word[1] ^ ~place);
		sum += (uint64_t)product ^ (uint64_t)(product >> 64);
		place += 0xc2b2ae3d27d4eb4eull;
	}
	key->sum = sum;
}

void shapes_fini(struct shapes *shapes);
/*
 * Is the shape of that number (0: none) defined, and equal to the key? Then the group travels as a
 * record. Most groups of a kernel are like the one before, whose number `struct kernel` keeps.
 */
bool shapes_match_last(struct shapes *shapes, const struct shape_key *key, uint32_t shape,
		       struct shape_name *name_out);
/* Does the name stand for the shape that it was given for? */
bool shapes_still_has(struct shapes *shapes, struct shape_name name);
/* How to send a group of this key, which is sealed. `name_out`: of SHAPE_DEFINE and SHAPE_KNOWN. */
enum shape_use shapes_find(struct shapes *shapes, const struct shape_key *key,
			   struct shape_name *name_out);
/* The message with that definition is in the ring. */
void shapes_defined(struct shapes *shapes, struct shape_name name);

#endif
