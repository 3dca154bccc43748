/* The compiler's log of a source with other text before it. Any thread; never blocks. */
#ifndef SYCL_BACKENDS_OPENCL_LOG_H
#define SYCL_BACKENDS_OPENCL_LOG_H

/*
 * NVIDIA's compiler ignores "#line": it counts all lines of its input, and names the input
 * "<kernel>". The log is changed in place to "kernel" and the line of the user's own text.
 * `lines_before`: the number of lines before the user's. Messages about those lines are not
 * changed.
 */
void opencl_log_renumber(char *log, unsigned long lines_before);

#endif
