/*
 * Failed assertions in this process, such as those of a vendor's library, and calls of abort().
 * Their text goes to the log and into the flight page, so that readers of the page do not blame
 * commands that happened to run.
 */
#ifndef SYCL_ENGINE_ABORT_H
#define SYCL_ENGINE_ABORT_H

struct flight_page;

/* From now on in that page, which stays until the process ends. */
void engine_abort_record_in(struct flight_page *page);

#endif
