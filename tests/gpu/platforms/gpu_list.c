/*
 * gpu_list --endpoint E [--backend cuda|opencl] [--platform NAME] [--device N] [--times N]
 * [--write-nowhere yes] runs the list on one device of a service. It prints a line for each check.
 * 0: all hold, 1: not all, 77: there is no such device. With --write-nowhere a kernel writes to an
 * invalid address instead, which a memory checker must find.
 */
#include "platforms/list.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
	const char *endpoint, *platform;
	sycl_backend backend;
	uint32_t device;
	unsigned times;
	bool writes_nowhere;
};

static bool take_argument(struct arguments *arguments, const char *name, const char *value)
{
	if (strcmp(name, "--endpoint") == 0)
		arguments->endpoint = value;
	else if (strcmp(name, "--platform") == 0)
		arguments->platform = value;
	else if (strcmp(name, "--device") == 0)
		arguments->device = (uint32_t)strtoul(value, NULL, 10);
	else if (strcmp(name, "--times") == 0)
		arguments->times = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(name, "--backend") == 0 && strcmp(value, "cuda") == 0)
		arguments->backend = SYCL_BACKEND_KIND_CUDA;
	else if (strcmp(name, "--backend") == 0 && strcmp(value, "opencl") == 0)
		arguments->backend = SYCL_BACKEND_KIND_OPENCL;
	else if (strcmp(name, "--write-nowhere") == 0)
		arguments->writes_nowhere = strcmp(value, "yes") == 0;
	else
		return false;
	return true;
}

/* A value with the size of a pointer is a pointer for the kernel. 0: it was submitted, and
 * failed. */
static int write_nowhere(struct list *list)
{
	const uint64_t nowhere = 4096;
	sycl_handler handler = NULL;
	sycl_kernel kernel = list_kernel(list, "nowhere");
	if (!kernel || !list_begin(list, list->in_order, &handler))
		return 1;
	if (sycl_handler_set_value(handler, 0, sizeof(nowhere), &nowhere) != SYCL_SUCCESS ||
	    sycl_handler_single_task(handler, kernel) != SYCL_SUCCESS ||
	    sycl_handler_submit(handler, NULL) != SYCL_SUCCESS)
		return 1;
	return sycl_queue_wait_and_throw(list->in_order) == SYCL_SUCCESS ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.backend = SYCL_BACKEND_KIND_CUDA, .times = 1};
	struct list list;
	unsigned failed = 0;
	for (int i = 1; i < argc; i += 2)
		if (i + 1 >= argc || !take_argument(&arguments, argv[i], argv[i + 1])) {
			(void)fprintf(stderr, "gpu_list: unknown argument, or no value: '%s'\n",
				      argv[i]);
			return 2;
		}
	if (!list_open(&list, arguments.endpoint, arguments.backend, arguments.platform,
		       arguments.device)) {
		(void)printf("the list cannot run: %s\n", list.text);
		int status = list.device ? 1 : 77;
		list_close(&list);
		return status;
	}
	if (arguments.writes_nowhere) {
		int status = write_nowhere(&list);
		(void)printf(
			"%s\n",
			status ? list.text
			       : "the kernel with an invalid address has failed, as it should");
		list_close(&list);
		return status;
	}
	for (unsigned time = 0; time < arguments.times; time++)
		failed += list_run(&list, stdout);
	list_close(&list);
	return failed ? 1 : 0;
}
