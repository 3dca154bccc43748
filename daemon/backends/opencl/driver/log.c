#include "opencl/driver/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void opencl_log_renumber(char *log, unsigned long lines_before)
{
	static const char mark[] = "<kernel>:";
	char *from = log, *to = log;

	/* The output is never longer than the input. */
	for (;;) {
		char *place = strstr(from, mark), *end = NULL;
		size_t kept = place ? (size_t)(place - from) : strlen(from);
		memmove(to, from, kept);
		to += kept;
		if (!place)
			break;
		const char *digits = place + sizeof(mark) - 1;
		unsigned long line = strtoul(digits, &end, 10);
		if (isdigit((unsigned char)*digits) && line > lines_before && *end == ':') {
			char text[48];
			int length =
				snprintf(text, sizeof(text), "kernel:%lu", line - lines_before);
			memcpy(to, text, (size_t)length);
			to += length;
			from = end;
		} else {
			memmove(to, mark, sizeof(mark) - 1);
			to += sizeof(mark) - 1;
			from = place + sizeof(mark) - 1;
		}
	}
	*to = '\0';
}
