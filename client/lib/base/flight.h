/* Finds the command group that a dead engine was running, by the page that outlives the engine. */
#ifndef SYCL_CLIENT_FLIGHT_H
#define SYCL_CLIENT_FLIGHT_H

#include "base/error.h"
#include "flight_page.h"

/*
 * Returns the number of command groups that the dead engine had in flight. 1: that group is at
 * fault; more: each may be; 0: none. Fills in code, native code, backend and a sentence, which
 * names groups of `own_session` first. With 0, it does so only if the page has the failure of a
 * device or an abort of the engine. The page does not change any more, but its contents are
 * hostile.
 */
uint64_t flight_blame(const struct flight_page *page, uint64_t own_session,
		      struct failure *failure_out);

#endif
