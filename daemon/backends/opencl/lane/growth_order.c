/* The order of launches whose preparations PoCL would mix up (program/growth.h). */
#include "opencl/lane/graph.h"

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

int opencl_growth_join(struct backend_lane *lane, struct opencl_growth_user *user,
		       struct opencl_waits *waits, bool *leads_out)
{
	struct backend_device *device = lane->device;
	struct opencl_growth *growth = user->growth;
	int error = 0;

	*leads_out = false;
	if (opencl_growth_is_served(device, user))
		return growth->leader ? opencl_waits_add(waits, growth->leader) : 0;
	*leads_out = true;
	for (const struct backend_lane *other = device->lanes; other; other = other->next) {
		for (size_t i = other->head; error == 0 && i != other->tail; i++) {
			const struct opencl_pending *pending =
				&other->pending_ring[i & (other->capacity - 1)];
			if (pending_uses_growth(pending, growth))
				error = opencl_waits_add(waits, pending->event);
		}
	}
	return error;
}
