/*
 * The portable prelude, OpenCL C side: text to whoever launched the kernel. The kernel puts down formats and values as
 * they are, the library makes text of them (client/lib/shortcuts/stream.c has the layout).
 */
#line 6 "prelude_stream"

#define SYCL_STREAM __global uint *

struct sycl_value_ {
	ulong bits;
	uint tag; /* 1: signed, 2: unsigned, 3: bits of a float, 4: of a double */
};
#define SYCL_VALUE_OF_(T, kind, as)                                                                                    \
	SYCL_OVERLOAD_ struct sycl_value_ sycl_value_of_(T x)                                                          \
	{                                                                                                              \
		struct sycl_value_ value = {(ulong)(as), kind};                                                        \
		return value;                                                                                          \
	}
SYCL_VALUE_OF_(int, 1, (long)x)
SYCL_VALUE_OF_(long, 1, x)
SYCL_VALUE_OF_(uint, 2, x)
SYCL_VALUE_OF_(ulong, 2, x)
SYCL_VALUE_OF_(float, 3, as_uint(x))
#ifdef SYCL_HAS_FP64
SYCL_VALUE_OF_(double, 4, as_ulong(x))
#endif

static inline struct sycl_value_ sycl_no_value_(void)
{
	struct sycl_value_ value = {0, 0};
	return value;
}

static inline void sycl_print_value_(__global uint *at, struct sycl_value_ value)
{
	at[0] = (uint)value.bits;
	at[1] = (uint)(value.bits >> 32);
}

/* Words: how much was taken, how many found no room, how much there is; then records. */
static void sycl_print_(__global uint *stream, __constant const char *format, uint count, struct sycl_value_ a,
			struct sycl_value_ b, struct sycl_value_ c, struct sycl_value_ d, struct sycl_value_ e,
			struct sycl_value_ f, struct sycl_value_ g, struct sycl_value_ h)
{
	uint length = 0;

	while (format[length] && length < 1024)
		length++;
	const uint bytes = 16 + 8 * count + (length + 7) / 8 * 8, room = stream[2];
	/* Looked at before: what is counted on and on would begin again at 0. */
	uint place = sycl_atomic_load(stream);
	if (place <= room && bytes <= room - place)
		place = sycl_atomic_add(stream, bytes);
	if (place > room || bytes > room - place) {
		sycl_atomic_add(stream + 1, 1u);
		return;
	}
	__global uint *at = stream + 4 + place / 4;
	at[0] = bytes;
	at[1] = count;
	at[2] = length;
	at[3] = a.tag | b.tag << 4 | c.tag << 8 | d.tag << 12 | e.tag << 16 | f.tag << 20 | g.tag << 24 | h.tag << 28;
	at += 4;
	if (count > 0)
		sycl_print_value_(at, a);
	if (count > 1)
		sycl_print_value_(at + 2, b);
	if (count > 2)
		sycl_print_value_(at + 4, c);
	if (count > 3)
		sycl_print_value_(at + 6, d);
	if (count > 4)
		sycl_print_value_(at + 8, e);
	if (count > 5)
		sycl_print_value_(at + 10, f);
	if (count > 6)
		sycl_print_value_(at + 12, g);
	if (count > 7)
		sycl_print_value_(at + 14, h);
	at += 2 * count;
	for (uint i = 0; i < length; i += 4) {
		uint word = 0;
		for (uint k = 0; k < 4 && i + k < length; k++)
			word |= (uint)(uchar)format[i + k] << 8 * k;
		at[i / 4] = word;
	}
}

/*
 * A format and up to eight values. NVIDIA's compiler refuses such a macro where a version of the language was asked for,
 * also where nobody uses it.
 */
#if defined(__NV_CL_C_VERSION) && defined(SYCL_VERSION_ASKED_)
#define sycl_print sycl_print_does_not_go_with_cl_std_on_this_device
#else
#define SYCL_PRINT_PICK_(f, a, b, c, d, e, g, h, i, n, ...) SYCL_PRINT_##n##_
#define sycl_print(stream, ...) SYCL_PRINT_PICK_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)(stream, __VA_ARGS__)
#endif
#define SYCL_V_(x) sycl_value_of_(x)
#define SYCL_N_    sycl_no_value_()
#define SYCL_PRINT_0_(s, f) \
	sycl_print_((s), (f), 0, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_1_(s, f, a) \
	sycl_print_((s), (f), 1, SYCL_V_(a), SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_2_(s, f, a, b) \
	sycl_print_((s), (f), 2, SYCL_V_(a), SYCL_V_(b), SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_3_(s, f, a, b, c) \
	sycl_print_((s), (f), 3, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_4_(s, f, a, b, c, d) \
	sycl_print_((s), (f), 4, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_V_(d), SYCL_N_, SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_5_(s, f, a, b, c, d, e) \
	sycl_print_((s), (f), 5, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_V_(d), SYCL_V_(e), SYCL_N_, SYCL_N_, SYCL_N_)
#define SYCL_PRINT_6_(s, f, a, b, c, d, e, g)                                                                          \
	sycl_print_((s), (f), 6, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_V_(d), SYCL_V_(e), SYCL_V_(g), SYCL_N_,      \
		    SYCL_N_)
#define SYCL_PRINT_7_(s, f, a, b, c, d, e, g, h)                                                                       \
	sycl_print_((s), (f), 7, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_V_(d), SYCL_V_(e), SYCL_V_(g), SYCL_V_(h),   \
		    SYCL_N_)
#define SYCL_PRINT_8_(s, f, a, b, c, d, e, g, h, i)                                                                    \
	sycl_print_((s), (f), 8, SYCL_V_(a), SYCL_V_(b), SYCL_V_(c), SYCL_V_(d), SYCL_V_(e), SYCL_V_(g), SYCL_V_(h),   \
		    SYCL_V_(i))
