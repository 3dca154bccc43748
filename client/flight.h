/* After an engine died: which command group it was running, by the page that outlived it. */
#ifndef SYCL_CLIENT_FLIGHT_H
#define SYCL_CLIENT_FLIGHT_H

#include "flight_page.h"

#include <stddef.h>

/*
 * Writes one sentence. Returns how many groups were in flight: 0 none (no sentence then), 1 the offender, more:
 * suspects. The page is read-only and its writer is dead; its contents are hostile all the same.
 */
uint64_t flight_blame(const struct flight_page *page, uint64_t own_session, char *text, size_t text_bytes);

#endif
