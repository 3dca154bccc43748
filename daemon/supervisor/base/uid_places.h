/*
 * Who gets a place of a bounded number. A user with subordinate uids has many uids. So uids that
 * are not known to be users' are bounded by blocks of 65,536, as many as useradd gives to a user. A
 * block gets another place only while it has fewer than are still free for such blocks, which have
 * three quarters together. So one never has more than three eighths, and the next blocks still get
 * some. Pure; any thread.
 */
#ifndef SYCLD_SUPERVISOR_UID_PLACES_H
#define SYCLD_SUPERVISOR_UID_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One who has a place, or requests one. */
struct uid_place {
	uid_t uid;
	uint32_t block; /* uid_block */
	/* Takes no place from others. Operators have as many places again: a member of a group
	 * of operators may have subordinate uids, which have that group, too. Root is not
	 * bounded by this number. */
	bool is_operator;
};

/* Block 0, in which systems have users and no subordinate uids, is not bounded. All known users are
 * in it. */
uint32_t uid_block(uid_t uid, bool is_known);

/* The places that are taken, as seen by the one who requests another. */
struct uid_places {
	unsigned of_uid, of_block, of_blocks, of_operators;
	unsigned all; /* without those of operators */
};

void uid_places_count(struct uid_places *places, const struct uid_place *taken,
		      const struct uid_place *wanted);

bool uid_places_have_room(const struct uid_places *places, const struct uid_place *wanted,
			  unsigned most, unsigned most_of_uid);

#endif
