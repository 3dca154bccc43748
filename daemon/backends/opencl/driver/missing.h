/* Finds in the compiler's log a feature that a source needs and the device lacks. Such a source
 * gets another error than a source that does not compile. Pure. */
#ifndef SYCL_BACKENDS_OPENCL_MISSING_H
#define SYCL_BACKENDS_OPENCL_MISSING_H

/* A name for people, such as "half precision"; NULL: `log` (NULL: none) names no missing feature.
 * Static. */
const char *opencl_missing(const char *log);

#endif
