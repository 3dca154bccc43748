/*
 * Images of the portable prelude, CUDA C++ side. An image is read through a texture and written
 * through a surface. A surface has bytes only, so what is written is put into the image's format
 * here. Textures give b8g8r8a8 in its own order of channels, which is put right here too. struct
 * cuda_image_argument of cuda_array.h is the layout. Coordinates come in SYCL's order: the last one
 * is CUDA's x, and of a layered image the first one a layer's number.
 */
#line 8 "prelude_images"

struct sycl_image_ {
	ulong object;
	uint format, size[3];
};
template <int n> struct sycl_image_read_ : sycl_image_ {};
template <int n> struct sycl_image_write_ : sycl_image_ {};
template <int n> struct sycl_image_sampled_ : sycl_image_ {};
template <int n> struct sycl_image_read_layered_ : sycl_image_ {};
template <int n> struct sycl_image_write_layered_ : sycl_image_ {};
template <int n> struct sycl_image_sampled_layered_ : sycl_image_ {};

#define SYCL_IMAGE_READ_1D(name)    sycl_image_read_<1> name
#define SYCL_IMAGE_READ_2D(name)    sycl_image_read_<2> name
#define SYCL_IMAGE_READ_3D(name)    sycl_image_read_<3> name
#define SYCL_IMAGE_WRITE_1D(name)   sycl_image_write_<1> name
#define SYCL_IMAGE_WRITE_2D(name)   sycl_image_write_<2> name
#define SYCL_IMAGE_WRITE_3D(name)   sycl_image_write_<3> name
#define SYCL_IMAGE_SAMPLED_1D(name) sycl_image_sampled_<1> name
#define SYCL_IMAGE_SAMPLED_2D(name) sycl_image_sampled_<2> name
#define SYCL_IMAGE_SAMPLED_3D(name) sycl_image_sampled_<3> name
#define SYCL_SAMPLED(name)          name

#define SYCL_IMAGE_READ_1D_LAYERED(name)    sycl_image_read_layered_<1> name
#define SYCL_IMAGE_READ_2D_LAYERED(name)    sycl_image_read_layered_<2> name
#define SYCL_IMAGE_WRITE_1D_LAYERED(name)   sycl_image_write_layered_<1> name
#define SYCL_IMAGE_WRITE_2D_LAYERED(name)   sycl_image_write_layered_<2> name
#define SYCL_IMAGE_SAMPLED_1D_LAYERED(name) sycl_image_sampled_layered_<1> name
#define SYCL_IMAGE_SAMPLED_2D_LAYERED(name) sycl_image_sampled_layered_<2> name
#define SYCL_SAMPLED_LAYERED(name)          name

enum { sycl_format_b8g8r8a8_ = 11 };

#define SYCL_TEXTURE_(vector, type, constraint, letter)                                                                 \
	static __forceinline__ vector sycl_texture_##letter##_(const sycl_image_ &image, float i)                      \
	{                                                                                                              \
		vector v;                                                                                              \
		asm("tex.1d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5}];"                                             \
		    : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)               \
		    : "l"(image.object), "f"(i));                                                                      \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ vector sycl_texture_##letter##_(const sycl_image_ &image, float i, float j)             \
	{                                                                                                              \
		vector v;                                                                                              \
		asm("tex.2d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                         \
		    : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)               \
		    : "l"(image.object), "f"(j), "f"(i));                                                              \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ vector sycl_texture_##letter##_(const sycl_image_ &image, float i, float j, float k)    \
	{                                                                                                              \
		vector v;                                                                                              \
		asm("tex.3d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                 \
		    : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)               \
		    : "l"(image.object), "f"(k), "f"(j), "f"(i));                                                      \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ vector sycl_layer_##letter##_(const sycl_image_ &image, int layer, float i)             \
	{                                                                                                              \
		vector v;                                                                                              \
		asm("tex.a1d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                        \
		    : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)               \
		    : "l"(image.object), "r"(layer), "f"(i));                                                          \
		return v;                                                                                              \
	}                                                                                                              \
	static __forceinline__ vector sycl_layer_##letter##_(const sycl_image_ &image, int layer, float i, float j)    \
	{                                                                                                              \
		vector v;                                                                                              \
		asm("tex.a2d.v4." type ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                \
		    : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)               \
		    : "l"(image.object), "r"(layer), "f"(j), "f"(i));                                                  \
		return v;                                                                                              \
	}
SYCL_TEXTURE_(float4, "f32", "f", f)
SYCL_TEXTURE_(int4, "s32", "r", i)
SYCL_TEXTURE_(uint4, "u32", "r", u)
#undef SYCL_TEXTURE_

static __forceinline__ float4 sycl_in_order_(const sycl_image_ &image, float4 v)
{
	return image.format == sycl_format_b8g8r8a8_ ? sycl_float4(v.z, v.y, v.x, v.w) : v;
}

/* A layer that there is. */
static __forceinline__ int sycl_layer_(const sycl_image_ &image, long layer)
{
	long last = (long)image.size[0] - 1;
	return (int)(layer < 0 ? 0 : layer > last ? last : layer);
}

/* The middle of a pixel. */
static __forceinline__ float sycl_middle_(long i) { return (float)(int)i + 0.5f; }

#define sycl_image_read_float_1d(image, i)       sycl_in_order_(image, sycl_texture_f_(image, sycl_middle_(i)))
#define sycl_image_read_float_2d(image, i, j) \
	sycl_in_order_(image, sycl_texture_f_(image, sycl_middle_(i), sycl_middle_(j)))
#define sycl_image_read_float_3d(image, i, j, k) \
	sycl_in_order_(image, sycl_texture_f_(image, sycl_middle_(i), sycl_middle_(j), sycl_middle_(k)))
#define sycl_image_read_int_1d(image, i)        sycl_texture_i_(image, sycl_middle_(i))
#define sycl_image_read_int_2d(image, i, j)     sycl_texture_i_(image, sycl_middle_(i), sycl_middle_(j))
#define sycl_image_read_int_3d(image, i, j, k)  sycl_texture_i_(image, sycl_middle_(i), sycl_middle_(j), sycl_middle_(k))
#define sycl_image_read_uint_1d(image, i)       sycl_texture_u_(image, sycl_middle_(i))
#define sycl_image_read_uint_2d(image, i, j)    sycl_texture_u_(image, sycl_middle_(i), sycl_middle_(j))
#define sycl_image_read_uint_3d(image, i, j, k) sycl_texture_u_(image, sycl_middle_(i), sycl_middle_(j), sycl_middle_(k))

#define sycl_image_sample_float_1d(image, i) sycl_in_order_(image, sycl_texture_f_(image, (float)(i)))
#define sycl_image_sample_float_2d(image, i, j) \
	sycl_in_order_(image, sycl_texture_f_(image, (float)(i), (float)(j)))
#define sycl_image_sample_float_3d(image, i, j, k) \
	sycl_in_order_(image, sycl_texture_f_(image, (float)(i), (float)(j), (float)(k)))
#define sycl_image_sample_int_1d(image, i)        sycl_texture_i_(image, (float)(i))
#define sycl_image_sample_int_2d(image, i, j)     sycl_texture_i_(image, (float)(i), (float)(j))
#define sycl_image_sample_int_3d(image, i, j, k)  sycl_texture_i_(image, (float)(i), (float)(j), (float)(k))
#define sycl_image_sample_uint_1d(image, i)       sycl_texture_u_(image, (float)(i))
#define sycl_image_sample_uint_2d(image, i, j)    sycl_texture_u_(image, (float)(i), (float)(j))
#define sycl_image_sample_uint_3d(image, i, j, k) sycl_texture_u_(image, (float)(i), (float)(j), (float)(k))

/* Bytes to the surface, where they are inside of the image; what is outside is dropped. */
static __forceinline__ void sycl_surface_(const sycl_image_write_<1> &image, int x, int, int, uint bytes, uint4 w)
{
	if (bytes == 4)
		asm volatile("sust.b.1d.b32.zero [%0, {%1}], {%2};" ::"l"(image.object), "r"(x * 4), "r"(w.x) : "memory");
	else if (bytes == 8)
		asm volatile("sust.b.1d.v2.b32.zero [%0, {%1}], {%2, %3};" ::"l"(image.object), "r"(x * 8), "r"(w.x),
			     "r"(w.y) : "memory");
	else
		asm volatile("sust.b.1d.v4.b32.zero [%0, {%1}], {%2, %3, %4, %5};" ::"l"(image.object), "r"(x * 16),
			     "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
}
static __forceinline__ void sycl_surface_(const sycl_image_write_<2> &image, int x, int y, int, uint bytes, uint4 w)
{
	if (bytes == 4)
		asm volatile("sust.b.2d.b32.zero [%0, {%1, %2}], {%3};" ::"l"(image.object), "r"(x * 4), "r"(y),
			     "r"(w.x) : "memory");
	else if (bytes == 8)
		asm volatile("sust.b.2d.v2.b32.zero [%0, {%1, %2}], {%3, %4};" ::"l"(image.object), "r"(x * 8), "r"(y),
			     "r"(w.x), "r"(w.y) : "memory");
	else
		asm volatile("sust.b.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(image.object), "r"(x * 16),
			     "r"(y), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
}
static __forceinline__ void sycl_surface_(const sycl_image_write_<3> &image, int x, int y, int z, uint bytes, uint4 w)
{
	if (bytes == 4)
		asm volatile("sust.b.3d.b32.zero [%0, {%1, %2, %3, %3}], {%4};" ::"l"(image.object), "r"(x * 4), "r"(y),
			     "r"(z), "r"(w.x) : "memory");
	else if (bytes == 8)
		asm volatile("sust.b.3d.v2.b32.zero [%0, {%1, %2, %3, %3}], {%4, %5};" ::"l"(image.object), "r"(x * 8),
			     "r"(y), "r"(z), "r"(w.x), "r"(w.y) : "memory");
	else
		asm volatile("sust.b.3d.v4.b32.zero [%0, {%1, %2, %3, %3}], {%4, %5, %6, %7};" ::"l"(image.object),
			     "r"(x * 16), "r"(y), "r"(z), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
}

/* The same of a layer's; one that there is not is dropped. */
#define SYCL_SURFACE_LAYERED_(n, place)                                                                                 \
	static __forceinline__ void sycl_surface_(const sycl_image_write_layered_<n> &image, int x, int y, int layer,  \
						  uint bytes, uint4 w)                                                 \
	{                                                                                                              \
		if ((uint)layer >= image.size[0])                                                                      \
			return;                                                                                        \
		if (bytes == 4)                                                                                        \
			asm volatile("sust.b.a" #n "d.b32.zero [%0, " place "], {%4};" ::"l"(image.object),            \
				     "r"(layer), "r"(x * 4), "r"(y), "r"(w.x) : "memory");                             \
		else if (bytes == 8)                                                                                   \
			asm volatile("sust.b.a" #n "d.v2.b32.zero [%0, " place "], {%4, %5};" ::"l"(image.object),     \
				     "r"(layer), "r"(x * 8), "r"(y), "r"(w.x), "r"(w.y) : "memory");                   \
		else                                                                                                   \
			asm volatile("sust.b.a" #n "d.v4.b32.zero [%0, " place "], {%4, %5, %6, %7};" ::"l"(           \
					     image.object), "r"(layer), "r"(x * 16), "r"(y), "r"(w.x), "r"(w.y),       \
				     "r"(w.z), "r"(w.w) : "memory");                                                   \
	}
SYCL_SURFACE_LAYERED_(1, "{%1, %2}")
SYCL_SURFACE_LAYERED_(2, "{%1, %2, %3, %3}")
#undef SYCL_SURFACE_LAYERED_

/* A component as its format stores it; formats are numbered as in enum backend_image_format. */
static __forceinline__ uint sycl_unorm_(float value, float steps)
{
	return (uint)__float2int_rn(fminf(fmaxf(value, 0.0f), 1.0f) * steps);
}
static __forceinline__ uint sycl_half_(float value)
{
	ushort half;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
	return half;
}
static __forceinline__ uint sycl_limit_(int value, int most)
{
	return (uint)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}
static __forceinline__ uint sycl_limit_(uint value, uint most) { return value > most ? most : value; }

static __forceinline__ uint4 sycl_words_(uint format, uint bytes, uint4 c)
{
	if (format == sycl_format_b8g8r8a8_)
		c = sycl_uint4(c.z, c.y, c.x, c.w);
	if (bytes == 4)
		return sycl_uint4((c.x & 255u) | (c.y & 255u) << 8 | (c.z & 255u) << 16 | c.w << 24, 0, 0, 0);
	if (bytes == 8)
		return sycl_uint4((c.x & 65535u) | c.y << 16, (c.z & 65535u) | c.w << 16, 0, 0);
	return c;
}

template <class written>
static __forceinline__ void sycl_write_(const written &image, int x, int y, int z, float4 v)
{
	uint format = image.format;
	if (format == 10) { /* float as it is */
		sycl_surface_(image, x, y, z, 16, sycl_uint4(__float_as_uint(v.x), __float_as_uint(v.y),
							     __float_as_uint(v.z), __float_as_uint(v.w)));
	} else if (format == 9) {
		uint4 c = sycl_uint4(sycl_half_(v.x), sycl_half_(v.y), sycl_half_(v.z), sycl_half_(v.w));
		sycl_surface_(image, x, y, z, 8, sycl_words_(format, 8, c));
	} else {
		bool wide = format == 2;
		float steps = wide ? 65535.0f : 255.0f;
		uint4 c = sycl_uint4(sycl_unorm_(v.x, steps), sycl_unorm_(v.y, steps), sycl_unorm_(v.z, steps),
				     sycl_unorm_(v.w, steps));
		uint bytes = wide ? 8 : 4;
		sycl_surface_(image, x, y, z, bytes, sycl_words_(format, bytes, c));
	}
}
template <class written>
static __forceinline__ void sycl_write_(const written &image, int x, int y, int z, int4 v)
{
	uint bytes = image.format == 3 ? 4 : image.format == 4 ? 8 : 16;
	int most = (int)(0xffffffffu >> (33 - 2 * bytes));
	uint4 c = sycl_uint4(sycl_limit_(v.x, most), sycl_limit_(v.y, most), sycl_limit_(v.z, most),
			     sycl_limit_(v.w, most));
	sycl_surface_(image, x, y, z, bytes, sycl_words_(image.format, bytes, c));
}
template <class written>
static __forceinline__ void sycl_write_(const written &image, int x, int y, int z, uint4 v)
{
	uint bytes = image.format == 6 ? 4 : image.format == 7 ? 8 : 16;
	uint most = 0xffffffffu >> (32 - 2 * bytes);
	uint4 c = sycl_uint4(sycl_limit_(v.x, most), sycl_limit_(v.y, most), sycl_limit_(v.z, most),
			     sycl_limit_(v.w, most));
	sycl_surface_(image, x, y, z, bytes, sycl_words_(image.format, bytes, c));
}

#define sycl_image_write_float_1d(image, i, value)       sycl_write_(image, (int)(i), 0, 0, (float4)(value))
#define sycl_image_write_float_2d(image, i, j, value)    sycl_write_(image, (int)(j), (int)(i), 0, (float4)(value))
#define sycl_image_write_float_3d(image, i, j, k, value) sycl_write_(image, (int)(k), (int)(j), (int)(i), (float4)(value))
#define sycl_image_write_int_1d(image, i, value)         sycl_write_(image, (int)(i), 0, 0, (int4)(value))
#define sycl_image_write_int_2d(image, i, j, value)      sycl_write_(image, (int)(j), (int)(i), 0, (int4)(value))
#define sycl_image_write_int_3d(image, i, j, k, value)   sycl_write_(image, (int)(k), (int)(j), (int)(i), (int4)(value))
#define sycl_image_write_uint_1d(image, i, value)        sycl_write_(image, (int)(i), 0, 0, (uint4)(value))
#define sycl_image_write_uint_2d(image, i, j, value)     sycl_write_(image, (int)(j), (int)(i), 0, (uint4)(value))
#define sycl_image_write_uint_3d(image, i, j, k, value)  sycl_write_(image, (int)(k), (int)(j), (int)(i), (uint4)(value))

#define sycl_image_range_1d(image, d) ((image).size[0])
#define sycl_image_range_2d(image, d) ((d) == 0 ? (image).size[0] : (image).size[1])
#define sycl_image_range_3d(image, d) ((d) == 0 ? (image).size[0] : (d) == 1 ? (image).size[1] : (image).size[2])

#define sycl_image_read_float_1d_layered(image, layer, i) \
	sycl_in_order_(image, sycl_layer_f_(image, sycl_layer_(image, layer), sycl_middle_(i)))
#define sycl_image_read_float_2d_layered(image, layer, i, j) \
	sycl_in_order_(image, sycl_layer_f_(image, sycl_layer_(image, layer), sycl_middle_(i), sycl_middle_(j)))
#define sycl_image_sample_float_1d_layered(image, layer, i) \
	sycl_in_order_(image, sycl_layer_f_(image, sycl_layer_(image, layer), (float)(i)))
#define sycl_image_sample_float_2d_layered(image, layer, i, j) \
	sycl_in_order_(image, sycl_layer_f_(image, sycl_layer_(image, layer), (float)(i), (float)(j)))
#define sycl_image_read_int_1d_layered(image, layer, i) \
	sycl_layer_i_(image, sycl_layer_(image, layer), sycl_middle_(i))
#define sycl_image_read_int_2d_layered(image, layer, i, j) \
	sycl_layer_i_(image, sycl_layer_(image, layer), sycl_middle_(i), sycl_middle_(j))
#define sycl_image_sample_int_1d_layered(image, layer, i) \
	sycl_layer_i_(image, sycl_layer_(image, layer), (float)(i))
#define sycl_image_sample_int_2d_layered(image, layer, i, j) \
	sycl_layer_i_(image, sycl_layer_(image, layer), (float)(i), (float)(j))
#define sycl_image_read_uint_1d_layered(image, layer, i) \
	sycl_layer_u_(image, sycl_layer_(image, layer), sycl_middle_(i))
#define sycl_image_read_uint_2d_layered(image, layer, i, j) \
	sycl_layer_u_(image, sycl_layer_(image, layer), sycl_middle_(i), sycl_middle_(j))
#define sycl_image_sample_uint_1d_layered(image, layer, i) \
	sycl_layer_u_(image, sycl_layer_(image, layer), (float)(i))
#define sycl_image_sample_uint_2d_layered(image, layer, i, j) \
	sycl_layer_u_(image, sycl_layer_(image, layer), (float)(i), (float)(j))

#define sycl_image_write_float_1d_layered(image, layer, i, value) \
	sycl_write_(image, (int)(i), 0, (int)(layer), (float4)(value))
#define sycl_image_write_float_2d_layered(image, layer, i, j, value) \
	sycl_write_(image, (int)(j), (int)(i), (int)(layer), (float4)(value))
#define sycl_image_write_int_1d_layered(image, layer, i, value) \
	sycl_write_(image, (int)(i), 0, (int)(layer), (int4)(value))
#define sycl_image_write_int_2d_layered(image, layer, i, j, value) \
	sycl_write_(image, (int)(j), (int)(i), (int)(layer), (int4)(value))
#define sycl_image_write_uint_1d_layered(image, layer, i, value) \
	sycl_write_(image, (int)(i), 0, (int)(layer), (uint4)(value))
#define sycl_image_write_uint_2d_layered(image, layer, i, j, value) \
	sycl_write_(image, (int)(j), (int)(i), (int)(layer), (uint4)(value))

#define sycl_image_range_1d_layered(image, d) sycl_image_range_2d(image, d)
#define sycl_image_range_2d_layered(image, d) sycl_image_range_3d(image, d)
