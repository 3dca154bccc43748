/* Numbers of sessions, where those that were assigned are not known or cannot be written down. */
#ifndef SYCLD_SUPERVISOR_SESSION_NUMBER_H
#define SYCLD_SUPERVISOR_SESSION_NUMBER_H

#include <stdint.h>

/*
 * Returns a number far beyond all that the file `engines` may reserve, and beyond those of another
 * such jump. It counts in units of the clock that differ between two jumps. It is small enough for
 * JSON readers that store numbers as floating point.
 */
uint64_t session_number_far_ahead(uint64_t number);

#endif
