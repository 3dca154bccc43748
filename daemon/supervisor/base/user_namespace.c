#include "base/user_namespace.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OVERFLOW_UID = 65534 };

/* Reads the numbers at the beginning of the file's first line; false: it has fewer. */
static bool uid_map_read_line(const char *path, uint64_t *numbers_out, int count)
{
	FILE *file = fopen(path, "re");
	char line[128];
	char *at = line, *end = NULL;
	bool has_line = file && fgets(line, sizeof(line), file);
	if (file)
		(void)fclose(file);
	if (!has_line)
		return false;
	for (int i = 0; i < count; i++, at = end) {
		numbers_out[i] = strtoull(at, &end, 10);
		if (end == at)
			return false;
	}
	return true;
}

/* The map of the machine's first namespace has one line: from 0, as 0, all uids but the last, which
 * is no uid. */
static bool uid_map_is_complete(const char *path)
{
	uint64_t numbers[3]; /* inside, outside, how many */
	return uid_map_read_line(path, numbers, 3) && numbers[0] == 0 && numbers[2] == UINT32_MAX;
}

uid_t user_namespace_outsiders(const char *map_path, const char *overflow_path)
{
	uint64_t uid;
	if (uid_map_is_complete(map_path))
		return (uid_t)-1;
	return uid_map_read_line(overflow_path, &uid, 1) && uid <= UINT32_MAX ? (uid_t)uid
									      : OVERFLOW_UID;
}
