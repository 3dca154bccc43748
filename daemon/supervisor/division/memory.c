#include "division/memory.h"

#include "division/division.h"
#include "division/parts.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

static_assert((int)MEMORY_PARTIES_MAX <= (int)DIVISION_USERS, "a part for each user");

/* A user's memory in all engines. */
struct memory_user {
	uint32_t first, count; /* parties */
	uint32_t engines;      /* engines that hold or request memory */
	uint32_t part;         /* permille */
	uint64_t held_bytes, given_bytes;
};

struct memory_case {
	struct memory_party *parties;
	uint32_t user_count, asker, asking_user;
	uint64_t bytes, given_bytes;
	struct memory_user users[MEMORY_PARTIES_MAX];
};

static uint64_t memory_lesser(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t memory_bytes_above(uint64_t bytes, uint64_t limit)
{
	return bytes > limit ? bytes - limit : 0;
}

static uint64_t memory_part_of(uint64_t bytes, uint32_t permille)
{
	return bytes / DIVISION_WHOLE * permille;
}

static void memory_sum_users(struct memory_case *this, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct memory_party *party = &this->parties[i];
		if (i == 0 || party->user != party[-1].user)
			this->users[this->user_count++] = (struct memory_user){.first = i};
		struct memory_user *user = &this->users[this->user_count - 1];
		user->count++;
		user->engines += party->held_bytes > 0 || i == this->asker;
		user->held_bytes += party->held_bytes;
		if (i == this->asker)
			this->asking_user = this->user_count - 1;
	}
}

static void memory_divide_among_users(struct memory_case *this)
{
	struct division_part parts[MEMORY_PARTIES_MAX];
	for (uint32_t i = 0; i < this->user_count; i++) {
		const struct memory_user *user = &this->users[i];
		const struct memory_party *party = &this->parties[user->first];
		parts[i] = (struct division_part){.least = party->least,
						  .most = user->engines > 0 ? party->most : 0};
	}
	division_parts(parts, this->user_count);
	for (uint32_t i = 0; i < this->user_count; i++)
		this->users[i].part = parts[i].part;
}

static uint32_t memory_engine_part(const struct memory_user *user)
{
	return user->engines > 0 ? user->part / user->engines : user->part;
}

/* Returns how much the requester may get if the device has as much as this party claims. */
static uint64_t memory_entitlement(const struct memory_case *this, const struct memory_party *party,
				   bool is_own_user)
{
	const struct memory_user *user = &this->users[this->asking_user];
	uint64_t capacity = party->capacity_bytes;
	uint64_t bytes = memory_bytes_above(memory_part_of(capacity, memory_engine_part(user)),
					    this->parties[this->asker].held_bytes);
	if (!is_own_user)
		bytes = memory_lesser(
			bytes,
			memory_bytes_above(memory_part_of(capacity, user->part), user->held_bytes));
	return bytes;
}

/* Returns the bytes that the party could free now. */
static uint64_t memory_surplus(const struct memory_case *this, const struct memory_user *user,
			       const struct memory_party *party)
{
	bool is_own_user = user == &this->users[this->asking_user];
	uint64_t capacity = party->capacity_bytes;
	uint64_t entitled = memory_entitlement(this, party, is_own_user);
	if (party == &this->parties[this->asker] || entitled < this->bytes)
		return 0;
	uint64_t wanted = capacity / MEMORY_STEP_PART;
	wanted = memory_lesser(entitled, wanted > this->bytes ? wanted : this->bytes);
	uint64_t bytes = memory_bytes_above(party->held_bytes,
					    memory_part_of(capacity, memory_engine_part(user)));
	if (!is_own_user)
		bytes = memory_lesser(bytes,
				      memory_bytes_above(user->held_bytes - user->given_bytes,
							 memory_part_of(capacity, user->part)));
	bytes = memory_lesser(bytes, party->spillable_bytes);
	return memory_lesser(bytes, memory_bytes_above(wanted, this->given_bytes));
}

/* False: no engine can give any more. */
static bool memory_take_from_largest(struct memory_case *this)
{
	struct memory_user *best_user = NULL;
	struct memory_party *best = NULL;
	uint64_t most = 0;
	for (uint32_t i = 0; i < this->user_count; i++) {
		struct memory_user *user = &this->users[i];
		for (uint32_t j = user->first; j < user->first + user->count; j++) {
			struct memory_party *party = &this->parties[j];
			uint64_t bytes =
				party->give_bytes == 0 ? memory_surplus(this, user, party) : 0;
			if (bytes <= most)
				continue;
			most = bytes;
			best = party;
			best_user = user;
		}
	}
	if (!best)
		return false;
	best->give_bytes = most;
	best_user->given_bytes += most;
	this->given_bytes += most;
	return true;
}

uint64_t memory_divide(struct memory_party *parties, uint32_t count, uint32_t asker, uint64_t bytes)
{
	static struct memory_case this;
	this = (struct memory_case){.parties = parties, .asker = asker, .bytes = bytes};
	for (uint32_t i = 0; i < count; i++)
		parties[i].give_bytes = 0;
	memory_sum_users(&this, count);
	memory_divide_among_users(&this);
	while (memory_take_from_largest(&this))
		;
	return this.given_bytes;
}
