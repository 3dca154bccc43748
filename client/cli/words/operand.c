#include "words/operand.h"

#include "users.h"
#include "words/wrong_word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number with an optional suffix K, M, G or T (powers of 1024). */
static bool operand_parse(const char *text, uint64_t least, uint64_t most, bool with_unit,
			  uint64_t *number_out)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text))
		return false;
	unsigned shift = 0;
	const char *unit = with_unit && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10u * (unsigned)(unit - units + 1);
		end++;
	}
	if (*end || number > most >> shift || number << shift < least)
		return false;
	*number_out = (uint64_t)number << shift;
	return true;
}

bool operand_read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number_out)
{
	return operand_parse(text, least, most, false, number_out);
}

bool operand_read_bytes(const char *text, uint64_t least, uint64_t most, uint64_t *number_out)
{
	return operand_parse(text, least, most, true, number_out);
}

bool operand_read_user(const char *word, uint32_t *uid_out, const char **wrong_out)
{
	if (user_find(word, uid_out))
		return true;
	*wrong_out = wrong_user(word);
	return false;
}

bool operand_read_group(const char *word, uint32_t *gid_out, const char **wrong_out)
{
	if (group_find(word, gid_out))
		return true;
	*wrong_out = wrong_group(word);
	return false;
}
