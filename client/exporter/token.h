/* The secret of viewers who may see all data over TCP. */
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
 * Reads the first line of a file: 16 to 256 printable characters without blanks. 0, or a negative
 * errno: -EBADMSG (the line has another form), -EACCES (other users may read or write the file).
 */
int token_read(const char *path, struct token *token_out);

/* True if the text is the value of an Authorization header with this token. The time is the same
 * for all texts of one length. NULL: no header. */
bool token_allows(const struct token *token, const char *authorization);

#endif
