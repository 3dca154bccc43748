/*
 * Criterion loads libgit2, to show how texts differ. That reads every certificate of the machine's
 * as it starts, here with mbed TLS, in each of thousands of processes. It takes 3 ms of 15, and 17
 * under AddressSanitizer. No test asks anything of a server; these are found before the library's
 * own.
 */
struct mbedtls_x509_crt;

#define FOUND_FIRST __attribute__((visibility("default")))

FOUND_FIRST int mbedtls_x509_crt_parse_file(struct mbedtls_x509_crt *chain, const char *path);
FOUND_FIRST int mbedtls_x509_crt_parse_path(struct mbedtls_x509_crt *chain, const char *path);

int mbedtls_x509_crt_parse_file(struct mbedtls_x509_crt *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}

int mbedtls_x509_crt_parse_path(struct mbedtls_x509_crt *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}
