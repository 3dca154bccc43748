/* Orders launches whose preparations PoCL would confuse (program/growth.h). */
#include "opencl/lane/graph.h"
#include "opencl/lane/lane.h"

static bool pending_uses_growth(const struct opencl_pending *pending,
				const struct opencl_growth *growth)
{
	if (pending->growth == growth)
		return true;
	for (uint32_t i = 0; pending->graph && i < pending->graph->growth_count; i++)
		if (pending->graph->growths[i].growth == growth)
			return true;
	return false;
}

/* Adds waits for the pending commands that use the growth, or only for its leader. */
static int wait_for_users(const struct backend_lane *lane, const struct opencl_growth *growth,
			  bool leader_only, struct opencl_waits *waits)
{
	int error = 0;

	for (struct backend_lane *other = lane->device->lanes; other; other = other->next) {
		for (size_t i = other->head; error == 0 && i != other->tail; i++) {
			const struct opencl_pending *pending =
				&other->pending_ring[i & (other->capacity - 1)];
			if (leader_only ? pending->event != growth->leader
					: !pending_uses_growth(pending, growth))
				continue;
			if (other != lane)
				opencl_lane_flush_up_to(other, pending->sequence);
			error = opencl_waits_add(waits, pending->event);
		}
	}
	return error;
}

int opencl_growth_join(struct backend_lane *lane, struct opencl_growth_user *user,
		       struct opencl_waits *waits, bool *leads_out)
{
	struct opencl_growth *growth = user->growth;

	*leads_out = !opencl_growth_is_served(lane->device, user);
	if (!*leads_out && !growth->leader)
		return 0;
	return wait_for_users(lane, growth, !*leads_out, waits);
}
