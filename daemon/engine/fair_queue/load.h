/* The predicted time of all groups in flight of a session, class or device, and its expected end.
 * Pure. */
#ifndef SYCL_ENGINE_FAIR_QUEUE_LOAD_H
#define SYCL_ENGINE_FAIR_QUEUE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct fair_queue_load {
	uint64_t weight_ns; /* predicted time of all groups in flight, as counted in a window */
	uint64_t until_ns;  /* when all should have ended */
	uint32_t count;
};

/* In a wide window a long group counts no more than this, to leave room for short ones of others.
 */
static inline uint64_t fair_queue_load_weight_ns(uint64_t cost_ns, uint64_t window_ns)
{
	return cost_ns > window_ns / 4 ? window_ns / 4 : cost_ns;
}

static inline uint64_t fair_queue_load_rest_ns(const struct fair_queue_load *load, uint64_t now_ns)
{
	return load->until_ns > now_ns ? load->until_ns - now_ns : 0;
}

/* A group is sent, which begins at `begins_ns` at the earliest. */
static inline void fair_queue_load_sent(struct fair_queue_load *load, uint64_t begins_ns,
					uint64_t cost_ns, uint64_t weight_ns)
{
	load->weight_ns += weight_ns;
	load->count++;
	load->until_ns = (load->until_ns > begins_ns ? load->until_ns : begins_ns) + cost_ns;
}

/* A group has ended; all others should have ended at `latest_ns`. */
static inline void fair_queue_load_back(struct fair_queue_load *load, uint64_t latest_ns,
					uint64_t weight_ns)
{
	load->weight_ns -= weight_ns;
	load->count--;
	if (load->until_ns > latest_ns)
		load->until_ns = latest_ns;
}

/*
 * True if another group may be sent. The window is not full, or the only group in flight ends soon,
 * and the device would become idle. Also true when all groups are overdue by `stall_ns`: a group
 * that takes so long may wait for a group that is held back here.
 */
static inline bool fair_queue_load_has_room(const struct fair_queue_load *load, uint64_t now_ns,
					    uint64_t window_ns, uint64_t stall_ns)
{
	return load->count == 0 || load->weight_ns < window_ns ||
	       now_ns >= load->until_ns + stall_ns ||
	       (load->count == 1 && fair_queue_load_rest_ns(load, now_ns) < window_ns);
}

/* There is no room now. Returns the time at which there will be room if no group ends before. */
static inline uint64_t fair_queue_load_room_ns(const struct fair_queue_load *load,
					       uint64_t window_ns, uint64_t stall_ns)
{
	if (load->count == 1)
		return load->until_ns > window_ns ? load->until_ns - window_ns + 1 : 0;
	return load->until_ns + stall_ns;
}

#endif
