/* The compiler's words about a source that has others in front. Any thread; never blocks. */
#ifndef SYCL_BACKENDS_OPENCL_LOG_H
#define SYCL_BACKENDS_OPENCL_LOG_H

/*
 * NVIDIA's compiler does not obey "#line": it counts all that it was given, and calls it
 * "<kernel>". Changed in place to "kernel" and the line of the user's own text; `lines_before`: how
 * many others there are. What lies in those stays.
 */
void opencl_log_renumber(char *log, unsigned long lines_before);

#endif
