/*
 * How many engines there may be, and of whom. An engine is a process with memory and a context on
 * each device, and a uid costs nothing: so no user has more than a quarter of them, all uids
 * together that the user database does not know have one quarter, and where there are as many as
 * there may be, the one that has had nothing to do for longest ends for whoever comes. A service of
 * one user divides nothing.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_ROOM_H
#define SYCLD_SUPERVISOR_ENGINE_ROOM_H

#include <stdbool.h>

struct refusal;
struct tenant;

/* May the tenant have one more now? False: `refusal_out` says why not. */
bool engine_room_has(const struct tenant *tenant, struct refusal *refusal_out);

/*
 * There is no room: will there be? True: an engine is ending in whose place one of the tenant's may
 * come, or one was told to now. `asked` says whether one has been told to end for this waiter
 * already, and is set when one is.
 */
bool engine_room_make(const struct tenant *tenant, bool *asked);

#endif
