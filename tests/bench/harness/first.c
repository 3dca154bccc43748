#include "harness/first.h"

#include "harness/bench.h"

#include "clock.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>

int bench_first_kernel(const char *program, const char *argument, double *ms_out)
{
	char path[PATH_MAX], line[256];
	int r = build_path("tests", program, path, sizeof(path));
	if (r < 0)
		return r;
	const char *argv[] = {path, argument, NULL};
	struct child child = CHILD_INIT;
	uint64_t start = clock_now_ns(), done = 0;
	r = child_start(argv, NULL, &child);
	if (r == 0)
		r = child_read_line(&child, line, sizeof(line), SECONDS_NS(60));
	if (r == 1 && strncmp(line, "done ", 5) == 0)
		done = strtoull(line + 5, NULL, 10);
	if (done > start && child_wait(&child, SECONDS_NS(60)) == 0) {
		*ms_out = (double)(done - start) / 1e6;
		r = 0;
	} else {
		bench_complain("%s: %s", program, r == 1 ? line : "it did not answer");
		r = -EIO;
	}
	child_end(&child);
	return r;
}
