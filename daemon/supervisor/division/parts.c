#include "division/parts.h"

#include "division/division.h"

/* If the least parts exceed the whole, all are reduced in the same proportion. */
static uint32_t parts_give_least(struct division_part *parts, uint32_t count)
{
	uint32_t sum = 0, given = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct division_part *part = &parts[i];
		uint32_t least = part->least > DIVISION_LEAST ? part->least : DIVISION_LEAST;
		part->part = least < part->most ? least : part->most;
		sum += part->part;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (sum > DIVISION_WHOLE)
			parts[i].part = parts[i].part * DIVISION_WHOLE / sum;
		given += parts[i].part;
	}
	return given;
}

void division_parts(struct division_part *parts, uint32_t count)
{
	uint32_t left = DIVISION_WHOLE - parts_give_least(parts, count), takers = 1;
	while (left > 0 && takers > 0) {
		takers = 0;
		for (uint32_t i = 0; i < count; i++)
			takers += parts[i].part < parts[i].most;
		/* The first takers get the remainder. */
		uint32_t each = takers > 0 && left >= takers ? left / takers : 1;
		for (uint32_t i = 0; i < count && left > 0; i++) {
			uint32_t room = parts[i].most - parts[i].part,
				 more = each < room ? each : room;
			more = more < left ? more : left;
			parts[i].part += more;
			left -= more;
		}
	}
}
