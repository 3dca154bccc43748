#include "cuda/driver/nvrtc.h"

#include "cuda/driver/context.h"
#include "status.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURES_MAX 128

/* The loader's path first, then the toolkit's usual folders outside that path. */
static const char *const usual_names[] = {
	"libnvrtc.so.13",
	"libnvrtc.so.12",
	"/usr/local/cuda/lib64/libnvrtc.so.13",
	"/usr/local/cuda/lib64/libnvrtc.so.12",
};

/*
 * NVRTC opens a second library by its bare name when it compiles. If the first one was opened by
 * its path, the loader may not search that folder. But it finds a library that is already loaded.
 * The second library is never closed, because NVRTC uses it from then on.
 */
static void open_builtins_beside(const char *path)
{
	static const char start[] = "libnvrtc-builtins.so.";
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], whole[PATH_MAX];

	if (!slash || (size_t)(slash - path) >= sizeof(folder))
		return;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	DIR *list = opendir(folder);
	const struct dirent *entry;
	while (list && (entry = readdir(list)) != NULL) {
		if (strncmp(entry->d_name, start, sizeof(start) - 1) != 0)
			continue;
		int length = snprintf(whole, sizeof(whole), "%s/%s", folder, entry->d_name);
		if (length > 0 && (size_t)length < sizeof(whole))
			(void)dlopen(whole, RTLD_NOW | RTLD_LOCAL);
	}
	if (list)
		(void)closedir(list);
}

static void *nvrtc_open_library(const char *name)
{
	if (name) {
		open_builtins_beside(name);
		return dlopen(name, RTLD_NOW | RTLD_LOCAL);
	}
	for (size_t i = 0; i < sizeof(usual_names) / sizeof(*usual_names); i++) {
		void *handle = dlopen(usual_names[i], RTLD_NOW | RTLD_LOCAL);
		if (handle)
			return handle;
	}
	return NULL;
}

static bool look_up_nvrtc(struct cuda_nvrtc *nvrtc)
{
	bool whole = true;

#define CUDA_NVRTC_FIND(name, result, parameters)                                                  \
	*(void **)&nvrtc->name = dlsym(nvrtc->handle, "nvrtc" #name);                              \
	whole = whole && nvrtc->name;
	CUDA_NVRTC_FUNCTIONS(CUDA_NVRTC_FIND)
#undef CUDA_NVRTC_FIND
	return whole;
}

/* Chooses the device's own architecture, or else the newest one before it, whose PTX runs on the
 * device. */
static bool choose_architecture(struct cuda_nvrtc *nvrtc, int wanted)
{
	int count = 0, architectures[ARCHITECTURES_MAX];

	if (nvrtc->GetNumSupportedArchs(&count) != NVRTC_DONE || count <= 0 ||
	    count > ARCHITECTURES_MAX || nvrtc->GetSupportedArchs(architectures) != NVRTC_DONE)
		return false;
	for (int i = 0; i < count; i++)
		if (architectures[i] <= wanted && architectures[i] > nvrtc->newest)
			nvrtc->newest = architectures[i];
	nvrtc->exact = nvrtc->newest == wanted;
	return nvrtc->newest > 0;
}

/* A toolkit has its headers beside its libraries. Without a toolkit, sources can include built-in
 * headers only. */
static void find_headers(struct cuda_nvrtc *nvrtc)
{
	static const char *const places[] = {"../include", "../../../include"};
	char folder[PATH_MAX], file[PATH_MAX + 32];
	Dl_info info;

	if (!dladdr((const void *)(uintptr_t)nvrtc->CompileProgram, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, folder))
		return;
	char *slash = strrchr(folder, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		(void)snprintf(file, sizeof(file), "%s/%s/cuda_fp16.h", folder, places[i]);
		char *found = realpath(file, NULL);
		if (!found)
			continue;
		*strrchr(found, '/') = '\0';
		if (strlen(found) < sizeof(nvrtc->include))
			memcpy(nvrtc->include, found, strlen(found) + 1);
		free(found);
		return;
	}
}

int cuda_nvrtc_open(const char *name, int compute_major, int compute_minor,
		    struct cuda_nvrtc *nvrtc_out, struct backend_fault *fault_out)
{
	struct cuda_nvrtc nvrtc = {.handle = nvrtc_open_library(name)};
	int wanted = compute_major * 10 + compute_minor;

	if (!nvrtc.handle)
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"sources cannot be compiled for CUDA: %s is not installed (nvrtc in sycld.conf)",
			name ? name : "NVRTC (libnvrtc.so.13 or .12)");
	if (!look_up_nvrtc(&nvrtc) || nvrtc.Version(&nvrtc.major, &nvrtc.minor) != NVRTC_DONE)
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"sources cannot be compiled for CUDA: this NVRTC is older than 11.2");
	if (!choose_architecture(&nvrtc, wanted))
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"NVRTC %d.%d compiles nothing that runs on compute capability %d.%d",
			nvrtc.major, nvrtc.minor, compute_major, compute_minor);
	find_headers(&nvrtc);
	*nvrtc_out = nvrtc;
	return 0;
}
