#include "token.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_token_character(char c)
{
	return c > ' ' && c < 0x7f;
}

int token_read(const char *path, struct token *token_out)
{
	struct token token = {.length = 0};
	char text[TOKEN_BYTES_MOST + 2];
	struct stat facts;
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &facts) < 0)
		return -errno;
	/* A group may read the file: systemd lets the service read credentials by an access list,
	 * and the group's bits show the list's mask. */
	if (facts.st_mode & (S_IWGRP | S_IROTH | S_IWOTH))
		return -EACCES;
	ssize_t count = read(fd, text, sizeof(text));
	if (count < 0)
		return -errno;
	while (token.length < (size_t)count && token.length < TOKEN_BYTES_MOST &&
	       is_token_character(text[token.length]))
		token.length++;
	bool is_whole = token.length == (size_t)count || text[token.length] == '\n';
	memcpy(token.text, text, token.length);
	explicit_bzero(text, sizeof(text));
	if (token.length < TOKEN_BYTES_LEAST || !is_whole)
		return -EBADMSG;
	*token_out = token;
	return 0;
}

bool token_allows(const struct token *token, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	if (token->length == 0 || !authorization ||
	    strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	const char *given = authorization + sizeof(scheme) - 1;
	size_t length = strlen(given);
	/* Compares all bytes, so that the time does not depend on the number of correct ones. */
	volatile uint8_t difference = length != token->length;
	for (size_t i = 0; i < length; i++)
		difference = (uint8_t)(difference | (given[i] ^ token->text[i % token->length]));
	return difference == 0;
}
