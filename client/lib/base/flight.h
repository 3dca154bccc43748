/* After an engine died: which command group it was running, by the page that outlived it. */
#ifndef SYCL_CLIENT_FLIGHT_H
#define SYCL_CLIENT_FLIGHT_H

#include "base/error.h"
#include "flight_page.h"

/*
 * Fills in code, native code, backend and one sentence. Returns how many groups were in flight: 1
 * the offender, more: suspects. 0: none; then nothing is filled in unless the engine reports a
 * failed device. The page is read-only and its writer is dead; its contents are hostile all the
 * same.
 */
uint64_t flight_blame(const struct flight_page *page, uint64_t own_session,
		      struct failure *failure_out);

#endif
