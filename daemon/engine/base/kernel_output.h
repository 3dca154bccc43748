/*
 * What kernels print with printf. Drivers write it to this process's standard output, which is a
 * piece of memory with an end: a write never waits, and one beyond the end fails. Drivers do not
 * say whose kernel printed. So the scheduler sends at most one command at a time that may print,
 * and takes the text when that command is over (scheduler/dispatch/print.c).
 *
 * One for the process. Without kernel_output_open the output goes where the process's does, and no
 * command is held back: an engine inside the application prints there. Front thread.
 */
#ifndef SYCL_ENGINE_KERNEL_OUTPUT_H
#define SYCL_ENGINE_KERNEL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_output {
	char *text; /* malloc'ed; NULL: nothing */
	size_t bytes;
	bool is_cut; /* the rest had no room, or there was no memory for the text */
};

/* Makes the memory, and standard output of it. 0 or a negative errno; at most once. */
int kernel_output_open(void);
bool kernel_output_is_open(void);
/* A command that may print is sent next: drops what has been written since the last one. */
void kernel_output_begin(void);
/* Takes what has been written since, and adds it to `output`. */
void kernel_output_take(struct kernel_output *output);
/* Frees the text. */
void kernel_output_fini(struct kernel_output *output);

#endif
