/*
 * Launches that are sent together have one reported end. So a kernel that was short lately and is
 * long now delays the reports of earlier launches, except those that are awaited by themselves
 * (cuda/lane/signal.h). This is detected when the kernel has ended. Then
 * 64 of its launches are sent alone, and after each further surprise twice as many, up to 4,096. So
 * that happens at most once in so many launches of a kernel (B18). One thread at a time.
 */
#ifndef SYCL_BACKENDS_SURPRISE_H
#define SYCL_BACKENDS_SURPRISE_H

#include <stdbool.h>
#include <stdint.h>

#define SURPRISE_FIRST 64u
#define SURPRISE_MOST  4096u

struct surprise {
	uint32_t left; /* number of launches that are still to be sent alone */
	uint32_t last; /* how many went alone last time; 0: there was none */
};

static inline bool surprise_lasts(const struct surprise *surprise)
{
	return surprise->left > 0;
}

/* Launches that were sent before a surprise was detected do not count as a further one. */
static inline void surprise_note(struct surprise *surprise)
{
	if (surprise_lasts(surprise))
		return;
	surprise->last = surprise->last == 0              ? SURPRISE_FIRST
			 : surprise->last < SURPRISE_MOST ? 2 * surprise->last
							  : SURPRISE_MOST;
	surprise->left = surprise->last;
}

/* A launch was sent alone. */
static inline void surprise_pass(struct surprise *surprise)
{
	surprise->left -= surprise->left > 0;
}

#endif
