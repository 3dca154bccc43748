/* The compiler's words about a source that has others in front. Any thread; never blocks. */
#ifndef SYCL_BACKENDS_OPENCL_LOG_H
#define SYCL_BACKENDS_OPENCL_LOG_H

/*
 * NVIDIA's compiler ignores "#line": it counts all lines of its input, and names it "<kernel>".
 * Changed in place to "kernel" and the line of the user's own text. `lines_before`: how many other
 * lines come first. Messages about those stay.
 */
void opencl_log_renumber(char *log, unsigned long lines_before);

#endif
