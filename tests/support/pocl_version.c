/* Prints the version of PoCL and the processor for which its first device compiles, as "3.1+debian
 * x86_64-pc-linux-gnu-haswell". It prints nothing if PoCL is not installed. pocl.cmake runs it
 * while CMake configures. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*get_platforms)(unsigned, void **, unsigned *);
typedef int (*get_devices)(void *, uint64_t, unsigned, void **, unsigned *);
typedef int (*get_info)(void *, unsigned, size_t, void *, size_t *);

enum {
	PLATFORMS = 16,
	PLATFORM_VERSION = 0x0901,
	DEVICE_VERSION = 0x102f,
};
static const uint64_t all_devices = 0xffffffff;

static get_devices devices_of;
static get_info platform_info, device_info;

/* "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-haswell" */
static void print_processor(void *platform)
{
	char text[256] = "";
	void *device = NULL;
	const char *at;

	if (devices_of(platform, all_devices, 1, &device, NULL) == 0 &&
	    device_info(device, DEVICE_VERSION, sizeof(text) - 1, text, NULL) == 0 &&
	    (at = strstr(text, "pthread-")) != NULL)
		(void)printf(" %s", at + strlen("pthread-"));
}

int main(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *platforms[PLATFORMS];
	get_platforms list = NULL;
	unsigned count = 0;

	if (library) {
		*(void **)&list = dlsym(library, "clGetPlatformIDs");
		*(void **)&devices_of = dlsym(library, "clGetDeviceIDs");
		*(void **)&platform_info = dlsym(library, "clGetPlatformInfo");
		*(void **)&device_info = dlsym(library, "clGetDeviceInfo");
	}
	if (!list || !devices_of || !platform_info || !device_info ||
	    list(PLATFORMS, platforms, &count) != 0)
		return 0;
	for (unsigned i = 0; i < count && i < PLATFORMS; i++) {
		char text[256] = "";
		const char *at;
		/* "OpenCL 3.0 PoCL 3.1+debian  Linux, ..." */
		if (platform_info(platforms[i], PLATFORM_VERSION, sizeof(text) - 1, text, NULL) ==
			    0 &&
		    (at = strstr(text, "PoCL ")) != NULL) {
			(void)printf("%.*s", (int)strcspn(at + 5, " "), at + 5);
			print_processor(platforms[i]);
			(void)puts("");
			return 0;
		}
	}
	return 0;
}
