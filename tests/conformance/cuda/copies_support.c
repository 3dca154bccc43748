#include "cuda/copies_support.h"

#include <stdlib.h>
#include <sys/mman.h>

/* This makes chains long, whatever time this machine took for earlier launches. */
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

bool copies_are_real(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	return which && strcmp(which, "real") == 0;
}

void copies_open(struct copies_scene *scene, const char *option)
{
	const char *const more[] = {option, NULL};
	struct backend_fault fault = {0};

	*scene = (struct copies_scene){.host = NULL};
	target_cuda_open_with(&scene->fixture, more);
	scene->pages =
		mmap(NULL, COPIES_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((void *)scene->pages, MAP_FAILED);
	cr_assert_eq(scene->fixture.ops->host_register(scene->fixture.device, scene->pages,
						       COPIES_ROOM, &scene->host, &fault),
		     0, "%s", fault.text);
	scene->memory = fixture_memory(&scene->fixture, COPIES_ROOM, NULL);
	scene->increment = fixture_kernel(&scene->fixture, "increment_u32");
	scene->argument = global_argument(scene->memory);
}

void copies_close(struct copies_scene *scene, bool is_lost)
{
	const struct backend_ops *ops = scene->fixture.ops;

	ops->kernel_free(scene->increment);
	ops->memory_free(scene->memory);
	ops->host_unregister(scene->host);
	fixture_close(&scene->fixture);
	(void)munmap(scene->pages, COPIES_ROOM);
	if (!copies_are_real() && !is_lost)
		double_check(true);
}

struct backend_command copies_increment(struct copies_scene *scene, const uint64_t *count)
{
	*cuda_kernel_pace(scene->increment) = short_and_known;
	return launch_command(scene->increment, 1, count, &scene->argument, 1);
}

struct backend_command copies_transfer(struct copies_scene *scene, enum backend_command_kind kind,
				       uint64_t offset, void *host, uint64_t bytes)
{
	return (struct backend_command){.kind = kind,
					.transfer = {.memory = scene->memory,
						     .offset_bytes = offset,
						     .host = host,
						     .size_bytes = bytes}};
}

uint64_t copies_not_by_kernels(void)
{
	return copies_are_real() ? 0 : double_count("copies") + double_count("box_copies");
}

void copies_fill_counting(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}
