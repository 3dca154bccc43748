#include "base/shapes.h"

#include <stdlib.h>
#include <string.h>

void shapes_fini(struct shapes *shapes)
{
	for (uint32_t i = 0; i < SHAPES_MAX; i++)
		free(shapes->places[i]);
	*shapes = (struct shapes){.agreed_on = false};
}

static bool place_has_words(const struct shape_place *place, const struct shape_key *key)
{
	return place->count == key->count &&
	       memcmp(place->words, key->words, key->count * sizeof(uint64_t)) == 0;
}

static bool place_has_key(const struct shape_place *place, const struct shape_key *key)
{
	return place && place->sum == key->sum && place_has_words(place, key);
}

/* Takes the place that was unused for longest; allocates it if necessary. NULL without memory. */
static struct shape_place *shapes_take_oldest(struct shapes *shapes, uint32_t first)
{
	uint32_t oldest = first;
	for (uint32_t i = first; i < first + SHAPE_WAYS; i++) {
		if (!shapes->places[i]) {
			shapes->places[i] = malloc(sizeof(struct shape_place) +
						   SHAPE_KEY_WORDS_MAX * sizeof(uint64_t));
			return shapes->places[i];
		}
		if (shapes->places[i]->used < shapes->places[oldest]->used)
			oldest = i;
	}
	return shapes->places[oldest];
}

/* Never 0, and unique among the kept shapes. */
static uint32_t next_generation(struct shapes *shapes)
{
	return shapes->generation == UINT32_MAX ? 1 : shapes->generation + 1;
}

bool shapes_match_last(struct shapes *shapes, const struct shape_key *key, uint32_t shape,
		       struct shape_name *name_out)
{
	struct shape_place *place = shape ? shapes->places[shape - 1] : NULL;
	if (!place || !place->generation || !place_has_words(place, key))
		return false;
	place->used = ++shapes->clock;
	*name_out = (struct shape_name){shape, place->generation};
	return true;
}

bool shapes_still_has(struct shapes *shapes, struct shape_name name)
{
	struct shape_place *place = shapes->places[name.shape - 1];
	if (!place || place->generation != name.generation)
		return false;
	place->used = ++shapes->clock;
	return true;
}

enum shape_use shapes_find(struct shapes *shapes, const struct shape_key *key,
			   struct shape_name *name_out)
{
	if (!shapes->agreed_on)
		return SHAPE_MESSAGE;
	uint64_t mixed = key->sum ^ key->sum >> 29;
	uint32_t first =
		(uint32_t)((mixed * 0xbf58476d1ce4e5b9ull) >> 32) % SHAPE_SETS * SHAPE_WAYS;
	for (uint32_t i = first; i < first + SHAPE_WAYS; i++) {
		struct shape_place *place = shapes->places[i];
		if (!place_has_key(place, key))
			continue;
		place->used = ++shapes->clock;
		bool known = place->generation != 0;
		*name_out = (struct shape_name){i + 1, known ? place->generation
							     : next_generation(shapes)};
		return known ? SHAPE_KNOWN : SHAPE_DEFINE;
	}
	/* Most groups of a starting program are not repeated. So the first one is kept here
	 * only, and the service does not keep it. */
	struct shape_place *place = shapes_take_oldest(shapes, first);
	if (!place)
		return SHAPE_MESSAGE;
	*place =
		(struct shape_place){.sum = key->sum, .used = ++shapes->clock, .count = key->count};
	memcpy(place->words, key->words, key->count * sizeof(uint64_t));
	return SHAPE_MESSAGE;
}

void shapes_defined(struct shapes *shapes, struct shape_name name)
{
	shapes->generation = name.generation;
	shapes->places[name.shape - 1]->generation = name.generation;
}
