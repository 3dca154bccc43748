/* True in a program that is built with AddressSanitizer. Such a program keeps freed memory for a
 * while, maps terabytes, and takes several times as long. */
#ifndef SYCL_TESTS_SANITIZED_H
#define SYCL_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
