/*
 * Separate compilation: backend_ops' `compile` and `link`, in the build helper's child. An object
 * is PTX with references to other objects. Without a context there is no linker. So the result of
 * `link` is the texts, checked and put together, and the driver links them when the program is
 * loaded.
 */
#include "cuda/program/build.h"
#include "cuda/program/opencl.h"
#include "cuda/program/launch.h"
#include "cuda/program/geometry.h"
#include "cuda/program/ptx.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

int cuda_compile_object(struct backend *backend, uint32_t device, enum backend_source_kind kind,
			const char *source, size_t source_bytes, const char *options,
			void **object_out, size_t *object_bytes_out, char **log_out,
			struct backend_fault *fault_out)
{
	const struct cuda_build_request request = {.kind = kind,
						   .source = source,
						   .source_bytes = source_bytes,
						   .options = options,
						   .relocatable = true};
	CLEANUP(cuda_binary_fini) struct cuda_binary binary = {0};

	int error = cuda_build_make(backend, device, &request, &binary, log_out, fault_out);
	if (error < 0)
		return error;
	binary.flags |= CUDA_BINARY_OBJECT;
	return cuda_binary_pack(&binary, object_out, object_bytes_out) < 0
		       ? cuda_no_memory(fault_out, "linking")
		       : 0;
}

struct link {
	struct cuda_binary **objects;
	uint32_t count;
	struct cuda_binary whole;
};

static void cuda_link_fini(struct link *link)
{
	for (uint32_t i = 0; link->objects && i < link->count; i++)
		link->objects[i] = cuda_binary_free(link->objects[i]);
	free(link->objects);
	cuda_binary_fini(&link->whole);
}

static int read_objects(struct link *link, uint32_t count, const void *const *objects,
			const size_t *object_bytes, struct backend_fault *fault_out)
{
	link->objects = calloc(count + 1u, sizeof(struct cuda_binary *));
	if (!link->objects)
		return cuda_no_memory(fault_out, "linking");
	link->count = count;
	for (uint32_t i = 0; i < count; i++) {
		int error = cuda_binary_unpack(objects[i], object_bytes[i], &link->objects[i]);
		if (error == -ENOMEM)
			return cuda_no_memory(fault_out, "linking");
		if (error < 0 || !(link->objects[i]->flags & CUDA_BINARY_OBJECT))
			return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
						"input %u is no object of this device", i);
		/* Functions of a portable object may read the record, and a native kernel's launch
		 * has no record. */
		if (link->objects[i]->flags != link->objects[0]->flags)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_INVALID,
				"objects of OpenCL C, portable ones and those of CUDA C++ or PTX cannot be linked together");
	}
	return 0;
}

/* Moves each kernel from its object to the linked program. */
static int take_kernels(struct link *link, struct backend_fault *fault_out)
{
	struct cuda_binary *whole = &link->whole;
	uint32_t total = 0;

	for (uint32_t i = 0; i < link->count; i++)
		total += link->objects[i]->kernel_count;
	if (total > CUDA_BINARY_KERNELS_MAX)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_BUILD,
					"%u kernels; %u are allowed", total,
					CUDA_BINARY_KERNELS_MAX);
	whole->kernels = calloc(total + 1u, sizeof(*whole->kernels));
	if (!whole->kernels)
		return cuda_no_memory(fault_out, "linking");
	for (uint32_t i = 0; i < link->count; i++) {
		struct cuda_binary *object = link->objects[i];
		for (uint32_t k = 0; k < object->kernel_count; k++) {
			for (uint32_t other = 0; other < whole->kernel_count; other++)
				if (strcmp(whole->kernels[other].symbol,
					   object->kernels[k].symbol) == 0)
					return cuda_fault_words(
						fault_out, -EINVAL, STATUS_BUILD,
						"kernel %.100s is in two of the objects",
						object->kernels[k].name);
			whole->kernels[whole->kernel_count++] = object->kernels[k];
			object->kernels[k] = (struct cuda_binary_kernel){0};
		}
	}
	return 0;
}

static void put_piece(FILE *file, const char *text, size_t bytes)
{
	for (unsigned i = 0; i < 8; i++)
		(void)fputc((int)((uint64_t)bytes >> (8 * i) & 0xff), file);
	(void)fwrite(text, 1, bytes, file);
}

/* Writes the one text that defines the copy of the record, with the header of another text. */
static int write_record(FILE *file, const struct cuda_image *like, struct backend_fault *fault_out)
{
	CLEANUP(cuda_ptx_cleanup) struct cuda_ptx *ptx = NULL;
	CLEANUP(free_pointer) char *text = NULL;

	int error = cuda_ptx_parse(like->bytes, like->count, &ptx, NULL);
	if (error == -ENOMEM)
		return cuda_no_memory(fault_out, "linking");
	if (error < 0 || !ptx)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "an object is damaged");
	int bytes = asprintf(&text, "%.*s\n.visible " CUDA_RECORD_COPY "[%u];\n",
			     (int)ptx->header_end, (const char *)like->bytes, CUDA_RECORD_BYTES);
	if (bytes < 0) {
		text = NULL;
		return cuda_no_memory(fault_out, "linking");
	}
	put_piece(file, text, (size_t)bytes);
	return 0;
}

static int put_pieces(struct link *link, uint32_t variant, FILE *file,
		      struct backend_fault *fault_out)
{
	const bool portable = !(link->whole.flags & CUDA_BINARY_NATIVE);
	int error =
		portable ? write_record(file, &link->objects[0]->images[variant], fault_out) : 0;

	for (uint32_t i = 0; error == 0 && i < link->count; i++) {
		const struct cuda_image *image = &link->objects[i]->images[variant];
		if (image->kind != CUDA_IMAGE_PTX)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
						"an object is damaged");
		put_piece(file, image->bytes, image->count);
	}
	return error;
}

static int add_variant(struct link *link, uint32_t variant, struct backend_fault *fault_out)
{
	CLEANUP(free_pointer) char *bytes = NULL;
	size_t count = 0;
	FILE *file = open_memstream(&bytes, &count);

	if (!file)
		return cuda_no_memory(fault_out, "linking");
	int error = put_pieces(link, variant, file, fault_out);
	int failed = ferror(file);
	if (fclose(file) != 0 || failed)
		return cuda_no_memory(fault_out, "linking");
	if (error == 0 && cuda_binary_add_image(&link->whole, CUDA_IMAGE_PIECES, bytes, count) < 0)
		return cuda_no_memory(fault_out, "linking");
	return error;
}

/* Objects of OpenCL C are linked now, and become PTX together. */
static int link_bitcode(struct backend *backend, uint32_t device, struct link *link,
			const char *options, char **log_out, struct backend_fault *fault_out)
{
	const struct cuda_device_facts *facts = &backend->devices[device];
	CLEANUP(free_pointer)
	struct cuda_translate_source *sources = calloc(link->count + 1u, sizeof(*sources));

	if (!sources)
		return cuda_no_memory(fault_out, "linking");
	for (uint32_t i = 0; i < link->count; i++)
		sources[i] = (struct cuda_translate_source){link->objects[i]->images[0].bytes,
							    link->objects[i]->images[0].count};
	const struct cuda_translate_request request = {
		.clang = backend->settings.clang,
		.folder = backend->cache_directory,
		.architecture = facts->compute_major * 10 + facts->compute_minor,
		.kind = CUDA_TRANSLATE_UNLINKED,
		.sources = sources,
		.source_count = link->count,
		.options = options,
	};
	return cuda_opencl_build(&request, &link->whole, log_out, fault_out);
}

static int link_texts(struct link *link, struct backend_fault *fault_out)
{
	link->whole.flags = link->objects[0]->flags & CUDA_BINARY_NATIVE;
	int error = take_kernels(link, fault_out);
	for (uint32_t i = 0; error == 0 && i < link->objects[0]->image_count; i++)
		error = add_variant(link, i, fault_out);
	return error;
}

int cuda_link(struct backend *backend, uint32_t device, uint32_t count, const void *const *objects,
	      const size_t *object_bytes, const char *options, void **binary_out,
	      size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out)
{
	CLEANUP(cuda_link_fini) struct link link = {0};

	*log_out = NULL;
	if (!backend->devices || device >= backend->topology.device_count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "CUDA has no device %u",
					device);
	int error = count ? read_objects(&link, count, objects, object_bytes, fault_out)
			  : cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					     "there are no objects");
	if (error < 0 || !link.objects)
		return error;
	if (link.objects[0]->flags & CUDA_BINARY_OPENCL)
		error = link_bitcode(backend, device, &link, options, log_out, fault_out);
	else if (options && options[strspn(options, " \t")])
		error = cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					 "linking for CUDA takes no options");
	else
		error = link_texts(&link, fault_out);
	if (error == 0 && cuda_binary_pack(&link.whole, binary_out, binary_bytes_out) < 0)
		return cuda_no_memory(fault_out, "linking");
	return error;
}
