/* After an engine died: which command group it was running, by the page that outlived it. */
#ifndef SYCL_CLIENT_FLIGHT_H
#define SYCL_CLIENT_FLIGHT_H

#include "base/error.h"
#include "flight_page.h"

/*
 * Returns how many command groups the dead engine had in flight. 1: that group is at fault; more:
 * each of them may be; 0: none. Fills in code, native code, backend and a sentence, which names
 * groups of `own_session` first. With 0, it does so only where the page has the failure of a device
 * or an abort of the engine. The page cannot change any more, but its contents are hostile.
 */
uint64_t flight_blame(const struct flight_page *page, uint64_t own_session,
		      struct failure *failure_out);

#endif
