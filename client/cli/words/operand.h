/* Reads numbers, bytes, users and groups of the command line. */
#ifndef SYCLCTL_OPERAND_H
#define SYCLCTL_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a whole number of that range. */
bool operand_read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number_out);
/* The same; the number may have a suffix K, M, G or T (powers of 1024). */
bool operand_read_bytes(const char *text, uint64_t least, uint64_t most, uint64_t *number_out);

/* Find a user's uid and a group's gid. They read the user database, which may block. False:
 * *wrong_out names the word, and is valid until the next call. */
bool operand_read_user(const char *word, uint32_t *uid_out, const char **wrong_out);
bool operand_read_group(const char *word, uint32_t *gid_out, const char **wrong_out);

#endif
