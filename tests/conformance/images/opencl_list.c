/* The list of image formats that is kept in a file: what it says counts, and a damaged one is made
 * again. */
#include "images/support.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/sycld-image-list.XXXXXX";

static void begin_list(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void end_list(void)
{
	char command[sizeof(folder) + 16];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(image_list, .timeout = 60, .init = begin_list, .fini = end_list);

/* Opens the backend, and returns how many formats the first device with images has. */
static uint32_t count_formats(struct backend_device_facts *facts_out)
{
	const struct backend_settings settings = {.cache_directory = folder};
	struct fixture fixture = {.wake_fd = -1};
	uint32_t count = 0;

	fixture_open_backend_with(&fixture, &settings);
	for (uint32_t i = 0; count == 0 && i < fixture.topology.device_count; i++) {
		count = fixture.topology.devices[i].general_image_format_count;
		*facts_out = fixture.topology.devices[i];
	}
	fixture.ops->close(fixture.backend);
	return count;
}

/* The path of the only list. */
static char *find_list(void)
{
	char pattern[sizeof(folder) + 32];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/opencl/images-*", folder);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "no list is kept");
	cr_assert_eq(found.gl_pathc, 1);
	char *path = strdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

static char *read_text(const char *path)
{
	static char text[8192];
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

static void write_text(const char *path, const char *text, size_t bytes)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(text, 1, bytes, file), bytes);
	(void)fclose(file);
}

Test(image_list, R10_what_is_kept_is_what_the_driver_lists)
{
	struct backend_device_facts first, second;
	uint32_t count = count_formats(&first);

	cr_assert_gt(count, 0);
	free(find_list());
	cr_assert_eq(count_formats(&second), count);
	cr_assert_arr_eq(first.general_image_formats, second.general_image_formats,
			 count * sizeof(uint32_t));
	cr_assert_eq(first.max_read_write_image_args, second.max_read_write_image_args);
	cr_assert_eq(first.image_view_pitch_pixels, second.image_view_pitch_pixels);
}

Test(image_list, R10_the_driver_is_not_asked_where_a_list_is_kept)
{
	struct backend_device_facts facts;
	uint32_t count = count_formats(&facts);
	char *path = find_list(), *text = read_text(path), *entry = strchr(text, '\n') + 1,
	     *next = strchr(entry, '\n') + 1;

	memmove(entry, next, strlen(next) + 1);
	write_text(path, text, strlen(text));
	cr_assert_eq(count_formats(&facts), count - 1);
	free(path);
}

Test(image_list, R10_a_damaged_list_is_made_again)
{
	struct backend_device_facts facts;
	uint32_t count = count_formats(&facts);
	char *path = find_list(), *whole = strdup(read_text(path));
	const size_t bytes = strlen(whole), entry = (size_t)(strchr(whole, '\n') + 1 - whole);

	for (size_t cut = 0; cut < bytes - 1; cut += 1 + bytes / 40) {
		write_text(path, whole, cut);
		cr_assert_eq(count_formats(&facts), count, "cut after %zu bytes", cut);
		cr_assert_str_eq(read_text(path), whole);
	}
	static const char *const wrong[] = {"0\n", "1ffff\n", "ff0101\n", "101\n", "zz\n", "-1\n"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char *text = NULL;
		cr_assert_gt(asprintf(&text, "%.*s%s.\n", (int)entry, whole, wrong[i]), 0);
		write_text(path, text, strlen(text));
		free(text);
		cr_assert_eq(count_formats(&facts), count, "%s", wrong[i]);
	}
	char *other = strdup(whole);
	other[0] ^= 1;
	write_text(path, other, bytes);
	cr_assert_eq(count_formats(&facts), count, "another device's list");
	free(other);
	free(whole);
	free(path);
}

Test(image_list, R10_only_a_file_is_a_list)
{
	struct backend_device_facts facts;
	uint32_t count = count_formats(&facts);
	char *path = find_list();

	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(count_formats(&facts), count, "a pipe");
	(void)unlink(path);
	cr_assert_eq(symlink("/dev/zero", path), 0);
	cr_assert_eq(count_formats(&facts), count, "a link");
	struct stat status;
	cr_assert_eq(lstat(path, &status), 0);
	cr_assert(S_ISREG(status.st_mode));
	free(path);
}
