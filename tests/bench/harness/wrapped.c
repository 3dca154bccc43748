#include "harness/wrapped.h"

#include "cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Between single quotes only the quote itself is special. */
static int write_quoted(FILE *script, const char *text)
{
	if (strchr(text, '\''))
		return -EINVAL;
	return fprintf(script, "'%s'", text) < 0 ? -EIO : 0;
}

static int write_variable(FILE *script, const char *name, int length, const char *value)
{
	if (fprintf(script, "%.*s=", length, name) < 0)
		return -EIO;
	int r = write_quoted(script, value);
	return r == 0 && fprintf(script, "; export %.*s\n", length, name) < 0 ? -EIO : r;
}

static int write_script(const struct bench_wrapped *wrapped, bool fake, const char *file_variable,
			const char *variable)
{
	char engine[PATH_MAX];
	int r = fake ? build_path("tests", "sycl-engine-fake", engine, sizeof(engine))
		     : build_path("bin", "sycl-engine", engine, sizeof(engine));
	if (r < 0)
		return r;
	FILE *script = fopen(wrapped->script, "wxe");
	if (!script)
		return -errno;
	const char *value = variable ? strchr(variable, '=') : NULL;
	if (fputs("#!/bin/sh\n", script) < 0)
		r = -EIO;
	if (r == 0)
		r = write_variable(script, file_variable, (int)strlen(file_variable),
				   wrapped->file);
	if (r == 0 && value)
		r = write_variable(script, variable, (int)(value - variable), value + 1);
	if (r == 0 && fputs("exec ", script) < 0)
		r = -EIO;
	if (r == 0)
		r = write_quoted(script, engine);
	if (r == 0 && fputs(" \"$@\"\n", script) < 0)
		r = -EIO;
	if (r == 0 && fchmod(fileno(script), 0700) < 0)
		r = -errno;
	return fclose(script) != 0 && r == 0 ? -EIO : r;
}

static int map_file(struct bench_wrapped *wrapped, size_t bytes)
{
	CLEANUP(close_fd)
	int file = open(wrapped->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, (off_t)bytes) < 0)
		return -errno;
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (address == MAP_FAILED)
		return -errno;
	wrapped->mapping = address;
	wrapped->mapping_bytes = bytes;
	return 0;
}

static int make_folder(struct bench_wrapped *wrapped)
{
	(void)snprintf(wrapped->folder, sizeof(wrapped->folder), "/tmp/syclbench.XXXXXX");
	if (!mkdtemp(wrapped->folder)) {
		wrapped->folder[0] = '\0';
		return -errno;
	}
	(void)snprintf(wrapped->script, sizeof(wrapped->script), "%s/engine", wrapped->folder);
	(void)snprintf(wrapped->file, sizeof(wrapped->file), "%s/file", wrapped->folder);
	return 0;
}

int bench_wrapped_start(size_t file_bytes, const char *file_variable, const char *variable,
			bool fake, struct bench_wrapped **wrapped_out)
{
	CLEANUP(bench_wrapped_cleanup) struct bench_wrapped *wrapped = calloc(1, sizeof(*wrapped));
	if (!wrapped)
		return -ENOMEM;
	int r = make_folder(wrapped);
	if (r == 0)
		r = map_file(wrapped, file_bytes);
	if (r == 0)
		r = write_script(wrapped, fake, file_variable, variable);
	char cache[PATH_MAX];
	if (r == 0)
		r = build_path("tests", "cache", cache, sizeof(cache));
	const char *options[] = {"--cache-dir", cache, "--engine", wrapped->script, NULL};
	if (r == 0)
		r = private_service_start(NULL, options, &wrapped->service);
	if (r < 0) {
		bench_complain("the private service did not start: %s", strerror(-r));
		return r;
	}
	*wrapped_out = TAKE(wrapped);
	return 0;
}

struct bench_wrapped *bench_wrapped_free(struct bench_wrapped *wrapped)
{
	if (!wrapped)
		return NULL;
	wrapped->service = private_service_free(wrapped->service);
	if (wrapped->mapping)
		(void)munmap(wrapped->mapping, wrapped->mapping_bytes);
	if (wrapped->folder[0]) {
		(void)unlink(wrapped->script);
		(void)unlink(wrapped->file);
		(void)rmdir(wrapped->folder);
	}
	free(wrapped);
	return NULL;
}
