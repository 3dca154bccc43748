/* Which groups travel as records: shapes are used from the third time on, places are few, and
 * shapes are not confused. */
#include "base/shapes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct shapes shapes;

static void setup_shapes(void)
{
	shapes = (struct shapes){.agreed_on = true};
}

static void teardown_shapes(void)
{
	shapes_fini(&shapes);
}

TestSuite(client_shapes, .timeout = 10, .init = setup_shapes, .fini = teardown_shapes);

static struct shape_key client_shapes_key_of(uint64_t kernel, uint64_t buffer, uint64_t range)
{
	struct shape_key key = {.words = {kernel, buffer, range}};
	shape_key_end(&key, key.words + 3);
	shape_key_seal(&key);
	return key;
}

static enum shape_use look_up_shape(const struct shape_key *key, struct shape_name *name)
{
	enum shape_use use = shapes_find(&shapes, key, name);
	if (use == SHAPE_DEFINE)
		shapes_defined(&shapes, *name);
	return use;
}

Test(client_shapes, a_shape_is_seen_then_defined_then_known)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name defined = {0, 0}, known = {0, 0};
	cr_assert(eq(int, (int)look_up_shape(&key, &defined), SHAPE_MESSAGE));
	cr_assert(eq(int, (int)look_up_shape(&key, &defined), SHAPE_DEFINE));
	cr_assert(ge(u32, defined.shape, 1));
	cr_assert(le(u32, defined.shape, SHAPES_MAX));
	cr_assert(ne(u32, defined.generation, 0));
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(int, (int)look_up_shape(&key, &known), SHAPE_KNOWN));
		cr_assert(eq(u32, known.shape, defined.shape));
		cr_assert(eq(u32, known.generation, defined.generation));
	}
}

/* A kernel keeps a place's number. The place's contents show whether it still has the same
 * shape. */
Test(client_shapes, a_remembered_place_is_asked_what_it_holds)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3), other = client_shapes_key_of(1, 2, 4);
	struct shape_name name = {0, 0}, again = {0, 0};
	cr_assert(not(shapes_match_last(&shapes, &key, 0, &again)), "none is remembered");
	cr_assert(not(shapes_match_last(&shapes, &key, SHAPES_MAX, &again)),
		  "nothing stands there");
	(void)look_up_shape(&key, &name);
	cr_assert(eq(int, (int)shapes_find(&shapes, &key, &name), SHAPE_DEFINE));
	cr_assert(not(shapes_match_last(&shapes, &key, name.shape, &again)),
		  "its message was not sent");
	shapes_defined(&shapes, name);
	cr_assert(not(shapes_match_last(&shapes, &other, name.shape, &again)));
	key.sum = 0; /* which is not requested */
	cr_assert(shapes_match_last(&shapes, &key, name.shape, &again));
	cr_assert(eq(u32, again.shape, name.shape));
	cr_assert(eq(u32, again.generation, name.generation));
}

/* A shape that is found only by its remembered place counts as used. So it is not the one that was
 * unused for longest. */
Test(client_shapes, a_place_that_is_found_again_is_not_evicted)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name name, again;
	(void)look_up_shape(&key, &name);
	(void)look_up_shape(&key, &name);
	for (uint64_t i = 10; i < 10 + 16 * SHAPES_MAX; i++) {
		struct shape_key other = client_shapes_key_of(i, i, i);
		cr_assert(shapes_match_last(&shapes, &key, name.shape, &again), "%llu",
			  (unsigned long long)i);
		(void)look_up_shape(&other, &again);
	}
}

Test(client_shapes, any_word_that_differs_is_another_shape)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name name;
	(void)look_up_shape(&key, &name);
	(void)look_up_shape(&key, &name);
	const struct shape_key others[] = {
		client_shapes_key_of(9, 2, 3), client_shapes_key_of(1, 9, 3),
		client_shapes_key_of(1, 2, 9), client_shapes_key_of(2, 1, 3),
		client_shapes_key_of(3, 2, 1)};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_assert(eq(int, (int)look_up_shape(&others[i], &name), SHAPE_MESSAGE), "%zu", i);
	struct shape_key longer = key;
	longer.words[3] = 0;
	shape_key_end(&longer, longer.words + 4);
	shape_key_seal(&longer);
	cr_assert(eq(int, (int)look_up_shape(&longer, &name), SHAPE_MESSAGE));
	/* The same sum alone is not the same shape. */
	struct shape_key forged = client_shapes_key_of(1, 2, 4);
	forged.sum = key.sum;
	cr_assert(eq(int, (int)look_up_shape(&forged, &name), SHAPE_MESSAGE));
	cr_assert(eq(int, (int)look_up_shape(&key, &name), SHAPE_KNOWN));
}

Test(client_shapes, a_definition_that_was_not_sent_is_requested_again)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name name;
	(void)shapes_find(&shapes, &key, &name);
	cr_assert(eq(int, (int)shapes_find(&shapes, &key, &name), SHAPE_DEFINE));
	cr_assert(eq(int, (int)shapes_find(&shapes, &key, &name), SHAPE_DEFINE));
}

/* For each place the service has one shape: the one that was last defined there. */
Test(client_shapes, a_place_that_was_taken_over_is_defined_anew)
{
	enum { KEYS = 3000 };
	uint32_t generations[SHAPES_MAX + 1] = {0}, owners[SHAPES_MAX + 1] = {0};
	uint32_t known = 0, defined = 0;
	uint64_t random = 1;
	for (uint32_t i = 0; i < 200000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		uint32_t which = (uint32_t)(random >> 33) % (i % 1000 < 800 ? 60 : KEYS);
		struct shape_key key = client_shapes_key_of(which, which + 1, 7);
		struct shape_name name;
		enum shape_use use = look_up_shape(&key, &name);
		if (use == SHAPE_DEFINE) {
			cr_assert(ne(u32, name.generation, generations[name.shape]));
			generations[name.shape] = name.generation;
			owners[name.shape] = which;
			defined++;
		} else if (use == SHAPE_KNOWN) {
			cr_assert(eq(u32, owners[name.shape], which));
			cr_assert(eq(u32, generations[name.shape], name.generation));
			known++;
		}
	}
	cr_assert(gt(u32, known, 100000), "%u", known);
	cr_assert(gt(u32, defined, SHAPES_MAX), "places were taken over: %u", defined);
}

Test(client_shapes, the_least_recently_used_of_its_places_goes)
{
	/* These are more than fit, and each is defined. The first one is used repeatedly beside
	 * others, so it stays. */
	struct shape_key first = client_shapes_key_of(0, 0, 0);
	struct shape_name name;
	(void)look_up_shape(&first, &name);
	(void)look_up_shape(&first, &name);
	for (uint64_t i = 1; i < 10 * SHAPES_MAX; i++) {
		struct shape_key other = client_shapes_key_of(i, i, i);
		(void)look_up_shape(&other, &name);
		cr_assert(eq(int, (int)look_up_shape(&first, &name), SHAPE_KNOWN), "%lu", i);
	}
}

Test(client_shapes, without_the_feature_there_are_messages_only)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name name;
	shapes.agreed_on = false;
	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, (int)look_up_shape(&key, &name), SHAPE_MESSAGE));
}

Test(client_shapes, generations_are_never_0)
{
	struct shape_key key = client_shapes_key_of(1, 2, 3);
	struct shape_name name;
	shapes.generation = UINT32_MAX;
	(void)look_up_shape(&key, &name);
	(void)look_up_shape(&key, &name);
	cr_assert(eq(u32, name.generation, 1));
	cr_assert(eq(int, (int)look_up_shape(&key, &name), SHAPE_KNOWN));
}
