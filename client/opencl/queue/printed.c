/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels print with printf: passed on to the program's standard output after each wait. */
#include "queue/queue.h"

#include <stdio.h>

static void write_out(const char *text, uint64_t bytes, uint32_t is_cut, void *unused)
{
	(void)unused;
	if (bytes > 0)
		(void)fwrite(text, 1, bytes, stdout);
	(void)fflush(stdout);
	if (is_cut)
		(void)fputs("sycld: more was printed than there is room for; the rest is lost\n",
			    stderr);
}

void printed_pass_on(cl_context context)
{
	(void)sycl_platform_take_output(context->platform->sycl, write_out, NULL);
}
