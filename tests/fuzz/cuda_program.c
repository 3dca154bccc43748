/*
 * Programs for a CUDA device, from a client or a damaged cache. The first byte is the kind of the
 * rest. 'b' a built binary, 'i' a cubin or fatbin, 'p' PTX (which is also completed), 's' a symbol,
 * 'o' build options.
 */
#include "fuzz.h"

#include "cuda/program/binary.h"
#include "cuda/driver/options.h"
#include "cuda/program/ptx.h"
#include "cuda/program/symbol.h"

#include <string.h>

#define NAMES 64u

static void read_binary(const uint8_t *bytes, size_t count)
{
	struct cuda_binary *binary = NULL;

	if (cuda_binary_unpack(bytes, count, &binary) != 0) {
		FUZZ_CHECK(binary == NULL);
		return;
	}
	/* Parsed input can be written and read again, which gives the same bytes. */
	void *packed = NULL;
	size_t packed_bytes = 0;
	FUZZ_CHECK(cuda_binary_pack(binary, &packed, &packed_bytes) == 0);
	struct cuda_binary *again = NULL;
	FUZZ_CHECK(cuda_binary_unpack(packed, packed_bytes, &again) == 0);
	FUZZ_CHECK(again->kernel_count == binary->kernel_count &&
		   again->image_count == binary->image_count);
	for (uint32_t i = 0; i < binary->kernel_count; i++)
		FUZZ_CHECK(cuda_binary_find(again, binary->kernels[i].name) != NULL);
	cuda_binary_free(again);
	cuda_binary_free(binary);
	free(packed);
}

static void read_image(const uint8_t *bytes, size_t count)
{
	enum cuda_image_kind kind = CUDA_IMAGE_PTX;

	if (cuda_image_check(bytes, count, &kind) == 0)
		FUZZ_CHECK(kind == CUDA_IMAGE_CUBIN || kind == CUDA_IMAGE_FATBIN);
	else
		FUZZ_CHECK(kind == CUDA_IMAGE_PTX);
}

static void read_ptx(const char *text, size_t bytes)
{
	static const char *names[NAMES];
	struct cuda_ptx *ptx = NULL;
	char *made = NULL;
	size_t made_bytes = 0;
	uint32_t which = 0;

	for (unsigned i = 0; i < NAMES; i++)
		names[i] = "kernel";
	if (cuda_ptx_parse(text, bytes, &ptx, &which) != 0) {
		FUZZ_CHECK(ptx == NULL && which >= 1);
		return;
	}
	for (uint32_t i = 0; i < ptx->entry_count; i++) {
		const struct cuda_ptx_entry *entry = &ptx->entries[i];
		FUZZ_CHECK(entry->name_at < entry->body_at && entry->body_at <= entry->body_end &&
			   entry->body_end < bytes);
		FUZZ_CHECK(entry->parameters_end < entry->directives_at &&
			   entry->directives_at <= entry->body_at);
	}
	if (ptx->entry_count <= NAMES &&
	    cuda_ptx_complete(text, bytes, ptx, 1 + (unsigned)bytes % 3, names, &made, &made_bytes,
			      &which) == 0) {
		struct cuda_ptx *again = NULL;
		FUZZ_CHECK(strlen(made) == made_bytes);
		FUZZ_CHECK(cuda_ptx_parse(made, made_bytes, &again, NULL) == 0);
		FUZZ_CHECK(again->entry_count == ptx->entry_count);
		for (uint32_t i = 0; i < ptx->entry_count; i++)
			FUZZ_CHECK(again->entries[i].parameter_count ==
				   ptx->entries[i].parameter_count + 1);
		cuda_ptx_free(again);
	}
	free(made);
	cuda_ptx_free(ptx);
}

static void fuzz_program_read_words(char what, const char *text)
{
	struct cuda_symbol *symbol = NULL;
	struct cuda_options options;

	if (what == 's' && cuda_symbol_parse(text, &symbol) == 0) {
		FUZZ_CHECK(strlen(symbol->name) < CUDA_SYMBOL_NAME_BYTES);
		for (uint32_t i = 0; i < symbol->parameter_count; i++)
			FUZZ_CHECK(strlen(symbol->parameters[i].text) < CUDA_SYMBOL_TYPE_BYTES);
	}
	if (what == 'o' && cuda_options_parse(text, strlen(text) % 2, &options) == 0) {
		FUZZ_CHECK(options.count <= CUDA_OPTIONS_MAX &&
			   options.expression_count <= CUDA_OPTIONS_MAX);
		cuda_options_fini(&options);
	}
	cuda_symbol_free(symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	char *text = NULL;

	if (count == 0)
		return 0;
	if (bytes[0] == 'b')
		read_binary(bytes + 1, count - 1);
	if (bytes[0] == 'i')
		read_image(bytes + 1, count - 1);
	if (bytes[0] == 'p')
		read_ptx((const char *)bytes + 1, count - 1);
	if (bytes[0] != 's' && bytes[0] != 'o')
		return 0;
	text = malloc(count);
	FUZZ_CHECK(text);
	memcpy(text, bytes + 1, count - 1);
	text[count - 1] = '\0';
	fuzz_program_read_words((char)bytes[0], text);
	free(text);
	return 0;
}
