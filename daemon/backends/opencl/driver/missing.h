/*
 * The feature that a source needs and the device lacks, found in the compiler's log. That is
 * another error than a source that does not compile. Pure.
 */
#ifndef SYCL_BACKENDS_OPENCL_MISSING_H
#define SYCL_BACKENDS_OPENCL_MISSING_H

/* Words for people, such as "half precision"; NULL: `log` (NULL: none) names nothing that is
 * missing. Static. */
const char *opencl_missing(const char *log);

#endif
