/* The command line, and the token. */
#include "options.h"
#include "token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(exporter_options, .timeout = 20);

static bool reads(struct options *options, const char *one, const char *two)
{
	char *words[] = {"sycld-exporter", (char *)(uintptr_t)one, (char *)(uintptr_t)two, NULL};
	const char *wrong;
	return options_read(one ? two ? 3 : 2 : 1, words, options, &wrong);
}

static void must_be_wrong(const char *word, const char *text)
{
	char *words[] = {"sycld-exporter", (char *)(uintptr_t)word, NULL};
	struct options options;
	const char *wrong = NULL;
	cr_assert(not(options_read(2, words, &options, &wrong)), "%s", word);
	cr_expect(eq(str, (char *)(uintptr_t)wrong, (char *)(uintptr_t)text));
}

Test(exporter_options, a_wrong_option_is_named_and_a_near_one_suggested)
{
	must_be_wrong("--lsiten=none", "no such option: '--lsiten=none'. Did you mean '--listen'?");
	must_be_wrong("--colour", "no such option: '--colour'");
	must_be_wrong("--unix", "'--unix' needs a value");
	must_be_wrong("--help=5", "'--help' takes no value");
	must_be_wrong("-x", "no such option: '-x'");
	must_be_wrong("-xy", "no such option: '-x'");
	must_be_wrong("-\xc3\xa9", "no such option: '-?'");
}

Test(exporter_options, loopback_is_the_default)
{
	struct options options;
	cr_assert(reads(&options, NULL, NULL));
	cr_expect(options.has_tcp && options.is_loopback);
	cr_assert(reads(&options, "--listen", "[::1]:80"));
	cr_expect(options.is_loopback);
	cr_assert(reads(&options, "--listen", ":0"));
	cr_expect(options.is_loopback);
}

Test(exporter_options, other_addresses_are_not_loopback)
{
	struct options options;
	static const char *const others[] = {"0.0.0.0:1", "[::]:1", "128.0.0.1:1", "[fe80::1]:1"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		cr_assert(reads(&options, "--listen", others[i]), "%s", others[i]);
		cr_expect(not(options.is_loopback), "%s", others[i]);
	}
}

Test(exporter_options, what_is_no_address_is_refused)
{
	struct options options;
	static const char *const wrong[] = {"1.2.3.4",   "1.2.3:80",      "[::1:80", "::1:80",
					    "1.2.3.4:x", "1.2.3.4:65536", "host:80", "[]:1"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect(not(reads(&options, "--listen", wrong[i])), "%s", wrong[i]);
	cr_expect(not(reads(&options, "--users", "0")));
	cr_expect(not(reads(&options, "--users", "1001")));
	cr_expect(not(reads(&options, "--listen", "none")));
	cr_expect(not(reads(&options, "--nothing", NULL)));
	cr_expect(not(reads(&options, "word", NULL)));
}

static int read_token(const char *text, mode_t mode, struct token *token)
{
	char path[] = "/tmp/sycl-token.XXXXXX";
	int file = mkstemp(path);
	cr_assert(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	cr_assert(eq(int, fchmod(file, mode), 0));
	(void)close(file);
	int r = token_read(path, token);
	(void)unlink(path);
	return r;
}

Test(exporter_options, a_token_is_one_long_word)
{
	char long_text[TOKEN_BYTES_MOST + 2];
	struct token token = {.length = 0};
	cr_expect(eq(int, read_token("0123456789abcde\n", 0600, &token), -EBADMSG));
	cr_expect(eq(int, read_token("0123456789 abcdef\n", 0600, &token), -EBADMSG));
	cr_expect(eq(int, read_token("", 0600, &token), -EBADMSG));
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	cr_expect(eq(int, read_token(long_text, 0600, &token), -EBADMSG));
	cr_expect(eq(sz, token.length, 0));
	cr_expect(eq(int, read_token("0123456789abcdef", 0644, &token), -EACCES));
	cr_expect(eq(int, read_token("0123456789abcdef\n", 0440, &token), 0));
	cr_expect(eq(sz, token.length, 16));
}

Test(exporter_options, only_the_token_itself_is_allowed)
{
	struct token token = {.length = 16, .text = "0123456789abcdef"}, none = {.length = 0};
	cr_expect(token_allows(&token, "Bearer 0123456789abcdef"));
	cr_expect(token_allows(&token, "bearer 0123456789abcdef"));
	static const char *const wrong[] = {"Bearer 0123456789abcdeF",
					    "Bearer 0123456789abcde",
					    "Bearer 0123456789abcdef0",
					    "Bearer ",
					    "Basic 0123",
					    "Bearer 0123456789abcdef0123456789abcdef",
					    ""};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect(not(token_allows(&token, wrong[i])), "%s", wrong[i]);
	cr_expect(not(token_allows(&token, NULL)));
	cr_expect(not(token_allows(&none, "Bearer ")));
}
