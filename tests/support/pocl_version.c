/* Prints the version of PoCL, "3.1+debian", and nothing where it is not installed. pocl.cmake runs
 * it while CMake configures. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*get_platforms)(unsigned, void **, unsigned *);
typedef int (*get_info)(void *, unsigned, size_t, void *, size_t *);

enum { PLATFORMS = 16, PLATFORM_VERSION = 0x0901 };

int main(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *platforms[PLATFORMS];
	get_platforms list = NULL;
	get_info info = NULL;
	unsigned count = 0;

	if (library) {
		*(void **)&list = dlsym(library, "clGetPlatformIDs");
		*(void **)&info = dlsym(library, "clGetPlatformInfo");
	}
	if (!list || !info || list(PLATFORMS, platforms, &count) != 0)
		return 0;
	for (unsigned i = 0; i < count && i < PLATFORMS; i++) {
		char text[256] = "";
		const char *at;
		/* "OpenCL 3.0 PoCL 3.1+debian  Linux, ..." */
		if (info(platforms[i], PLATFORM_VERSION, sizeof(text) - 1, text, NULL) == 0 &&
		    (at = strstr(text, "PoCL ")) != NULL) {
			(void)printf("%.*s\n", (int)strcspn(at + 5, " "), at + 5);
			return 0;
		}
	}
	return 0;
}
