#include "base/uid_places.h"

enum { BLOCK_BITS = 16, BLOCK_OF_USERS = 0, PART_OF_USERS = 4 };

uint32_t uid_block(uid_t uid, bool is_known)
{
	return is_known ? BLOCK_OF_USERS : uid >> BLOCK_BITS;
}

void uid_places_count(struct uid_places *places, const struct uid_place *taken,
		      const struct uid_place *wanted)
{
	places->of_uid += taken->uid == wanted->uid;
	if (taken->is_operator) {
		places->of_operators++;
		return;
	}
	places->all++;
	places->of_block += taken->block == wanted->block;
	places->of_blocks += taken->block != BLOCK_OF_USERS;
}

bool uid_places_have_room(const struct uid_places *places, const struct uid_place *wanted,
			  unsigned most, unsigned most_of_uid)
{
	if (places->of_uid >= most_of_uid)
		return false;
	if (wanted->is_operator)
		return wanted->uid == 0 || places->of_operators < most;
	if (places->all >= most)
		return false;
	return wanted->block == BLOCK_OF_USERS ||
	       places->of_block + places->of_blocks < most - most / PART_OF_USERS;
}
