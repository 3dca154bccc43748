#include "cuda_binary.h"

#include "cuda_symbol.h"
#include "protocol_limits.h"

#include <stdio.h>
#include <string.h>

static const char magic[8] = {'S', 'Y', 'C', 'L', 'C', 'U', '0', '1'};

static void put_number(FILE *file, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		(void)fputc((int)(value >> (8 * i) & 0xff), file);
}

static void put_text(FILE *file, const char *text)
{
	size_t length = strlen(text);

	put_number(file, length, 2);
	(void)fwrite(text, 1, length, file);
}

static void put_kernel(FILE *file, const struct cuda_binary_kernel *kernel)
{
	put_text(file, kernel->name);
	put_text(file, kernel->symbol);
	for (unsigned d = 0; d < 3; d++)
		put_number(file, kernel->required[d], 4);
	put_number(file, kernel->argument_count, 4);
	for (uint32_t a = 0; a < kernel->argument_count; a++) {
		const struct cuda_binary_argument *argument = &kernel->arguments[a];
		put_number(file, argument->facts.kind, 1);
		put_number(file, argument->facts.is_const, 1);
		put_number(file, argument->local, 1);
		put_number(file, argument->facts.size_bytes, 4);
		put_text(file, argument->facts.type_name);
	}
}

int cuda_binary_pack(const struct cuda_binary *binary, void **bytes_out, size_t *count_out)
{
	char *bytes = NULL;
	size_t count = 0;
	FILE *file = open_memstream(&bytes, &count);

	if (!file)
		return -ENOMEM;
	(void)fwrite(magic, 1, sizeof(magic), file);
	put_number(file, binary->flags, 4);
	put_number(file, binary->kernel_count, 4);
	put_number(file, binary->image_count, 4);
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		put_kernel(file, &binary->kernels[i]);
	for (uint32_t i = 0; i < binary->image_count; i++) {
		put_number(file, binary->images[i].kind, 1);
		put_number(file, binary->images[i].count, 8);
		(void)fwrite(binary->images[i].bytes, 1, binary->images[i].count, file);
	}
	int failed = ferror(file);
	if (fclose(file) != 0 || failed) {
		free(bytes);
		return -ENOMEM;
	}
	*bytes_out = bytes;
	*count_out = count;
	return 0;
}

struct cursor {
	const unsigned char *next;
	size_t left;
	bool failed;
};

static uint64_t get_number(struct cursor *cursor, unsigned bytes)
{
	uint64_t value = 0;

	if (cursor->left < bytes) {
		cursor->failed = true;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)cursor->next[i] << (8 * i);
	cursor->next += bytes;
	cursor->left -= bytes;
	return value;
}

/* A text without zeros in it, malloc'ed; NULL: cut off, or no memory. */
static char *get_text(struct cursor *cursor, size_t most)
{
	size_t length = (size_t)get_number(cursor, 2);

	if (cursor->failed || length > cursor->left || length > most || memchr(cursor->next, '\0', length)) {
		cursor->failed = true;
		return NULL;
	}
	char *text = strndup((const char *)cursor->next, length);
	cursor->next += length;
	cursor->left -= length;
	return text;
}

static int get_argument(struct cursor *cursor, struct cuda_binary_argument *argument)
{
	uint64_t kind = get_number(cursor, 1);
	argument->facts.is_const = get_number(cursor, 1) != 0;
	uint64_t local = get_number(cursor, 1);
	argument->facts.size_bytes = (uint32_t)get_number(cursor, 4);
	CLEANUP(free_pointer) char *type = get_text(cursor, sizeof(argument->facts.type_name) - 1);

	if (!type)
		return cursor->failed ? -EINVAL : -ENOMEM;
	/* Images and samplers are not known to this format. */
	if (kind > BACKEND_ARGUMENT_LOCAL || local > CUDA_LOCAL_SHARED)
		return -EINVAL;
	argument->facts.kind = (enum backend_argument_kind)kind;
	argument->local = (enum cuda_local_form)local;
	memcpy(argument->facts.type_name, type, strlen(type) + 1);
	return 0;
}

static int get_kernel(struct cursor *cursor, struct cuda_binary_kernel *kernel)
{
	kernel->name = get_text(cursor, UINT16_MAX);
	kernel->symbol = kernel->name ? get_text(cursor, UINT16_MAX) : NULL;
	if (!kernel->symbol)
		return cursor->failed ? -EINVAL : -ENOMEM;
	for (unsigned d = 0; d < 3; d++)
		kernel->required[d] = (uint32_t)get_number(cursor, 4);
	uint64_t count = get_number(cursor, 4);
	if (cursor->failed || count > KERNEL_ARGUMENTS_MAX)
		return -EINVAL;
	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	if (!kernel->arguments)
		return -ENOMEM;
	kernel->argument_count = (uint32_t)count;
	for (uint32_t a = 0; a < count; a++) {
		int error = get_argument(cursor, &kernel->arguments[a]);
		if (error < 0)
			return error;
	}
	return 0;
}

static int get_image(struct cursor *cursor, struct cuda_binary *binary)
{
	uint64_t kind = get_number(cursor, 1), count = get_number(cursor, 8);
	enum cuda_image_kind found = CUDA_IMAGE_PTX;

	if (cursor->failed || count == 0 || count > cursor->left)
		return -EINVAL;
	if (kind == CUDA_IMAGE_PTX ? memchr(cursor->next, '\0', count) != NULL
				   : cuda_image_check(cursor->next, count, &found) < 0 || found != kind)
		return -EINVAL;
	int error = cuda_binary_add_image(binary, (enum cuda_image_kind)kind, cursor->next, count);
	cursor->next += count;
	cursor->left -= count;
	return error;
}

int cuda_binary_unpack(const void *bytes, size_t count, struct cuda_binary **binary_out)
{
	struct cursor cursor = {.next = bytes, .left = count};
	int error = 0;
	CLEANUP(cuda_binary_cleanup) struct cuda_binary *binary = calloc(1, sizeof(*binary));

	if (!binary)
		return -ENOMEM;
	if (count < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EINVAL;
	cursor.next += sizeof(magic);
	cursor.left -= sizeof(magic);
	uint64_t flags = get_number(&cursor, 4), kernels = get_number(&cursor, 4), images = get_number(&cursor, 4);
	/* Portable kernels have an image for each number of dimensions, others one. */
	if (cursor.failed || flags > CUDA_BINARY_NATIVE || kernels > CUDA_BINARY_KERNELS_MAX ||
	    images != (flags & CUDA_BINARY_NATIVE ? 1 : CUDA_IMAGES_MAX))
		return -EINVAL;
	binary->flags = (uint32_t)flags;
	binary->kernels = calloc(kernels ? kernels : 1, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < kernels; i++) {
		binary->kernel_count = i + 1;
		error = get_kernel(&cursor, &binary->kernels[i]);
	}
	for (uint32_t i = 0; error == 0 && i < images; i++)
		error = get_image(&cursor, binary);
	if (error < 0)
		return error;
	if (cursor.left != 0)
		return -EINVAL;
	*binary_out = TAKE(binary);
	return 0;
}

int cuda_binary_add_image(struct cuda_binary *binary, enum cuda_image_kind kind, const void *bytes, size_t count)
{
	char *copy = malloc(count + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, count);
	copy[count] = '\0';
	binary->images[binary->image_count++] = (struct cuda_image){kind, copy, count};
	return 0;
}

void cuda_binary_fini(struct cuda_binary *binary)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++) {
		free(binary->kernels[i].name);
		free(binary->kernels[i].symbol);
		free(binary->kernels[i].arguments);
	}
	for (uint32_t i = 0; i < binary->image_count; i++)
		free(binary->images[i].bytes);
	free(binary->kernels);
	*binary = (struct cuda_binary){0};
}

struct cuda_binary *cuda_binary_free(struct cuda_binary *binary)
{
	if (binary)
		cuda_binary_fini(binary);
	free(binary);
	return NULL;
}

const struct cuda_binary_kernel *cuda_binary_find(const struct cuda_binary *binary, const char *name)
{
	const struct cuda_binary_kernel *same = NULL;

	for (uint32_t i = 0; i < binary->kernel_count; i++) {
		const struct cuda_binary_kernel *kernel = &binary->kernels[i];
		if (strcmp(kernel->name, name) == 0 || strcmp(kernel->symbol, name) == 0)
			return kernel;
		if (!same && cuda_symbol_same_name(kernel->name, name))
			same = kernel;
	}
	return same;
}
