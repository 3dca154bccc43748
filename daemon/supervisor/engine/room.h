/*
 * The limits of engines. An engine is a process with memory and a context on each device, and uids
 * are free. So no user has more than a quarter of the engines. All uids together that are not in
 * the user database have one quarter. At the limit, the engine that has been idle for longest ends
 * to make room for another tenant. A service of one user has no such parts.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_ROOM_H
#define SYCLD_SUPERVISOR_ENGINE_ROOM_H

#include <stdbool.h>

struct refusal;
struct tenant;

/* True if the tenant may have one more engine now. False: `refusal_out` has the reason. */
bool engine_room_has(const struct tenant *tenant, struct refusal *refusal_out);

/*
 * Called when there is no room. True: there will be, because an engine is ending that makes room,
 * or the end of one was requested now. `asked`: such a request was already sent for this session or
 * tenant; set when one is.
 */
bool engine_room_make(const struct tenant *tenant, bool *asked);

#endif
