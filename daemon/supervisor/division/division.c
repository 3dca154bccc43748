#include "division/division.h"

#include "division/parts.h"

#include <stddef.h>

/* `used` rises at once, so that a share is returned at once. It falls slowly, so that a pause
 * between two commands lends no time to others. */
#define DEMAND_SLOW 8u

static void party_read_claim(struct division_party *party, uint64_t now_ns, uint64_t stale_ns)
{
	const struct division_claim *claim = &party->claim;
	bool is_new = party->seen_ns == 0;
	uint64_t passed_ns = is_new ? 0 : now_ns - party->seen_ns;
	uint64_t busy_ns = claim->busy_ns > party->busy_ns ? claim->busy_ns - party->busy_ns : 0;
	uint32_t sample = 0;
	if (is_new || claim->beat != party->beat)
		party->beat_ns = now_ns;
	if (passed_ns > 0)
		sample = busy_ns < passed_ns ? (uint32_t)(busy_ns * DIVISION_WHOLE / passed_ns)
					     : DIVISION_WHOLE;
	if (claim->wants && sample == 0)
		sample = DIVISION_LEAST;
	uint32_t slower = party->demand - party->demand / DEMAND_SLOW;
	party->demand = sample > slower ? sample : slower < DEMAND_SLOW ? 0 : slower;
	if (now_ns - party->beat_ns >= stale_ns)
		party->demand = 0;
	party->seen_ns = now_ns;
	party->busy_ns = claim->busy_ns;
	party->beat = claim->beat;
}

/* A user's first party, and the sums of all parties of that user. */
struct user {
	struct division_party *parties;
	uint32_t count;
	uint32_t wanting; /* engines */
	uint32_t demand;
	int64_t credit_ns;
	/* A command counts as running from its claim until another claim, or until the engine has
	 * ended. A stopped process may have left it on the device. */
	bool running, wants_now;
};

static struct user user_sum_at(struct division_party *parties, uint32_t count)
{
	struct user user = {.parties = parties, .credit_ns = parties->credit_ns};
	while (user.count < count && parties[user.count].user == parties->user) {
		const struct division_party *party = &parties[user.count++];
		user.wanting += party->demand > 0;
		user.demand += party->demand;
		user.running |= party->claim.running;
		user.wants_now |= party->demand > 0 && party->claim.wants;
		/* A new party has no credit yet, and gets its user's. */
		if (party->credit_ns < user.credit_ns)
			user.credit_ns = party->credit_ns;
	}
	if (user.demand > DIVISION_WHOLE)
		user.demand = DIVISION_WHOLE;
	return user;
}

/* Computes the parts of all users. With `by_demand` no user gets more than it needs. Otherwise a
 * user that needs any time counts as one that needs the whole device. */
static uint32_t users_divide(struct division_party *parties, uint32_t count, bool by_demand,
			     struct division_part *parts)
{
	uint32_t users = 0;
	for (uint32_t at = 0; at < count && users < DIVISION_USERS; users++) {
		struct user user = user_sum_at(&parties[at], count - at);
		uint32_t most = parties[at].most;
		parts[users] = (struct division_part){.least = parties[at].least,
						      .most = user.demand == 0 ? 0 : most};
		if (by_demand && user.demand < most)
			parts[users].most = user.demand;
		at += user.count;
	}
	division_parts(parts, users);
	return users;
}

/* Returns the part of a user that begins now, as if all users that need time needed all of it. */
static uint32_t newcomer_part(const struct division_party *party, uint32_t wanting)
{
	uint32_t part = DIVISION_WHOLE / (wanting + 1);
	if (part < party->least)
		part = party->least;
	if (part < DIVISION_LEAST)
		part = DIVISION_LEAST;
	return part < party->most ? part : party->most;
}

static void user_grant_parties(const struct user *user, uint32_t part)
{
	uint32_t each = user->wanting > 1 ? part / user->wanting : part;
	for (uint32_t i = 0; i < user->count; i++)
		user->parties[i].granted = each > 0 ? each : 1;
}

static void users_grant_parts(struct division_party *parties, uint32_t count)
{
	static struct division_part wanted[DIVISION_USERS], entitled[DIVISION_USERS];
	uint32_t given = 0, wanting = 0, index = 0;
	uint32_t users = users_divide(parties, count, true, wanted);
	(void)users_divide(parties, count, false, entitled);
	for (uint32_t i = 0; i < users; i++) {
		given += wanted[i].part;
		wanting += wanted[i].most > 0;
	}
	uint32_t left = given < DIVISION_WHOLE ? DIVISION_WHOLE - given : 0;
	for (uint32_t at = 0; at < count; index++) {
		struct user user = user_sum_at(&parties[at], count - at);
		/* Time that no user needs goes to the first user with work. A user's own share
		 * never goes to another one. */
		uint32_t part = index < users ? wanted[index].part + left : 0;
		if (index < users && part < entitled[index].part)
			part = entitled[index].part;
		if (user.demand == 0 && part < newcomer_part(&parties[at], wanting))
			part = newcomer_part(&parties[at], wanting);
		user_grant_parties(&user, part < parties[at].most ? part : parties[at].most);
		at += user.count;
	}
}

/* ------------------------------------ one at a time ------------------------------------- */

static int64_t credit_clamp(int64_t ns, int64_t least, int64_t most)
{
	return ns < least ? least : ns > most ? most : ns;
}

/* Every party that needs the device earns time by its share. The current owner pays for the time
 * that passes, even while others wait. So does a party whose commands still run after its turn. */
static void parties_settle_credit(const struct division *division, struct division_party *parties,
				  uint32_t count, uint64_t passed_ns)
{
	static struct division_part entitled[DIVISION_USERS];
	uint32_t index = 0, users = users_divide(parties, count, false, entitled), wanting = 0;
	uint64_t passed = passed_ns < DIVISION_OVERRUN_NS ? passed_ns : DIVISION_OVERRUN_NS;
	for (uint32_t i = 0; i < users; i++)
		wanting += entitled[i].most > 0;
	for (uint32_t at = 0; at < count; index++) {
		struct user user = user_sum_at(&parties[at], count - at);
		bool is_owner = division->is_owned && division->owner == parties[at].user;
		bool has_it = user.running || (is_owner && user.wants_now);
		uint32_t part = index < users && user.demand > 0
					? entitled[index].part
					: newcomer_part(&parties[at], wanting);
		int64_t credit = user.credit_ns + (int64_t)(passed * part / DIVISION_WHOLE) -
				 (has_it ? (int64_t)passed : 0);
		/* Unused time is not saved up. */
		int64_t most = user.demand == 0 ? 0 : (int64_t)DIVISION_SLICE_NS;
		credit = credit_clamp(credit, -(int64_t)DIVISION_OWED_NS, most);
		for (uint32_t i = 0; i < user.count; i++)
			parties[at + i].credit_ns = credit;
		at += user.count;
	}
}

/* Returns the next owner: of the parties that need the device now, the one that has received least
 * of its share. NULL: none. */
static const struct division_party *exclusive_choose_next(struct division_party *parties,
							  uint32_t count)
{
	const struct division_party *best = NULL;
	for (uint32_t at = 0; at < count;) {
		struct user user = user_sum_at(&parties[at], count - at);
		const struct division_party *first = &parties[at];
		/*
		 * A user with a maximum waits for its part, even if no other user needs the device.
		 */
		bool may =
			user.wants_now && (first->most >= DIVISION_WHOLE || first->credit_ns >= 0);
		if (may && (!best || first->credit_ns > best->credit_ns))
			best = first;
		at += user.count;
	}
	return best;
}

/* Returns the sum of the owner's engines; empty if that user has none any more. */
static struct user exclusive_owner_sum(const struct division *division,
				       struct division_party *parties, uint32_t count)
{
	for (uint32_t at = 0; at < count; at++)
		if (parties[at].user == division->owner)
			return user_sum_at(&parties[at], count - at);
	return (struct user){.parties = parties};
}

/* True if the owner's part is used up. The turn also ends with its slice while others need the
 * device, or if only others have work. */
static bool exclusive_turn_is_over(const struct division *division, const struct user *owner,
				   const struct division_party *next)
{
	const struct division_party *first = owner->parties;
	if (owner->count == 0)
		return true;
	if (first->most < DIVISION_WHOLE && first->credit_ns <= -(int64_t)DIVISION_SLICE_NS)
		return true;
	return next &&
	       (!owner->wants_now || division->now_ns - division->since_ns >= DIVISION_SLICE_NS);
}

static void exclusive_pass_turn(struct division *division, struct division_party *parties,
				uint32_t count)
{
	const struct division_party *next = exclusive_choose_next(parties, count);
	struct user owner = exclusive_owner_sum(division, parties, count);
	if (division->is_owned && !division->is_ending) {
		if (!exclusive_turn_is_over(division, &owner, next))
			return;
		division->is_ending = true;
		division->ending_ns = division->now_ns;
	}
	bool stays = division->is_ending && next && next->user == division->owner;
	if (division->is_ending && !stays && owner.running &&
	    division->now_ns - division->ending_ns < DIVISION_OVERRUN_NS)
		return;
	division->is_ending = false;
	division->is_owned = next != NULL;
	division->owner = next ? next->user : division->owner;
	division->since_ns = division->now_ns;
}

static void exclusive_grant_owner(const struct division *division, struct division_party *parties,
				  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool has_it = division->is_owned && !division->is_ending &&
			      division->owner == parties[i].user;
		parties[i].granted = has_it ? DIVISION_WHOLE : 0;
	}
}

void division_step(struct division *division, struct division_party *parties, uint32_t count,
		   uint64_t now_ns, uint64_t stale_ns)
{
	uint64_t passed_ns =
		now_ns > division->now_ns && division->now_ns > 0 ? now_ns - division->now_ns : 0;
	division->now_ns = now_ns;
	for (uint32_t i = 0; i < count; i++)
		party_read_claim(&parties[i], now_ns, stale_ns);
	if (division->mode == DIVISION_CONCURRENT) {
		users_grant_parts(parties, count);
		return;
	}
	parties_settle_credit(division, parties, count, passed_ns);
	exclusive_pass_turn(division, parties, count);
	exclusive_grant_owner(division, parties, count);
}
