/*
 * The error about an option that getopt_long has refused: it names the option as it was written,
 * and the known one that is most like it. For programs whose options are no letters, but numbers
 * below ' ', and whose short options are "".
 */
#ifndef SYCL_SHARED_WRONG_OPTION_H
#define SYCL_SHARED_WRONG_OPTION_H

#include <stdbool.h>

struct option;

enum { WRONG_OPTION_BYTES = 256 };

/*
 * `options` is getopt_long's table, `argument` is argv[optind - 1], and `letter` is optopt. True:
 * the text ends with a question, "no such option: '--lisen'. Did you mean '--listen'?". False: it
 * ends without a point, "'--unix' needs a value".
 */
bool wrong_option(const struct option *options, const char *argument, int letter,
		  char text_out[WRONG_OPTION_BYTES]);

#endif
