#include "service/session_number.h"

#include <time.h>

enum {
	FAR_SHIFT = 10, /* a unit of so many nanoseconds, of which a session takes more */
	FAR_LEAST = 1 << 20,
};

uint64_t session_number_far_ahead(uint64_t number)
{
	struct timespec now = {.tv_sec = 0};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	uint64_t by_clock =
		((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) >> FAR_SHIFT;
	return by_clock > number + FAR_LEAST ? by_clock : number + FAR_LEAST;
}
