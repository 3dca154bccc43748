#include "cuda/program/binary.h"

#include "binary_stream.h"
#include "cuda/program/symbol.h"
#include "protocol_limits.h"

#include <stdio.h>
#include <string.h>

static const char magic[8] = {'S', 'Y', 'C', 'L', 'C', 'U', '0', '3'};

/* Bits in the word with the number of arguments. */
#define KERNEL_WAITS  (1u << 31)
#define KERNEL_CHECKS (1u << 30)

static void put_kernel(FILE *file, const struct cuda_binary_kernel *kernel)
{
	binary_put_text(file, kernel->name);
	binary_put_text(file, kernel->symbol);
	for (unsigned d = 0; d < 3; d++)
		binary_put_number(file, kernel->required[d], 4);
	binary_put_number(file,
			  kernel->argument_count | (kernel->waits ? KERNEL_WAITS : 0u) |
				  (kernel->is_checked ? KERNEL_CHECKS : 0u),
			  4);
	for (uint32_t a = 0; a < kernel->argument_count; a++) {
		const struct cuda_binary_argument *argument = &kernel->arguments[a];
		binary_put_number(file, argument->facts.kind, 1);
		binary_put_number(file, argument->facts.is_const, 1);
		binary_put_number(file, argument->local, 1);
		binary_put_number(file, argument->facts.address, 1);
		binary_put_number(file, argument->facts.qualifiers, 1);
		binary_put_number(file, argument->facts.access, 1);
		binary_put_number(file, argument->facts.size_bytes, 4);
		binary_put_text(file, argument->facts.type_name);
		binary_put_text(file, argument->facts.name);
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
	binary_put_number(file, binary->flags, 4);
	binary_put_number(file, binary->kernel_count, 4);
	binary_put_number(file, binary->image_count, 4);
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		put_kernel(file, &binary->kernels[i]);
	for (uint32_t i = 0; i < binary->image_count; i++) {
		binary_put_number(file, binary->images[i].kind, 1);
		binary_put_number(file, binary->images[i].count, 8);
		(void)fwrite(binary->images[i].bytes, 1, binary->images[i].count, file);
	}
	return binary_put_end(file, &bytes, &count, bytes_out, count_out);
}

/* Reads a text without zeros in it, malloc'ed. NULL: the text is cut off or too long, or there is
 * no memory. */
static char *cuda_get_text(struct binary_reader *reader, size_t most)
{
	size_t length = (size_t)binary_get_number(reader, 2);
	const char *text = binary_get_bytes(reader, length);

	if (text && length <= most && !memchr(text, '\0', length))
		return strndup(text, length);
	reader->failed = true;
	return NULL;
}

static int get_argument(struct binary_reader *reader, struct cuda_binary_argument *argument)
{
	uint64_t kind = binary_get_number(reader, 1);
	argument->facts.is_const = binary_get_number(reader, 1) != 0;
	uint64_t local = binary_get_number(reader, 1);
	uint64_t address = binary_get_number(reader, 1), qualifiers = binary_get_number(reader, 1);
	uint64_t image_access = binary_get_number(reader, 1);
	argument->facts.size_bytes = (uint32_t)binary_get_number(reader, 4);
	CLEANUP(free_pointer)
	char *type = cuda_get_text(reader, sizeof(argument->facts.type_name) - 1);
	CLEANUP(free_pointer)
	char *name = type ? cuda_get_text(reader, sizeof(argument->facts.name) - 1) : NULL;

	if (!name)
		return reader->failed ? -EINVAL : -ENOMEM;
	/* No kernel here takes a sampler alone. */
	if (kind > BACKEND_ARGUMENT_IMAGE || local > CUDA_LOCAL_SHARED ||
	    address > BACKEND_ADDRESS_LOCAL || qualifiers > BACKEND_QUALIFIERS ||
	    image_access > BACKEND_ACCESS_READ_WRITE)
		return -EINVAL;
	argument->facts.address = (enum backend_address_space)address;
	argument->facts.qualifiers = (uint8_t)qualifiers;
	argument->facts.access = (enum backend_argument_access)image_access;
	argument->facts.kind = (enum backend_argument_kind)kind;
	argument->local = (enum cuda_local_form)local;
	memcpy(argument->facts.type_name, type, strlen(type) + 1);
	memcpy(argument->facts.name, name, strlen(name) + 1);
	return 0;
}

static int cuda_get_kernel(struct binary_reader *reader, struct cuda_binary_kernel *kernel)
{
	kernel->name = cuda_get_text(reader, UINT16_MAX);
	kernel->symbol = kernel->name ? cuda_get_text(reader, UINT16_MAX) : NULL;
	if (!kernel->symbol)
		return reader->failed ? -EINVAL : -ENOMEM;
	for (unsigned d = 0; d < 3; d++)
		kernel->required[d] = (uint32_t)binary_get_number(reader, 4);
	uint64_t count = binary_get_number(reader, 4);
	kernel->waits = (count & KERNEL_WAITS) != 0;
	kernel->is_checked = (count & KERNEL_CHECKS) != 0;
	count &= ~(uint64_t)(KERNEL_WAITS | KERNEL_CHECKS);
	if (reader->failed || count > KERNEL_ARGUMENTS_MAX)
		return -EINVAL;
	kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
	if (!kernel->arguments)
		return -ENOMEM;
	kernel->argument_count = (uint32_t)count;
	for (uint32_t a = 0; a < count; a++) {
		int error = get_argument(reader, &kernel->arguments[a]);
		if (error < 0)
			return error;
	}
	return 0;
}

int cuda_image_piece(const void *bytes, size_t count, size_t *at, char **text_out,
		     size_t *text_bytes_out)
{
	struct binary_reader reader = {.next = (const unsigned char *)bytes + *at,
				       .left = count - *at};

	if (reader.left == 0)
		return -ENOENT;
	uint64_t length = binary_get_number(&reader, 8);
	const void *from = binary_get_bytes(&reader, length);
	if (!from || length == 0 || memchr(from, '\0', length))
		return -EINVAL;
	char *text = malloc(length + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, from, length);
	text[length] = '\0';
	*at += 8 + (size_t)length;
	*text_out = text;
	*text_bytes_out = (size_t)length;
	return 0;
}

static int check_pieces(const void *bytes, size_t count)
{
	size_t at = 0, length = 0;
	int error = 0;

	while (error == 0) {
		CLEANUP(free_pointer) char *text = NULL;
		error = cuda_image_piece(bytes, count, &at, &text, &length);
	}
	return error == -ENOENT ? 0 : error;
}

static int get_image(struct binary_reader *reader, struct cuda_binary *binary)
{
	uint64_t kind = binary_get_number(reader, 1), count = binary_get_number(reader, 8);
	enum cuda_image_kind found = CUDA_IMAGE_PTX;

	const void *bytes = binary_get_bytes(reader, count);
	if (!bytes || count == 0)
		return -EINVAL;
	if (kind == CUDA_IMAGE_BITCODE) {
		if (!(binary->flags & CUDA_BINARY_OBJECT))
			return -EINVAL;
	} else if (kind == CUDA_IMAGE_PIECES) {
		int error = check_pieces(bytes, count);
		if (error < 0)
			return error;
	} else if (kind == CUDA_IMAGE_PTX
			   ? memchr(bytes, '\0', count) != NULL
			   : cuda_image_check(bytes, count, &found) < 0 || found != kind) {
		return -EINVAL;
	}
	return cuda_binary_add_image(binary, (enum cuda_image_kind)kind, bytes, count);
}

int cuda_binary_unpack(const void *bytes, size_t count, struct cuda_binary **binary_out)
{
	struct binary_reader reader = {.next = bytes, .left = count};
	int error = 0;
	CLEANUP(cuda_binary_cleanup) struct cuda_binary *binary = calloc(1, sizeof(*binary));

	if (!binary)
		return -ENOMEM;
	if (!binary_get_magic(&reader, magic, sizeof(magic)))
		return -EINVAL;
	uint64_t flags = binary_get_number(&reader, 4), kernels = binary_get_number(&reader, 4),
		 images = binary_get_number(&reader, 4);
	/* Portable kernels have an image for each number of dimensions, other kernels one image. */
	const uint64_t form = flags & (CUDA_BINARY_NATIVE | CUDA_BINARY_OPENCL);
	if (reader.failed || (flags & ~(uint64_t)CUDA_BINARY_OBJECT) != form ||
	    form == (CUDA_BINARY_NATIVE | CUDA_BINARY_OPENCL) ||
	    kernels > CUDA_BINARY_KERNELS_MAX || images != (form ? 1 : CUDA_IMAGES_MAX))
		return -EINVAL;
	binary->flags = (uint32_t)flags;
	binary->kernels = calloc(kernels ? kernels : 1, sizeof(*binary->kernels));
	if (!binary->kernels)
		return -ENOMEM;
	for (uint32_t i = 0; error == 0 && i < kernels; i++) {
		binary->kernel_count = i + 1;
		error = cuda_get_kernel(&reader, &binary->kernels[i]);
	}
	for (uint32_t i = 0; error == 0 && i < images; i++)
		error = get_image(&reader, binary);
	if (error < 0)
		return error;
	if (reader.left != 0)
		return -EINVAL;
	*binary_out = TAKE(binary);
	return 0;
}

int cuda_binary_add_image(struct cuda_binary *binary, enum cuda_image_kind kind, const void *bytes,
			  size_t count)
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

const struct cuda_binary_kernel *cuda_binary_find(const struct cuda_binary *binary,
						  const char *name)
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
