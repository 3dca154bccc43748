/* The secret of those who see everything over TCP. */
#ifndef SYCLD_EXPORTER_TOKEN_H
#define SYCLD_EXPORTER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_BYTES_LEAST = 16, TOKEN_BYTES_MOST = 256 };

struct token {
	size_t length; /* 0: there is none */
	char text[TOKEN_BYTES_MOST];
};

/*
 * The first line of a file: 16 to 256 printable characters without blanks. 0, or a negative errno:
 * -EBADMSG (it is none), -EACCES (others may read or write the file).
 */
int token_read(const char *path, struct token *token_out);

/* Is that the value of an Authorization header with this token? Takes as long for every text of one
 * length. NULL: no header. */
bool token_allows(const struct token *token, const char *authorization);

#endif
