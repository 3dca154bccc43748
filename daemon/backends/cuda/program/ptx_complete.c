/*
 * Completes the PTX of a portable source (program/ptx.h). The text is NVRTC's, with code of the
 * prelude: reads of the record are the lines "ld.param.bN REGISTER, [sycl_launch+OFFSET];".
 */
#include "cuda/program/geometry.h"
#include "cuda/program/ptx.h"

#include <stdio.h>
#include <string.h>

#define RECORD_WORDS (CUDA_RECORD_BYTES / 8u)

/* The prelude's mark in .minnctapersm, beside the sizes: SYCL_REQUIRED_GROUP. */
#define SHAPE_MARK (1u << 30)

static const char record_name[] = "[sycl_launch";
static const char record_read[] = "ld.param.";

struct completion {
	FILE *out;
	const char *text;
	const struct cuda_ptx *ptx;
	unsigned dimensions;
	/*
	 * Functions that are no kernels read the record, so it is copied to shared memory for them.
	 */
	bool functions_read;
};

static void ptx_complete_put_text(const struct completion *c, size_t from, size_t to)
{
	(void)fwrite(c->text + from, 1, to - from, c->out);
}

static bool reads_record(const char *text, const struct cuda_ptx_function *function)
{
	return memmem(text + function->body_at, function->body_end - function->body_at, record_name,
		      sizeof(record_name) - 1);
}

/* Finds the "ld.param." before `place`, on the same line and not before `from`. If there is none,
 * returns `place`. */
static size_t completion_find_read(const char *text, size_t from, size_t place)
{
	const size_t length = sizeof(record_read) - 1;

	for (size_t at = place; at > from && text[at - 1] != '\n'; at--)
		if (place - (at - 1) >= length && memcmp(text + at - 1, record_read, length) == 0)
			return at - 1;
	return place;
}

/* A function cannot read a kernel's parameters. A function that was not inlined reads a copy of the
 * record in shared memory. */
static void put_function(const struct completion *c, const struct cuda_ptx_function *function)
{
	size_t at = function->body_at;

	while (at < function->body_end) {
		const char *found = memmem(c->text + at, function->body_end - at, record_name,
					   sizeof(record_name) - 1);
		if (!found)
			break;
		size_t place = (size_t)(found - c->text),
		       read = completion_find_read(c->text, at, place);
		size_t next = place + sizeof(record_name) - 1;
		ptx_complete_put_text(c, at, read);
		if (read < place) {
			(void)fputs("ld.shared.", c->out);
			ptx_complete_put_text(c, read + sizeof(record_read) - 1, place);
			(void)fputs("[sycl_launch_copy", c->out);
		} else {
			ptx_complete_put_text(c, place, next);
		}
		at = next;
	}
	ptx_complete_put_text(c, at, function->body_end);
}

/* 64-bit registers %sycl_0 .. of the prologue hold the work-item's place in each dimension. */
static void ptx_put_places(const struct completion *c)
{
	static const char letters[] = "xyz";
	unsigned last = c->dimensions == 1 ? 0 : 1;

	for (unsigned d = 0; d < c->dimensions; d++)
		(void)fprintf(c->out,
			      "\tmov.u32 %%sycl_a, %%ctaid.%c;\n"
			      "\tcvt.u64.u32 %%sycl_%u, %%sycl_a;\n",
			      letters[d], d);
	if (c->dimensions < 3) { /* the last dimension is continued in the next one */
		(void)fprintf(c->out,
			      "\tmov.u32 %%sycl_a, %%nctaid.%c;\n"
			      "\tmov.u32 %%sycl_b, %%ctaid.%c;\n"
			      "\tmul.wide.u32 %%sycl_t, %%sycl_a, %%sycl_b;\n"
			      "\tadd.u64 %%sycl_%u, %%sycl_%u, %%sycl_t;\n"
			      "\tld.param.b32 %%sycl_a, [sycl_launch+4];\n"
			      "\tcvt.u64.u32 %%sycl_t, %%sycl_a;\n"
			      "\tadd.u64 %%sycl_%u, %%sycl_%u, %%sycl_t;\n",
			      letters[last], letters[last + 1], last, last, last, last);
	} else { /* columns, folds of y, folds of z in x */
		(void)fputs("\tand.b32 %sycl_f, %sycl_f, 2;\n"
			    "\tsetp.eq.u32 %sycl_p, %sycl_f, 0;\n"
			    "\tld.param.b32 %sycl_a, [sycl_launch+4];\n"
			    "\tcvt.u64.u32 %sycl_t, %sycl_a;\n"
			    "\t@%sycl_p add.u64 %sycl_2, %sycl_2, %sycl_t;\n"
			    "\t@%sycl_p bra sycl_plain;\n"
			    "\tmov.u32 %sycl_a, %ctaid.x;\n"
			    "\tld.param.b32 %sycl_b, [sycl_launch+56];\n"
			    "\tdiv.u32 %sycl_f, %sycl_a, %sycl_b;\n"
			    "\trem.u32 %sycl_a, %sycl_a, %sycl_b;\n"
			    "\tcvt.u64.u32 %sycl_0, %sycl_a;\n"
			    "\tld.param.b32 %sycl_b, [sycl_launch+4];\n"
			    "\trem.u32 %sycl_a, %sycl_f, %sycl_b;\n"
			    "\tdiv.u32 %sycl_f, %sycl_f, %sycl_b;\n"
			    "\tmov.u32 %sycl_b, %nctaid.y;\n"
			    "\tmul.wide.u32 %sycl_t, %sycl_a, %sycl_b;\n"
			    "\tadd.u64 %sycl_1, %sycl_1, %sycl_t;\n"
			    "\tmov.u32 %sycl_b, %nctaid.z;\n"
			    "\tmul.wide.u32 %sycl_t, %sycl_f, %sycl_b;\n"
			    "\tadd.u64 %sycl_2, %sycl_2, %sycl_t;\n"
			    "sycl_plain:\n",
			    c->out);
	}
	for (unsigned d = 0; d < c->dimensions; d++)
		(void)fprintf(c->out,
			      "\tmov.u32 %%sycl_a, %%ntid.%c;\n"
			      "\tcvt.u64.u32 %%sycl_t, %%sycl_a;\n"
			      "\tmul.lo.u64 %%sycl_%u, %%sycl_%u, %%sycl_t;\n"
			      "\tmov.u32 %%sycl_a, %%tid.%c;\n"
			      "\tcvt.u64.u32 %%sycl_t, %%sycl_a;\n"
			      "\tadd.u64 %%sycl_%u, %%sycl_%u, %%sycl_t;\n",
			      letters[d], d, d, letters[d], d, d);
}

static void put_prologue(const struct completion *c)
{
	(void)fputs("\n{\n"
		    "\t.reg .pred %sycl_p;\n"
		    "\t.reg .b32 %sycl_a, %sycl_b, %sycl_f;\n"
		    "\t.reg .b64 %sycl_0, %sycl_1, %sycl_2, %sycl_t;\n",
		    c->out);
	/* Every work-item writes the same words, and then reads the words that it has written
	 * itself. */
	for (unsigned i = 0; c->functions_read && i < RECORD_WORDS; i++)
		(void)fprintf(c->out,
			      "\tld.param.b64 %%sycl_t, [sycl_launch+%u];\n"
			      "\tst.shared.b64 [sycl_launch_copy+%u], %%sycl_t;\n",
			      8 * i, 8 * i);
	(void)fputs("\tld.param.b32 %sycl_f, [sycl_launch];\n"
		    "\tand.b32 %sycl_a, %sycl_f, 1;\n"
		    "\tsetp.eq.u32 %sycl_p, %sycl_a, 0;\n"
		    "\t@%sycl_p bra sycl_begin;\n",
		    c->out);
	ptx_put_places(c);
	for (unsigned d = 0; d < c->dimensions; d++)
		(void)fprintf(c->out,
			      "\tld.param.b64 %%sycl_t, [sycl_launch+%u];\n"
			      "\tsetp.ge.u64 %%sycl_p, %%sycl_%u, %%sycl_t;\n"
			      "\t@%%sycl_p exit;\n",
			      8 + 8 * d, d);
	(void)fputs("sycl_begin:\n}\n", c->out);
}

/* False: no such shape is possible. */
static bool entry_take_shape(struct cuda_ptx_entry *entry)
{
	uint32_t packed = entry->min_groups;
	uint32_t x = (packed & 1023) + 1, y = (packed >> 10 & 1023) + 1,
		 z = (packed >> 20 & 127) + 1;

	if (!(packed & SHAPE_MARK))
		return true;
	/* If a size did not fit into its bits, the product shows it. */
	if (x * y * z > 1024 || z > 64 || entry->max_threads[0] != x * y * z)
		return false;
	entry->required[0] = x;
	entry->required[1] = y;
	entry->required[2] = z;
	return true;
}

static void put_entry(const struct completion *c, const struct cuda_ptx_entry *entry,
		      const char *name)
{
	static const char record[] = "\t.param .align 8 .b8 sycl_launch[%u]\n";

	(void)fputs(name, c->out);
	if (entry->parameters_end) {
		ptx_complete_put_text(c, entry->name_at + strlen(entry->name),
				      entry->parameters_end);
		if (entry->parameter_count > 0)
			(void)fputs(",\n", c->out);
	} else {
		(void)fputs("(\n", c->out);
	}
	(void)fprintf(c->out, record, CUDA_RECORD_BYTES);
	(void)fputc(')', c->out);
	if (entry->is_shaped || entry->min_groups & SHAPE_MARK)
		(void)fprintf(c->out, "\n.reqntid %u, %u, %u\n{", entry->required[0],
			      entry->required[1], entry->required[2]);
	else
		ptx_complete_put_text(c, entry->directives_at, entry->body_at);
	put_prologue(c);
	ptx_complete_put_text(c, entry->body_at, entry->body_end);
}

/* Writes kernels and functions in the order of the text, and copies the text between them. */
static void put_module(const struct completion *c, const char *const *names, size_t bytes)
{
	uint32_t e = 0, f = 0;
	size_t at = c->ptx->header_end;

	ptx_complete_put_text(c, 0, at);
	if (c->functions_read)
		(void)fprintf(c->out, "\n%s" CUDA_RECORD_COPY "[%u];\n",
			      c->ptx->relocatable ? ".extern " : "", CUDA_RECORD_BYTES);
	while (e < c->ptx->entry_count || f < c->ptx->function_count) {
		const struct cuda_ptx_entry *entry =
			e < c->ptx->entry_count ? &c->ptx->entries[e] : NULL;
		const struct cuda_ptx_function *function =
			f < c->ptx->function_count ? &c->ptx->functions[f] : NULL;
		if (entry && (!function || entry->body_at < function->body_at)) {
			ptx_complete_put_text(c, at, entry->name_at);
			put_entry(c, entry, names[e]);
			at = entry->body_end;
			e++;
		} else if (function) {
			ptx_complete_put_text(c, at, function->body_at);
			put_function(c, function);
			at = function->body_end;
			f++;
		}
	}
	ptx_complete_put_text(c, at, bytes);
}

int cuda_ptx_complete(const char *text, size_t bytes, struct cuda_ptx *ptx, unsigned dimensions,
		      const char *const *names, char **text_out, size_t *bytes_out,
		      uint32_t *entry_out)
{
	/* Functions of another text may read the record. */
	struct completion c = {.text = text,
			       .ptx = ptx,
			       .dimensions = dimensions,
			       .functions_read = ptx->relocatable};
	char *made = NULL;
	size_t count = 0;

	for (uint32_t i = 0; i < ptx->entry_count; i++) {
		if (entry_take_shape(&ptx->entries[i]))
			continue;
		*entry_out = i;
		return -EINVAL;
	}
	for (uint32_t i = 0; i < ptx->function_count; i++)
		c.functions_read = c.functions_read || reads_record(text, &ptx->functions[i]);
	c.out = open_memstream(&made, &count);
	if (!c.out)
		return -ENOMEM;
	put_module(&c, names, bytes);
	int failed = ferror(c.out);
	if (fclose(c.out) != 0 || failed) {
		free(made);
		return -ENOMEM;
	}
	*text_out = made;
	*bytes_out = count;
	return 0;
}
