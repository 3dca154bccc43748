/* Small files that a service leaves in its folder for the next one. Only the service's user can
 * read or write them. */
#ifndef SYCLD_SUPERVISOR_KEPT_FILE_H
#define SYCLD_SUPERVISOR_KEPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the whole file into allocated memory. 0, or a negative errno. -ENOENT: there is none.
 * -EPERM: another user owns it or may use it. -EBADMSG: it is shorter than `least` or longer than
 * `most` bytes. Other errors: it could not be read, and may be intact. Does not block.
 */
int kept_file_read(int folder, const char *name, size_t least, size_t most, uint8_t **bytes_out,
		   size_t *size_out);

/*
 * Replaces the file as a whole. 0 or a negative errno; on failure the previous file still exists.
 */
int kept_file_replace(int folder, const char *name, const uint8_t *bytes, size_t size);

/* The checksum reveals damage. It does not prevent forgery. */
uint64_t kept_file_checksum(const uint8_t *bytes, size_t size);

/* The beginning of a file whose rest is a packed message. */
struct kept_file_head {
	uint64_t magic;    /* a name, and the version of the format */
	uint64_t checksum; /* of the rest of the file */
};

/* Writes the head of a file in memory. `size`: of the whole file. */
void kept_file_write_head(uint8_t *bytes, size_t size, uint64_t magic);
/* True if the file has at least a head, and its magic number and checksum are right. */
bool kept_file_has_head(const uint8_t *bytes, size_t size, uint64_t magic);

#endif
