#include "base/text.h"

#include <stdint.h>
#include <string.h>

/* Returns the size in bytes of the character at `s`; 0: it is not printable. */
static size_t printable_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	size_t length;
	uint32_t code;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		length = 2;
		code = s[0] & 0x1fu;
	} else if (s[0] >= 0xe0 && s[0] <= 0xef) {
		length = 3;
		code = s[0] & 0x0fu;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		length = 4;
		code = s[0] & 0x07u;
	} else {
		return 0;
	}
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ||
	    code < 0xa0)
		return 0;
	/* Bidirectional controls and line separators can make one line look like another. */
	if ((code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	    code == 0x200e || code == 0x200f)
		return 0;
	return length;
}

void text_make_printable(char *text)
{
	unsigned char *at = (unsigned char *)text;
	while (*at) {
		size_t length = printable_length(at);
		if (length == 0) {
			*at = '?';
			length = 1;
		}
		at += length;
	}
}

void text_copy_printable(char *out, size_t size, const char *text)
{
	size_t used = 0;
	const unsigned char *at = (const unsigned char *)(text ? text : "");
	while (*at) {
		size_t length = printable_length(at);
		size_t step = length ? length : 1;
		if (used + step >= size)
			break;
		if (length)
			memcpy(out + used, at, length);
		else
			out[used] = '?';
		used += step;
		at += step;
	}
	out[used] = '\0';
}
