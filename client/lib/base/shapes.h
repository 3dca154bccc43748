/*
 * The shapes of command groups that this session has sent. A group of a known shape is sent as a
 * RESUBMIT record (shared/resubmit.h). A shape is everything about a group except its number, its
 * slot, its events, the values of its arguments and its USM addresses. It is kept as a key of
 * words, and two keys are equal exactly if the messages would be. A key has ids and no objects, so
 * it keeps no object alive. The service looks up each id for each group, as for a message.
 *
 *   unknown --sent--> sent once --sent again, defined by the message--> defined --> records
 *      ^                                                                  |
 *      +-------------- another shape needs its place <--------------------+
 *
 * A place is the number under which the service keeps a shape. A new shape in a place is defined,
 * with its own generation, before a record names it. So both sides drop the former shape at the
 * same record, and no request is needed. Called with the submit lock held.
 */
#ifndef SYCL_CLIENT_SHAPES_H
#define SYCL_CLIENT_SHAPES_H

#include "protocol_limits.h"

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_KEY_WORDS_MAX 128u /* larger groups are sent as messages */
#define SHAPE_WAYS          4u   /* number of places where a key may be */
#define SHAPE_SETS          (SHAPES_MAX / SHAPE_WAYS)

/* The words of a shape in order. The function that appends them checks the limit, and then calls
 * shape_key_end. Only shapes_find needs the sum, so the key is sealed just before that call. */
struct shape_key {
	/* When sealed: the sum of products. Each product multiplies two adjacent words, each
	 * changed by a number of its position. */
	uint64_t sum;
	uint32_t count;
	uint64_t words[SHAPE_KEY_WORDS_MAX + 1]; /* the last word is used for sealing only */
};

struct shape_place {
	uint64_t sum, used;  /* used: when, by shapes.clock */
	uint32_t generation; /* 0: not defined */
	uint32_t count;
	uint64_t words[]; /* SHAPE_KEY_WORDS_MAX */
};

struct shapes {
	bool agreed_on;
	uint32_t generation; /* the last one that was assigned */
	uint64_t clock;
	struct shape_place *places[SHAPES_MAX]; /* made on demand */
};

enum shape_use {
	SHAPE_MESSAGE, /* send the group as a plain message */
	SHAPE_DEFINE,  /* send a message that defines the shape; then call shapes_defined */
	SHAPE_KNOWN,   /* send a record */
};

/* The place and generation that a record names. */
struct shape_name {
	uint32_t shape, generation;
};

__extension__ typedef unsigned __int128 shape_product;

/* Ends the key at `end`. One more word may be written there. */
static inline void shape_key_end(struct shape_key *key, uint64_t *end)
{
	*end = 0; /* completes a pair with the last word */
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
/* True if the shape of that number (0: none) is defined and equals the key. Then the group is sent
 * as a record. Most groups of a kernel equal the one before, whose number `struct kernel` keeps. */
bool shapes_match_last(struct shapes *shapes, const struct shape_key *key, uint32_t shape,
		       struct shape_name *name_out);
/* True if the name still stands for the shape for which it was assigned. */
bool shapes_still_has(struct shapes *shapes, struct shape_name name);
/* Decides how to send a group of this sealed key. `name_out`: set with SHAPE_DEFINE and
 * SHAPE_KNOWN. */
enum shape_use shapes_find(struct shapes *shapes, const struct shape_key *key,
			   struct shape_name *name_out);
/* Called when the message with that definition is in the ring. */
void shapes_defined(struct shapes *shapes, struct shape_name name);

#endif
