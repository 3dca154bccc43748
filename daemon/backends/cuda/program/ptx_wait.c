#include "cuda/program/ptx_wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION       708u /* 7.8 */
#define VERSION_LEAST 600u
#define TARGET        90u
#define TARGET_LEAST  70u
#define NUMBER_MAX    9999u

/* With this word, a kernel lets the next launch begin while the kernel runs. That launch may not be
 * one that the client chose, so such texts are refused. */
static const char early[] = "launch_dependents";

/* Reads digits, up to another character. False: there is no digit, or there are too many. */
static bool read_digits(const char **at, const char *end, uint32_t *number_out)
{
	const char *from = *at;
	uint32_t number = 0;

	for (; *at < end && **at >= '0' && **at <= '9' && number <= NUMBER_MAX; (*at)++)
		number = number * 10 + (uint32_t)(**at - '0');
	*number_out = number;
	return *at > from && number <= NUMBER_MAX;
}

/* "7.8" is 708. */
static bool read_version(const char *text, const struct cuda_ptx *ptx, uint32_t *version_out)
{
	const char *at = text + ptx->version_at, *end = text + ptx->version_end;
	uint32_t major = 0, minor = 0;

	if (!read_digits(&at, end, &major) || at == end || *at++ != '.' ||
	    !read_digits(&at, end, &minor) || at != end || minor > 99)
		return false;
	*version_out = major * 100 + minor;
	return true;
}

/* "sm_80" is 80. A target with a letter ("sm_90a") is for that one kind of device, and stays as it
 * is. */
static bool parse_target(const char *text, const struct cuda_ptx *ptx, uint32_t *target_out,
			 bool *is_plain_out)
{
	const char *at = text + ptx->target_at, *end = text + ptx->target_end;

	if (end - at < 4 || memcmp(at, "sm_", 3) != 0)
		return false;
	at += 3;
	if (!read_digits(&at, end, target_out))
		return false;
	*is_plain_out = at == end;
	return true;
}

static void ptx_wait_put_text(FILE *out, const char *text, size_t from, size_t to)
{
	(void)fwrite(text + from, 1, to - from, out);
}

static void ptx_write_raised_text(FILE *out, const char *text, size_t bytes,
				  const struct cuda_ptx *ptx, bool raise_version, bool raise_target)
{
	size_t at = 0;

	if (raise_version) {
		ptx_wait_put_text(out, text, at, ptx->version_at);
		(void)fprintf(out, "%u.%u", VERSION / 100, VERSION % 100);
		at = ptx->version_end;
	}
	if (raise_target) {
		ptx_wait_put_text(out, text, at, ptx->target_at);
		(void)fprintf(out, "sm_%u", TARGET);
		at = ptx->target_end;
	}
	for (uint32_t i = 0; i < ptx->entry_count; i++) {
		ptx_wait_put_text(out, text, at, ptx->entries[i].body_at);
		if (!ptx->entries[i].waits)
			(void)fputs(" griddepcontrol.wait; ",
				    /* Without a line of its own, so that the client's line numbers
				     * stay. */
				    out);
		at = ptx->entries[i].body_at;
	}
	ptx_wait_put_text(out, text, at, bytes);
}

int cuda_ptx_wait(const char *text, size_t bytes, const struct cuda_ptx *ptx, int compute_major,
		  char **text_out, size_t *bytes_out)
{
	uint32_t version = 0, target = 0;
	bool is_plain = false;
	char *written = NULL;
	size_t size = 0;

	if (compute_major < CUDA_OVERLAP_COMPUTE_MAJOR || ptx->entry_count == 0 ||
	    !read_version(text, ptx, &version) || !parse_target(text, ptx, &target, &is_plain) ||
	    version < VERSION_LEAST || target < TARGET_LEAST || (target < TARGET && !is_plain) ||
	    memmem(text, bytes, early, sizeof(early) - 1))
		return -EOPNOTSUPP;
	FILE *out = open_memstream(&written, &size);
	if (!out)
		return -ENOMEM;
	ptx_write_raised_text(out, text, bytes, ptx, version < VERSION, target < TARGET);
	bool failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed) {
		free(written);
		return -ENOMEM;
	}
	*text_out = written;
	*bytes_out = size;
	return 0;
}
