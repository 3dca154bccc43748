/* Chooses the slots that a transfer gets. */
#include "cuda/memory/staging_state.h"

static bool staging_set_is_idle(const struct cuda_slot_set *set)
{
	return set->users == 0 && !set->must_wait;
}

/* True if a wait for this set may be a wait for a kernel that does not end. */
static bool may_stay_in_use(const struct cuda_slot_set *set)
{
	return set->users > 0 && set->is_behind;
}

/*
 * A transfer behind a kernel on its lane, or one that waits for a kernel, keeps its set until the
 * kernel ends. So such a transfer gets no set for which transfers of other lanes wait. It also
 * leaves one set to transfers that can begin at once.
 */
static bool staging_set_may_be_taken(const struct cuda_staging *staging,
				     const struct cuda_slot_set *set,
				     const struct backend_lane *lane, bool can_begin)
{
	uint32_t others = 0;

	if (set->open)
		return false;
	if (may_stay_in_use(set))
		return !can_begin && set->lane == lane;
	for (uint32_t i = 0; i < CUDA_SLOT_SETS; i++)
		others += &staging->sets[i] != set && !may_stay_in_use(&staging->sets[i]);
	return can_begin || others > 0;
}

/*
 * Of the sets that the transfer may take, chooses the set of its own lane, which costs no wait.
 * Otherwise chooses an idle set, or the set that was given out longest ago, which becomes free
 * next. NULL: the transfer may take none.
 */
static struct cuda_slot_set *choose_set(struct cuda_staging *staging,
					const struct backend_lane *lane, bool can_begin)
{
	struct cuda_slot_set *best = NULL;

	for (uint32_t i = 0; i < CUDA_SLOT_SETS; i++) {
		struct cuda_slot_set *set = &staging->sets[i];
		const bool is_own = !staging_set_is_idle(set) && set->lane == lane;
		if (!staging_set_may_be_taken(staging, set, lane, can_begin))
			continue;
		if (is_own)
			return set;
		if (!best || (staging_set_is_idle(set) != staging_set_is_idle(best)
				      ? staging_set_is_idle(set)
				      : set->used < best->used))
			best = set;
	}
	return best;
}

/* Called for a transfer that must get a set now. A set whose transfer is not all sent is chosen
 * last. */
static struct cuda_slot_set *choose_any_set(struct cuda_staging *staging)
{
	struct cuda_slot_set *best = &staging->sets[0];

	for (uint32_t i = 1; i < CUDA_SLOT_SETS; i++) {
		struct cuda_slot_set *set = &staging->sets[i];
		if (!set->open != !best->open ? !set->open : set->used < best->used)
			best = set;
	}
	return best;
}

static bool staging_sets_are_idle(const struct cuda_staging *staging)
{
	for (uint32_t i = 0; i < CUDA_SLOT_SETS; i++)
		if (!staging_set_is_idle(&staging->sets[i]))
			return false;
	return true;
}

CUresult cuda_staging_take_set(struct backend_lane *lane, struct cuda_finish *transfer, bool all)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct cuda_staging *staging = transfer->staging;
	/* The driver is queried only if the result matters. */
	const bool can_begin = !staging_sets_are_idle(staging) &&
			       cuda->cuStreamQuery(lane->stream) != CUDA_ERROR_NOT_READY;
	struct cuda_slot_set *set = choose_set(staging, lane, can_begin);

	if (!set && !all)
		return CUDA_SUCCESS;
	if (!set)
		set = choose_any_set(staging);
	if (set->open) /* the set's event must be behind the whole transfer */
		(void)cuda_finish_send(set->open->lane, set->open, true);
	const bool is_free = staging_set_is_idle(set);
	set->is_behind = (!is_free && set->is_behind) || !can_begin;
	transfer->set = set;
	set->lane = lane;
	set->used = ++staging->transfers;
	set->users++;
	return is_free ? CUDA_SUCCESS
		       : cuda->cuStreamWaitEvent(lane->stream, set->over, CU_EVENT_WAIT_DEFAULT);
}
