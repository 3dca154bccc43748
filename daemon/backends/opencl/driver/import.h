/* The functions that a loaded library calls in others. */
#ifndef SYCL_OPENCL_IMPORT_H
#define SYCL_OPENCL_IMPORT_H

/* Any function; the caller casts. */
typedef void opencl_function(void);

/*
 * From now on the libraries whose file names begin with `library` call `replacement` where they
 * have called the function `name` of another library. Only calls through the table of imported
 * functions are found, and only on processors that this file knows. Returns the number of places
 * that were changed, 0 if none was found. Any thread; the libraries may be in use.
 */
unsigned opencl_import_replace(const char *library, const char *name, opencl_function *replacement);

#endif
