#include "binary_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void binary_put_number(FILE *file, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		(void)fputc((int)(value >> (8 * i) & 0xff), file);
}

void binary_put_text(FILE *file, const char *text)
{
	size_t length = strnlen(text, UINT16_MAX);

	binary_put_number(file, length, 2);
	(void)fwrite(text, 1, length, file);
}

int binary_put_end(FILE *file, char **stream_bytes, const size_t *stream_count, void **bytes_out,
		   size_t *count_out)
{
	int failed = ferror(file);

	if (fclose(file) != 0 || failed) {
		free(*stream_bytes);
		return -ENOMEM;
	}
	*bytes_out = *stream_bytes;
	*count_out = *stream_count;
	return 0;
}

const void *binary_get_bytes(struct binary_reader *reader, uint64_t count)
{
	const unsigned char *bytes = reader->next;

	if (reader->failed || count > reader->left) {
		reader->failed = true;
		return NULL;
	}
	reader->next += count;
	reader->left -= (size_t)count;
	return bytes;
}

uint64_t binary_get_number(struct binary_reader *reader, unsigned bytes)
{
	const unsigned char *from = binary_get_bytes(reader, bytes);
	uint64_t value = 0;

	for (unsigned i = 0; from && i < bytes; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

bool binary_get_magic(struct binary_reader *reader, const char *magic, size_t bytes)
{
	const void *found = binary_get_bytes(reader, bytes);

	return found && memcmp(found, magic, bytes) == 0;
}
