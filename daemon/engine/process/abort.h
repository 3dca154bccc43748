/*
 * Failed assertions in this process, such as those of a vendor's library, and calls of abort().
 * Their text goes to the log and into the flight page, so that readers of the page do not blame
 * commands that happened to run.
 */
#ifndef SYCL_ENGINE_ABORT_H
#define SYCL_ENGINE_ABORT_H

struct flight_page;

/* An abort is recorded in that page from now on. The page stays until the process ends. */
void engine_abort_record_in(struct flight_page *page);

/* This process is about to end itself for that reason, which is in `words`, not in a command that
 * runs. Nothing happens if another reason was recorded, or there is no page. Any thread. */
void engine_abort_record(const char *words);

#endif
