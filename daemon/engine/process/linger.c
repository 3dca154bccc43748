/*
 * While a driver frees the context of a process that has ended, calls of other processes on that
 * device wait. The next engine allocates, pins and loads modules with such calls. They do not wait
 * as long as the old process exists. So it stays, without a call of the driver, until the next
 * engine has begun to work. The supervisor decides when that is, and ends the process.
 */
#include "process/linger.h"

#include "clock.h"
#include "process/signals.h"
#include "session/engine_state.h"
#include "flight_page.h"
#include "session/topology.h"

#include <signal.h>
#include <sys/prctl.h>

/* Longer than a supervisor waits before it ends the process. So this limit counts only without a
 * supervisor. */
#define LINGER_NS 3000000000ull
/* A lost engine may keep less than 1 / MEMORY_PART of a device's memory, since the next engine
 * needs the rest. */
#define MEMORY_PART   4u
#define DEVICES_KNOWN 64u /* devices in the flight page */

/*
 * True if the next engine can open the device while this process exists: the device can be opened
 * ahead (PRELOAD), and runs no work of this process any more. Under MPS there is no such device:
 * its server accepts no new client while clients of the failed one exist. OpenCL has no such device
 * either: its devices were not lost, and may still work on clients' memory.
 */
static bool device_allows_linger(const struct scheduler_device_info *device, uint64_t held_bytes)
{
	return (device->facts->features & BACKEND_FEATURE_PRELOAD) &&
	       held_bytes < device->facts->global_mem_bytes / MEMORY_PART;
}

bool engine_may_linger(const struct engine *engine)
{
	const struct flight_page *page = engine->flight->address;
	uint64_t open = atomic_load_explicit(&page->open_devices, memory_order_relaxed);
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	if (topology_discover(engine->scheduler, &platforms, &platform_count, &devices,
			      &device_count) < 0 ||
	    device_count > DEVICES_KNOWN)
		return false;
	/* The most that all devices together have had: it is not known of each, and a pool of the
	 * driver keeps what was freed. */
	for (uint32_t i = 0; i < device_count; i++)
		if ((open >> i & 1) &&
		    !device_allows_linger(&devices[i], engine->device_quota.peak_bytes))
			return false;
	return open != 0;
}

void engine_linger(struct engine *engine)
{
	engine_claim_nothing(engine);
	/* A service that crashes must leave no process for the next service. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)engine_signals_await(clock_now_ns() + LINGER_NS);
}
