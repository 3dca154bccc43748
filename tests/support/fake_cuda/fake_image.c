/* Instructions of images: tex, suld.b and sust.b with an object of the driver. */
#include "fake_code.h"

#include <string.h>

static const struct fake_operand *image_object_of(const struct fake_instruction *i)
{
	return &i->operands[i->opcode == OP_SUST ? 0 : 1];
}

static unsigned geometry_of(const struct CUarray_st *array)
{
	return array->descriptor.Depth && !fake_array_is_layered(array) ? 3u
	       : array->descriptor.Height                               ? 2u
									: 1u;
}

/* Finds the layer, and where its coordinates begin among the elements. The result for a layer that
 * does not exist is not documented. */
static long layer_of(struct fake_grid *grid, const struct fake_block *block,
		     struct fake_thread *thread, const struct fake_instruction *i,
		     const struct fake_texture *texture)
{
	static const struct fake_type word = {'u', 4};

	if (!i->layered)
		return 0;
	uint64_t layer = fake_read(grid, block, thread, &image_object_of(i)->elements[0], word);
	if (layer < texture->array->slices)
		return (long)layer;
	fake_lock();
	fake_misuse("%s uses layer %llu of an image with %zu layers", grid->launch->name,
		    (unsigned long long)layer, texture->array->slices);
	fake_unlock();
	fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static struct fake_texture *use_texture(struct fake_grid *grid, const struct fake_block *block,
					struct fake_thread *thread,
					const struct fake_instruction *i)
{
	static const struct fake_type word = {'u', 8};
	uint64_t object = fake_read(grid, block, thread, image_object_of(i), word);

	fake_lock();
	struct fake_texture *texture = fake_texture_use(
		i->opcode == OP_TEX ? FAKE_TEXTURE : FAKE_SURFACE, object, grid->launch->device);
	if (texture && (i->geometry != geometry_of(texture->array) ||
			i->layered != fake_array_is_layered(texture->array))) {
		fake_misuse("%s: '%.*s' uses an image of other dimensions", grid->launch->name,
			    (int)i->text_length, i->text);
		texture = NULL;
	}
	fake_unlock();
	if (!texture)
		fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_ADDRESS);
	return texture;
}

static void image_fetch(struct fake_grid *grid, const struct fake_block *block,
			struct fake_thread *thread, const struct fake_instruction *i,
			const struct fake_texture *texture)
{
	const struct fake_operand *at = image_object_of(i);
	float coordinate[3] = {0};
	uint32_t value[4];

	for (unsigned d = 0; d < i->geometry && d + i->layered < at->count; d++) {
		uint64_t bits =
			fake_read(grid, block, thread, &at->elements[d + i->layered], i->source);
		coordinate[d] =
			i->source.kind == 'f' ? fake_float(bits) : (float)(int32_t)bits + 0.5f;
	}
	long layer = layer_of(grid, block, thread, i, texture);
	if (!fake_texture_fetch(texture, i->geometry, i->type.kind, layer, coordinate, value)) {
		fake_lock();
		fake_misuse("%s: '%.*s' reads an image of another pixel type", grid->launch->name,
			    (int)i->text_length, i->text);
		fake_unlock();
		fake_grid_fault(grid, CUDA_ERROR_ILLEGAL_INSTRUCTION);
	}
	for (unsigned n = 0; n < 4; n++)
		fake_write(thread, &i->operands[0].elements[n], i->type, value[n]);
}

/* Finds the bytes; x counts bytes along a row. NULL: outside. */
static unsigned char *surface_bytes(struct fake_grid *grid, const struct fake_block *block,
				    struct fake_thread *thread, const struct fake_instruction *i,
				    const struct fake_texture *texture, size_t bytes)
{
	static const struct fake_type word = {'s', 4};
	const struct CUarray_st *array = texture->array;
	const struct fake_operand *at = image_object_of(i);
	int64_t place[3] = {0};

	for (unsigned d = 0; d < i->geometry && d + i->layered < at->count; d++)
		place[d] = (int64_t)fake_read(grid, block, thread, &at->elements[d + i->layered],
					      word);
	if (i->layered)
		place[2] = layer_of(grid, block, thread, i, texture);
	if (place[0] % (int64_t)bytes)
		fake_grid_fault(grid, CUDA_ERROR_MISALIGNED_ADDRESS);
	if (place[0] < 0 || place[0] + (int64_t)bytes > (int64_t)array->row_bytes || place[1] < 0 ||
	    place[1] >= (int64_t)array->rows || place[2] < 0 || place[2] >= (int64_t)array->slices)
		return NULL;
	return array->bytes +
	       ((size_t)place[2] * array->rows + (size_t)place[1]) * array->row_bytes + place[0];
}

static void image_surface(struct fake_grid *grid, const struct fake_block *block,
			  struct fake_thread *thread, const struct fake_instruction *i,
			  const struct fake_texture *texture)
{
	unsigned count = i->vector ? i->vector : 1;
	const struct fake_operand *data = &i->operands[i->opcode == OP_SUST ? 1 : 0];
	unsigned char *to =
		surface_bytes(grid, block, thread, i, texture, (size_t)i->type.bytes * count);

	for (unsigned n = 0; n < count; n++) {
		const struct fake_operand *one =
			data->kind == OPERAND_VECTOR ? &data->elements[n] : data;
		uint64_t value = 0;
		if (i->opcode == OP_SUST) {
			value = fake_read(grid, block, thread, one, i->type);
			if (to)
				memcpy(to + (size_t)n * i->type.bytes, &value, i->type.bytes);
		} else {
			if (to)
				memcpy(&value, to + (size_t)n * i->type.bytes, i->type.bytes);
			fake_write(thread, one, i->type, value);
		}
	}
}

void fake_image_access(struct fake_grid *grid, const struct fake_block *block,
		       struct fake_thread *thread, const struct fake_instruction *i)
{
	const struct fake_texture *texture = use_texture(grid, block, thread, i);

	if (i->opcode == OP_TEX)
		image_fetch(grid, block, thread, i, texture);
	else
		image_surface(grid, block, thread, i, texture);
}
