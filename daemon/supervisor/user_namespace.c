#include "user_namespace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { OVERFLOW_UID = 65534 };

/* The namespace that the machine begins with has one line: from 0, as 0, all but the last, which is no uid. */
static bool has_all_uids(const char *path)
{
	FILE *file = fopen(path, "re");
	uint32_t inside = 1, outside = 1, count = 0;
	bool all = file && fscanf(file, "%" SCNu32 " %" SCNu32 " %" SCNu32, &inside, &outside, &count) == 3 && inside == 0 &&
		   count == UINT32_MAX;
	if (file)
		(void)fclose(file);
	return all;
}

uid_t user_namespace_outsiders(const char *map_path, const char *overflow_path)
{
	uint32_t uid = OVERFLOW_UID;
	if (has_all_uids(map_path))
		return (uid_t)-1;
	FILE *file = fopen(overflow_path, "re");
	if (file && fscanf(file, "%" SCNu32, &uid) != 1)
		uid = OVERFLOW_UID;
	if (file)
		(void)fclose(file);
	return uid;
}
