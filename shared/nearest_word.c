#include "nearest_word.h"

#include <string.h>

static size_t word_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One row of the table for each letter of `a`; an exchange needs the last two rows. */
size_t word_changes(const char *a, const char *b)
{
	size_t rows[3][NEAREST_WORD_BYTES + 1];
	size_t a_length = strlen(a), b_length = strlen(b);
	if (a_length > NEAREST_WORD_BYTES || b_length > NEAREST_WORD_BYTES)
		return a_length > b_length ? a_length : b_length;
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t changes = above[j - 1] + (a[i - 1] != b[j - 1]);
			changes = word_smaller(changes, word_smaller(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				changes = word_smaller(changes, rows[(i + 1) % 3][j - 2] + 1);
			row[j] = changes;
		}
	}
	return rows[a_length % 3][b_length];
}

/* A third of the letters may differ, or the end of the word may be missing. */
void nearest_word_consider(struct nearest_word *nearest, const char *candidate)
{
	size_t length = strlen(nearest->wrong);
	if (length == 0 || length > NEAREST_WORD_BYTES || strlen(candidate) > NEAREST_WORD_BYTES)
		return;
	size_t changes = word_changes(nearest->wrong, candidate);
	size_t most = length < 3 ? 1 : (length + 2) / 3;
	if (length >= 3 && strncmp(nearest->wrong, candidate, length) == 0)
		changes = 1;
	if (changes > most || changes >= length || (nearest->found && changes >= nearest->changes))
		return;
	nearest->found = candidate;
	nearest->changes = changes;
}
