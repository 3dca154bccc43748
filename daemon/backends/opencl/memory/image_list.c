#include "opencl/memory/image_list.h"

#include "cleanup.h"
#include "image_format.h"
#include "opencl/driver/query.h"
#include "opencl/memory/image.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All formats that the driver lists for a type of images, as numbers; returns how many. */
static uint32_t list_formats(const struct opencl_library *cl, cl_context context,
			     cl_mem_object_type type, uint32_t numbers[BACKEND_GENERAL_FORMATS_MAX])
{
	cl_image_format formats[256];
	cl_uint count = 0;
	uint32_t found = 0;

	if (cl->GetSupportedImageFormats(context, CL_MEM_READ_WRITE, type,
					 sizeof(formats) / sizeof(*formats), formats,
					 &count) != CL_SUCCESS)
		return 0;
	if (count > sizeof(formats) / sizeof(*formats))
		count = sizeof(formats) / sizeof(*formats);
	for (cl_uint i = 0; i < count; i++)
		for (uint32_t code = 0; code < IMAGE_ORDERS * IMAGE_TYPES; code++) {
			uint32_t number = IMAGE_FORMAT_GENERAL + code;
			if (!image_format_find(number) || found == BACKEND_GENERAL_FORMATS_MAX)
				continue;
			cl_image_format known =
				opencl_native_format((enum backend_image_format)number);
			if (known.image_channel_order == formats[i].image_channel_order &&
			    known.image_channel_data_type == formats[i].image_channel_data_type)
				numbers[found++] = number;
		}
	return found;
}

static void note_format(struct backend_device_facts *facts, uint32_t number, enum image_kind kind)
{
	uint32_t at = 0;

	while (at < facts->general_image_format_count &&
	       IMAGE_ENTRY_FORMAT(facts->general_image_formats[at]) != number)
		at++;
	if (at == BACKEND_GENERAL_FORMATS_MAX)
		return;
	if (at == facts->general_image_format_count)
		facts->general_image_formats[facts->general_image_format_count++] = number;
	facts->general_image_formats[at] |= 1u << (16 + kind);
}

enum { LINE_BYTES = 1024, NAME_BYTES_MAX = 200 };

static void ask_driver(const struct opencl_library *cl, cl_device_id device,
		       struct backend_device_facts *facts)
{
	static const cl_mem_object_type types[] = {
		[IMAGE_KIND_1D] = CL_MEM_OBJECT_IMAGE1D,
		[IMAGE_KIND_2D] = CL_MEM_OBJECT_IMAGE2D,
		[IMAGE_KIND_3D] = CL_MEM_OBJECT_IMAGE3D,
		[IMAGE_KIND_1D_LAYERED] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
		[IMAGE_KIND_2D_LAYERED] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
		[IMAGE_KIND_1D_VIEW] = CL_MEM_OBJECT_IMAGE1D_BUFFER,
	};
	uint32_t numbers[BACKEND_GENERAL_FORMATS_MAX];
	cl_int code = CL_SUCCESS;

	cl_context context = cl->CreateContext(NULL, 1, &device, NULL, NULL, &code);
	if (!context)
		return;
	for (uint32_t kind = 0; kind < sizeof(types) / sizeof(*types); kind++) {
		uint32_t count = list_formats(cl, context, types[kind], numbers);
		for (uint32_t i = 0; i < count; i++)
			note_format(facts, numbers[i], (enum image_kind)kind);
	}
	(void)cl->ReleaseContext(context);
}

/* The file's name is the key's letters and digits. Its first line is the key, so that keys whose
 * names are equal only take each other's place. */
static char *list_path(const char *folder, const char *key)
{
	char name[NAME_BYTES_MAX + 1];
	char *path = NULL;
	size_t i = 0;

	for (; key[i] && i < NAME_BYTES_MAX; i++)
		name[i] = (char)(isalnum((unsigned char)key[i]) ? key[i] : '_');
	name[i] = '\0';
	if (!folder || strchr(key, '\n') || asprintf(&path, "%s/images-%s", folder, name) < 0)
		return NULL;
	return path;
}

static bool is_entry(unsigned long entry)
{
	const unsigned long kinds = entry >> 16;

	return image_format_find((uint32_t)IMAGE_ENTRY_FORMAT(entry)) && kinds != 0 &&
	       kinds < 1ul << IMAGE_KIND_2D_VIEW;
}

/* The next line of the file, without its end. NULL: there is none, or it is too long for a list. */
static const char *next_line(FILE *file, char line[LINE_BYTES])
{
	if (!fgets(line, LINE_BYTES, file))
		return NULL;
	size_t length = strlen(line);
	if (length == 0 || line[length - 1] != '\n')
		return NULL;
	line[length - 1] = '\0';
	return line;
}

/* The key, a number for each entry, and a point, each on a line. */
static bool read_entries(FILE *file, const char *key, struct backend_device_facts *facts)
{
	char line[LINE_BYTES];
	uint32_t count = 0;

	const char *text = next_line(file, line);
	if (!text || strcmp(text, key) != 0)
		return false;
	while ((text = next_line(file, line)) && strcmp(text, ".") != 0) {
		char *end = NULL;
		unsigned long entry = strtoul(text, &end, 16);
		if (*end || count == BACKEND_GENERAL_FORMATS_MAX || !is_entry(entry))
			return false;
		facts->general_image_formats[count++] = (uint32_t)entry;
	}
	facts->general_image_format_count = count;
	return text && count > 0;
}

static bool read_list(const char *path, struct backend_device_facts *facts)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	const bool is_list = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	FILE *file = is_list ? fdopen(fd, "r") : NULL;

	if (!file) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	const bool found = read_entries(file, facts->key, facts);
	(void)fclose(file);
	return found;
}

/* Another process may write the same list, so the whole file takes its place at once. */
static void keep_list(const char *path, const struct backend_device_facts *facts)
{
	CLEANUP(free_pointer) char *part = NULL;

	if (asprintf(&part, "%s.XXXXXX", path) < 0) {
		part = NULL;
		return;
	}
	int fd = mkostemp(part, O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			(void)close(fd), (void)unlink(part);
		return;
	}
	(void)fprintf(file, "%s\n", facts->key);
	for (uint32_t i = 0; i < facts->general_image_format_count; i++)
		(void)fprintf(file, "%x\n", (unsigned)facts->general_image_formats[i]);
	(void)fprintf(file, ".\n");
	const bool failed = ferror(file) != 0;
	if (fclose(file) != 0 || failed || rename(part, path) < 0)
		(void)unlink(part);
}

/* The kind of views of buffers with rows is no type of images that a driver lists. */
static void fill_views(const struct opencl_library *cl, cl_device_id device,
		       struct backend_device_facts *facts)
{
	facts->image_view_pitch_pixels =
		opencl_device_uint(cl, device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT);
	facts->image_view_base_pixels =
		opencl_device_uint(cl, device, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT);
	if (!facts->image_view_pitch_pixels || !facts->image_view_base_pixels)
		return;
	for (uint32_t i = 0; i < facts->general_image_format_count; i++)
		if (facts->general_image_formats[i] & 1u << (16 + IMAGE_KIND_2D))
			facts->general_image_formats[i] |= 1u << (16 + IMAGE_KIND_2D_VIEW);
}

void opencl_image_list_fill(const struct opencl_library *cl, cl_device_id device,
			    const char *folder, struct backend_device_facts *facts)
{
	CLEANUP(free_pointer) char *path = list_path(folder, facts->key);

	if (!path || !read_list(path, facts)) {
		facts->general_image_format_count = 0;
		ask_driver(cl, device, facts);
		if (path && facts->general_image_format_count > 0)
			keep_list(path, facts);
	}
	facts->max_read_write_image_args =
		opencl_device_uint(cl, device, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS);
	fill_views(cl, device, facts);
}
