#include "words/since.h"

#include "words/operand.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AGO_MOST 1000000000ull

enum { NUMBER_BYTES = 16 };

static uint64_t seconds_of_unit(char unit)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].unit == unit)
			return units[i].seconds;
	return 0;
}

/* "2h" */
static bool read_ago(const char *text, time_t now, time_t *time_out)
{
	char number[NUMBER_BYTES];
	uint64_t count = 0;
	size_t length = strlen(text);
	uint64_t unit =
		length > 1 && length < sizeof(number) ? seconds_of_unit(text[length - 1]) : 0;
	if (unit == 0)
		return false;
	(void)snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
	if (!operand_read_number(number, 0, AGO_MOST / unit, &count))
		return false;
	*time_out = now - (time_t)(count * unit);
	return true;
}

/* The beginning of today, or of a day before it. Days are of different lengths. */
static bool read_day(time_t now, int days_before, time_t *time_out)
{
	struct tm local;
	if (!localtime_r(&now, &local))
		return false;
	local.tm_mday -= days_before;
	local.tm_hour = local.tm_min = local.tm_sec = 0;
	local.tm_isdst = -1;
	*time_out = mktime(&local);
	return true;
}

static bool read_date(const char *text, time_t *time_out)
{
	static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%dT%H:%M:%S"};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm date = {.tm_isdst = -1};
		const char *rest = strptime(text, formats[i], &date);
		if (!rest)
			continue;
		/* The fraction of a printed time is left out: what happened in that second counts.
		 */
		if (*rest == '.')
			rest += 1 + strspn(rest + 1, "0123456789");
		if (*rest == 'Z' && rest[1] == '\0')
			*time_out = timegm(&date);
		else if (*rest == '\0')
			*time_out = mktime(&date);
		else
			continue;
		return true;
	}
	return false;
}

bool since_read(const char *text, time_t now, uint64_t *unix_seconds_out)
{
	time_t found = -1;
	bool is_time = strcmp(text, "today") == 0 ? read_day(now, 0, &found)
		       : strcmp(text, "yesterday") == 0
			       ? read_day(now, 1, &found)
			       : read_ago(text, now, &found) || read_date(text, &found);
	if (!is_time || found < 0)
		return false;
	*unix_seconds_out = (uint64_t)found;
	return true;
}
