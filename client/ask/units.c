#include "units.h"

#include <stdio.h>
#include <time.h>

#define SECOND_NS 1000000000ull

const char *format_bytes(uint64_t bytes, char text[UNIT_TEXT_BYTES])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned unit = 0;
	double value = (double)bytes;
	/* 1023.95 would be shown as 1024.0. */
	while (value >= 1023.95 && unit < sizeof(units) / sizeof(*units) - 1) {
		value /= 1024;
		unit++;
	}
	(void)snprintf(text, UNIT_TEXT_BYTES, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

const char *format_duration(uint64_t ns, char text[UNIT_TEXT_BYTES])
{
	double value = (double)ns;
	if (ns == 0)
		(void)snprintf(text, UNIT_TEXT_BYTES, "0 s");
	else if (value < 999.95)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%.0f ns", value);
	else if (value < 999.95e3)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%.1f us", value / 1e3);
	else if (value < 999.95e6)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%.1f ms", value / 1e6);
	else if (value < 119.95e9)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%.1f s", value / 1e9);
	else
		return format_age(ns, text);
	return text;
}

const char *format_age(uint64_t ns, char text[UNIT_TEXT_BYTES])
{
	unsigned long long seconds = ns / SECOND_NS;
	if (seconds < 60)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%llu s", seconds);
	else if (seconds < 3600)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%llu min %02llu s", seconds / 60,
			       seconds % 60);
	else if (seconds < 86400)
		(void)snprintf(text, UNIT_TEXT_BYTES, "%llu h %02llu min", seconds / 3600,
			       seconds / 60 % 60);
	else
		(void)snprintf(text, UNIT_TEXT_BYTES, "%llu d %02llu h", seconds / 86400,
			       seconds / 3600 % 24);
	return text;
}

const char *format_time(uint64_t unix_seconds, char text[UNIT_TEXT_BYTES])
{
	time_t seconds = (time_t)unix_seconds;
	struct tm parts;
	if (!gmtime_r(&seconds, &parts) ||
	    strftime(text, UNIT_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		(void)snprintf(text, UNIT_TEXT_BYTES, "?");
	return text;
}
