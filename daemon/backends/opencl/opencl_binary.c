#include "opencl_binary.h"

#include "protocol_limits.h"

#include <stdio.h>
#include <string.h>

static const char magic[8] = {'S', 'Y', 'C', 'L', 'O', 'C', 'L', '1'};

static void put_number(FILE *file, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		(void)fputc((int)((value >> (8 * i)) & 0xff), file);
}

static void put_text(FILE *file, const char *text)
{
	size_t length = strlen(text);

	if (length > UINT16_MAX)
		length = UINT16_MAX;
	put_number(file, length, 2);
	(void)fwrite(text, 1, length, file);
}

int opencl_binary_pack(const struct opencl_binary *binary, void **bytes_out, size_t *count_out)
{
	char *bytes = NULL;
	size_t count = 0;
	FILE *file = open_memstream(&bytes, &count);
	if (!file)
		return -ENOMEM;

	(void)fwrite(magic, 1, sizeof(magic), file);
	put_number(file, binary->is_builtin, 4);
	put_number(file, binary->kernel_count, 4);
	put_number(file, binary->payload_count, 4);
	for (uint32_t k = 0; k < binary->kernel_count; k++) {
		const struct opencl_binary_kernel *kernel = &binary->kernels[k];
		put_text(file, kernel->name);
		put_number(file, kernel->argument_count, 4);
		for (uint32_t a = 0; a < kernel->argument_count; a++) {
			put_number(file, kernel->arguments[a].kind, 1);
			put_number(file, kernel->arguments[a].is_const, 1);
			put_number(file, kernel->arguments[a].size_bytes, 4);
			put_text(file, kernel->arguments[a].type_name);
			put_text(file, kernel->arguments[a].name);
		}
	}
	for (uint32_t i = 0; i < binary->payload_count; i++) {
		put_number(file, binary->payloads[i].count, 8);
		(void)fwrite(binary->payloads[i].bytes, 1, binary->payloads[i].count, file);
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

/* The next text, cut off to fit; "" after a failure. */
static void get_text(struct cursor *cursor, char *text, size_t capacity)
{
	size_t length = (size_t)get_number(cursor, 2);

	text[0] = '\0';
	if (cursor->failed || length > cursor->left) {
		cursor->failed = true;
		return;
	}
	size_t kept = length < capacity - 1 ? length : capacity - 1;
	memcpy(text, cursor->next, kept);
	text[kept] = '\0';
	cursor->next += length;
	cursor->left -= length;
}

static int get_kernel(struct cursor *cursor, struct opencl_binary_kernel *kernel)
{
	char name[NAME_BYTES_MAX + 1];

	get_text(cursor, name, sizeof(name));
	uint64_t count = get_number(cursor, 4);
	if (cursor->failed || count > KERNEL_ARGUMENTS_MAX)
		return -EINVAL;
	kernel->name = strdup(name);
	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	if (!kernel->name || !kernel->arguments)
		return -ENOMEM;
	kernel->argument_count = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		struct backend_argument_facts *argument = &kernel->arguments[i];
		uint64_t kind = get_number(cursor, 1);
		argument->is_const = get_number(cursor, 1) != 0;
		argument->size_bytes = (uint32_t)get_number(cursor, 4);
		get_text(cursor, argument->type_name, sizeof(argument->type_name));
		get_text(cursor, argument->name, sizeof(argument->name));
		if (cursor->failed || kind > BACKEND_ARGUMENT_SAMPLER)
			return -EINVAL;
		argument->kind = (enum backend_argument_kind)kind;
	}
	return 0;
}

static int get_payload(struct cursor *cursor, struct opencl_payload *payload)
{
	uint64_t count = get_number(cursor, 8);

	if (cursor->failed || count == 0 || count > cursor->left)
		return -EINVAL;
	payload->bytes = calloc(1, count + 1);
	if (!payload->bytes)
		return -ENOMEM;
	memcpy(payload->bytes, cursor->next, count);
	payload->count = count;
	cursor->next += count;
	cursor->left -= count;
	return 0;
}

int opencl_binary_unpack(const void *bytes, size_t count, struct opencl_binary **binary_out)
{
	struct cursor cursor = {.next = bytes, .left = count};
	int error = 0;
	CLEANUP(opencl_binary_cleanup) struct opencl_binary *binary = calloc(1, sizeof(*binary));
	if (!binary)
		return -ENOMEM;

	if (count < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EINVAL;
	cursor.next += sizeof(magic);
	cursor.left -= sizeof(magic);
	binary->is_builtin = get_number(&cursor, 4) != 0;
	uint64_t kernels = get_number(&cursor, 4), payloads = get_number(&cursor, 4);
	if (cursor.failed || kernels > OPENCL_BINARY_KERNELS_MAX || (payloads != 1 && payloads != OPENCL_VARIANTS))
		return -EINVAL;
	binary->kernels = calloc(kernels ? kernels : 1, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < kernels; i++) {
		binary->kernel_count = i + 1;
		error = get_kernel(&cursor, &binary->kernels[i]);
	}
	for (uint32_t i = 0; error == 0 && i < payloads; i++) {
		binary->payload_count = i + 1;
		error = get_payload(&cursor, &binary->payloads[i]);
	}
	if (error < 0)
		return error;
	if (cursor.left != 0)
		return -EINVAL;
	*binary_out = TAKE(binary);
	return 0;
}

void opencl_binary_fini(struct opencl_binary *binary)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++) {
		free(binary->kernels[i].name);
		free(binary->kernels[i].arguments);
	}
	for (uint32_t i = 0; i < OPENCL_VARIANTS; i++)
		free(binary->payloads[i].bytes);
	free(binary->kernels);
	*binary = (struct opencl_binary){0};
}

struct opencl_binary *opencl_binary_free(struct opencl_binary *binary)
{
	if (binary)
		opencl_binary_fini(binary);
	free(binary);
	return NULL;
}

const struct opencl_binary_kernel *opencl_binary_kernel(const struct opencl_binary *binary, const char *name)
{
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		if (strcmp(binary->kernels[i].name, name) == 0)
			return &binary->kernels[i];
	return NULL;
}
