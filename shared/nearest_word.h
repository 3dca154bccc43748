/*
 * The known word that is most like a wrong one, for a suggestion: by letters that are left out,
 * added, replaced or exchanged with their neighbour. Words longer than NEAREST_WORD_BYTES have
 * none.
 */
#ifndef SYCL_SHARED_NEAREST_WORD_H
#define SYCL_SHARED_NEAREST_WORD_H

#include <stddef.h>

enum { NEAREST_WORD_BYTES = 48 };

/* Begin with the wrong word alone; the rest is 0. */
struct nearest_word {
	const char *wrong;
	const char *found; /* the best candidate so far; NULL: none is near enough. The caller's */
	size_t changes;    /* between the two */
};

/* Returns the number of letters that differ. */
size_t word_changes(const char *a, const char *b);

void nearest_word_consider(struct nearest_word *nearest, const char *candidate);

#endif
