/*
 * The limits of engines. An engine is a process with memory and a context on each device, and uids
 * cost nothing. So no user has more than a quarter of the engines, and all uids together that are
 * not in the user database have one quarter. At the limit, the engine that has been idle for
 * longest ends to make room for another tenant. A service of one user divides nothing.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_ROOM_H
#define SYCLD_SUPERVISOR_ENGINE_ROOM_H

#include <stdbool.h>

struct refusal;
struct tenant;

/* May the tenant have one more engine now? False: `refusal_out` has the reason. */
bool engine_room_has(const struct tenant *tenant, struct refusal *refusal_out);

/*
 * There is no room: will there be? True: an engine is ending in whose place one of the tenant's may
 * come, or the end of one was requested now. `asked`: such a request was sent for this session or
 * tenant already; set when one is.
 */
bool engine_room_make(const struct tenant *tenant, bool *asked);

#endif
