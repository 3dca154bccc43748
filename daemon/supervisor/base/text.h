/* Makes text that came from a tenant safe for terminals, logs and JSON. */
#ifndef SYCLD_SUPERVISOR_TEXT_H
#define SYCLD_SUPERVISOR_TEXT_H

#include <stddef.h>

/* Replaces every byte that is not part of printable UTF-8 by '?': control characters (escape
 * sequences among them), C1 controls, broken or overlong sequences, surrogates. The length stays.
 * */
void text_make_printable(char *text);

/* Copies text in printable form, cut at a whole character to fit `size` bytes with its end. NULL
 * counts as "". */
void text_copy_printable(char *out, size_t size, const char *text);

#endif
