/*
 * NVIDIA GPUs as syclctl lists them: modes, bus addresses and reasons, through sycld.conf and an
 * engine. On the double of the driver.
 */
#include "processes/common.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_gpu_listing, .timeout = 120);

/* A folder with the double under the driver's name, and the facts that it reports. */
struct double_folder {
	char path[64], library[96], configuration[160];
};

static void gpu_listing_write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	cr_assert_not_null(file);
	cr_assert_geq(fputs(text, file), 0);
	cr_assert_eq(fclose(file), 0);
}

static void make_double(struct double_folder *folder, const char *lines)
{
	char fake[512], file[96];
	cr_assert_eq(build_path("tests", "fake_cuda/libcuda.so.1", fake, sizeof(fake)), 0);
	if (access(fake, R_OK) < 0)
		cr_skip_test("this build has no double of the CUDA driver");
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/sycl-double.XXXXXX");
	cr_assert_not_null(mkdtemp(folder->path));
	(void)snprintf(folder->library, sizeof(folder->library), "%s/libcuda.so.1", folder->path);
	cr_assert_eq(symlink(fake, folder->library), 0);
	(void)snprintf(file, sizeof(file), "%s/fake_cuda.conf", folder->path);
	gpu_listing_write_text(file, lines);
	(void)snprintf(folder->configuration, sizeof(folder->configuration),
		       "[cuda]\nlibrary = %s\n", folder->library);
}

static void end_double(const struct double_folder *folder)
{
	char file[96];
	(void)snprintf(file, sizeof(file), "%s/fake_cuda.conf", folder->path);
	cr_assert_eq(unlink(file), 0);
	cr_assert_eq(unlink(folder->library), 0);
	cr_assert_eq(rmdir(folder->path), 0);
}

static void list_devices(const struct private_service *service, const char *form, char *text,
			 size_t size)
{
	char program[512];
	struct child child = CHILD_INIT;
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	const char *const argv[] = {program, "--runtime-dir", service->runtime, "devices", form,
				    NULL};
	cr_assert_eq(child_start(argv, NULL, &child), 0);
	cr_assert_gt(child_read_all(&child, text, size, SOON), 0);
	cr_assert_eq(child_wait(&child, SOON), 0, "%s", text);
	child_end(&child);
}

static const char *text_of(const json_t *device, const char *name)
{
	const char *text = json_string_value(json_object_get(device, name));
	return text ? text : "";
}

/* Returns the n-th CUDA device of the list. */
static const json_t *cuda_device(const json_t *list, size_t n)
{
	size_t index;
	const json_t *device;
	json_array_foreach(json_object_get(list, "devices"), index, device)
	{
		if (!strcmp(text_of(device, "backend"), "cuda") && n-- == 0)
			return device;
	}
	cr_assert_fail("no such CUDA device");
	return NULL;
}

static char text[65536];

Test(processes_gpu_listing, A6_A15_mode_place_and_identity_are_shown)
{
	struct double_folder folder;
	make_double(&folder,
		    "devices 2\nname Fake H200 (test double) MIG 1g.18gb\nattribute 133 1\n");
	struct private_service *service = processes_service(folder.configuration, false);
	list_devices(service, "--json", text, sizeof(text));
	json_t *list = json_loads(text, 0, NULL);
	cr_assert_not_null(list, "%s", text);
	const json_t *first = cuda_device(list, 0), *second = cuda_device(list, 1);
	cr_assert_str_eq(text_of(first, "mode"), "MIG 1g.18gb, MPS client");
	cr_assert_str_eq(text_of(first, "bus_id"), "0000:1B:00.0");
	cr_assert_str_eq(text_of(second, "bus_id"), "0000:1C:00.0");
	cr_assert_eq(strlen(text_of(first, "uuid")), 36);
	cr_assert_str_neq(text_of(first, "uuid"), text_of(second, "uuid"));
	cr_assert_str_eq(text_of(first, "version"), "9.0"); /* A13 */
	cr_assert(json_is_true(json_object_get(first, "available")));
	json_decref(list);
	(void)private_service_free(service);
	end_double(&folder);
}

Test(processes_gpu_listing, A4_a_gpu_that_cannot_be_used_is_shown_with_the_reason)
{
	struct double_folder folder;
	make_double(&folder, "attribute 20 2\n");
	struct private_service *service = processes_service(folder.configuration, false);
	list_devices(service, "--json", text, sizeof(text));
	json_t *list = json_loads(text, 0, NULL);
	cr_assert_not_null(list, "%s", text);
	const json_t *device = cuda_device(list, 0);
	cr_assert(json_is_false(json_object_get(device, "available")));
	cr_assert_not_null(strstr(text_of(device, "unavailable_reason"), "prohibited"));
	json_decref(list);
	list_devices(service, NULL, text, sizeof(text));
	cr_assert_not_null(strstr(text, "is not available: its compute mode is prohibited"), "%s",
			   text);
	(void)private_service_free(service);
	end_double(&folder);
}

Test(processes_gpu_listing, A4_a_driver_that_cannot_be_used_is_shown_with_the_reason)
{
	struct double_folder folder;
	make_double(&folder, "driver_version 11040\n");
	struct private_service *service = processes_service(folder.configuration, false);
	list_devices(service, NULL, text, sizeof(text));
	cr_assert_not_null(strstr(text, "cuda is not available: the NVIDIA driver is too old"),
			   "%s", text);
	(void)private_service_free(service);
	end_double(&folder);
}
