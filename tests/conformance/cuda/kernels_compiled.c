/* Programs that NVRTC compiles: CUDA C++ with its names, binaries, and the compiler's messages. */
#include "cuda/kernels_run.h"
#include "status.h"

TestSuite(cuda_compiled, .timeout = 120);

/* This is PTX, so that the double can run it, too; a real device also accepts its machine code. */
#define AS_PTX "--gpu-architecture=compute_80 "

static const char names_source[] =
	"extern \"C\" __global__ void plain(unsigned *out, unsigned v) { *out = v; }\n"
	"__global__ void mangled(unsigned *out, unsigned v) { *out = v + 1; }\n"
	"namespace space { __global__ void inside(unsigned *out, unsigned v) { *out = v + 2; } }\n"
	"template <class T, int N> __global__ void made(T *out, T v) { *out = v + N; }\n"
	"template __global__ void made<unsigned, 3>(unsigned *, unsigned);\n"
	"__global__ void twice(unsigned *out, unsigned v) { *out = v + 5; }\n"
	"__global__ void twice(unsigned *out, float v) { *out = (unsigned)v + 6; }\n";

static uint32_t value_of(struct run *run, const char *name)
{
	struct backend_kernel *kernel = run_kernel(run, name);
	const uint64_t global = 1;
	uint32_t v = 100, got = 0;
	struct backend_memory *memory = run_memory(run, NULL, 4);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&v, 4)};
	const struct backend_command command = launch_command(kernel, 1, &global, arguments, 2);

	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, &got, 4);
	run->fixture.ops->memory_free(memory);
	run->fixture.ops->kernel_free(kernel);
	return got;
}

Test(cuda_compiled, kernels_are_found_by_the_names_in_the_source)
{
	struct run run;

	run_open(&run, BACKEND_SOURCE_CUDA_CPP, names_source,
		 AS_PTX "'--sycl-kernel=made<unsigned int, 4>' --sycl-kernel=made<int,7>", "plain");
	cr_assert_eq(value_of(&run, "plain"), 100);
	cr_assert_eq(value_of(&run, "mangled"), 101);
	cr_assert_eq(value_of(&run, "_Z7mangledPjj"), 101, "by its symbol, too");
	cr_assert_eq(value_of(&run, "space::inside"), 102);
	cr_assert_eq(value_of(&run, "made<unsigned int, 3>"), 103);
	/* Those that the options requested, by the names in the options. */
	cr_assert_eq(value_of(&run, "made<unsigned int,4>"), 104);
	cr_assert_eq(value_of(&run, "made<int, 7>"), 107);
	/* Two have one name: the first keeps it, and both have their symbols. */
	cr_assert_eq(value_of(&run, "_Z5twicePjj"), 105);
	run_close(&run);
}

Test(cuda_compiled, E14_types_are_read_from_the_symbols)
{
	static const char source[] =
		"struct pair { int a, b; };\n"
		"__global__ void typed(const float *in, float *out, pair p, double d, unsigned long n) {}\n";
	static const struct {
		enum backend_argument_kind kind;
		uint32_t size;
		const char *type;
	} expected[] = {{BACKEND_ARGUMENT_UNKNOWN, 8, "float const*"},
			{BACKEND_ARGUMENT_UNKNOWN, 8, "float*"},
			{BACKEND_ARGUMENT_VALUE, 8, "pair"},
			{BACKEND_ARGUMENT_VALUE, 8, "double"},
			{BACKEND_ARGUMENT_VALUE, 8, "unsigned long"}};
	struct backend_kernel_facts facts;
	struct run run;

	run_open(&run, BACKEND_SOURCE_CUDA_CPP, source, AS_PTX, "typed");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.argument_count, 5);
	cr_assert(facts.native);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(facts.arguments[i].kind, expected[i].kind, "argument %d", i);
		cr_assert_eq(facts.arguments[i].size_bytes, expected[i].size, "argument %d", i);
		cr_assert_str_eq(facts.arguments[i].type_name, expected[i].type);
	}
	cr_assert(facts.arguments[0].is_const);
	cr_assert_not(facts.arguments[1].is_const);
	run_close(&run);
}

/* Local memory in CUDA C++ is the dynamic array, which contains the arguments of local memory. */
Test(cuda_compiled, E15_local_memory_is_the_dynamic_array)
{
	static const char source[] =
		"extern \"C\" __global__ void turn(unsigned *out, unsigned long) {\n"
		"  extern __shared__ unsigned tile[]; __shared__ unsigned fixed[5];\n"
		"  if (threadIdx.x < 5) fixed[threadIdx.x] = 7;\n"
		"  tile[threadIdx.x] = threadIdx.x; __syncthreads();\n"
		"  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + fixed[threadIdx.x % 5];\n"
		"}\n";
	enum { THREADS = 64 };
	uint32_t got[THREADS];
	const uint64_t global = THREADS;
	struct run run;

	run_open(&run, BACKEND_SOURCE_CUDA_CPP, source, AS_PTX, "turn");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4 * THREADS}};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	command.launch.local[0] = THREADS;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < THREADS; i++)
		cr_assert_eq(got[i], THREADS - 1 - i + 7, "item %u: %u", i, got[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(cuda_compiled, M6_the_compilers_words_have_the_sources_lines)
{
	static const char portable[] =
		"SYCL_KERNEL void wrong(SYCL_GLOBAL(uint) out)\n{\n\tout[0] = undeclared_name;\n}\n";
	static const char cuda[] =
		"__global__ void wrong(unsigned *out)\n{\n\tout[0] = undeclared_name;\n}\n";
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	for (int i = 0; i < 2; i++) {
		const char *source = i ? cuda : portable;
		char *log = run_build_fails(&fixture,
					    i ? BACKEND_SOURCE_CUDA_CPP : BACKEND_SOURCE_PORTABLE,
					    source, strlen(source), "", STATUS_BUILD);
		cr_assert_not_null(log);
		cr_assert_not_null(strstr(log, "kernel(3)"), "%s", log);
		cr_assert_not_null(strstr(log, "undeclared_name"), "%s", log);
		free(log);
		char *about = run_build_fails(&fixture,
					      i ? BACKEND_SOURCE_CUDA_CPP : BACKEND_SOURCE_PORTABLE,
					      "", 0, "", STATUS_BUILD);
		free(about);
		log = run_build_fails(&fixture,
				      i ? BACKEND_SOURCE_CUDA_CPP : BACKEND_SOURCE_PORTABLE,
				      "struct s { int a; };", 20, "--no-such-option", STATUS_BUILD);
		cr_assert_not_null(log);
		cr_assert_not_null(strstr(log, "no-such-option"), "%s", log);
		free(log);
	}
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUDA_CPP, "int a;\0int b;", 13, "",
			     STATUS_BUILD));
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUDA_CPP, "int a;", 6, "-DA='open",
			     STATUS_BUILD));
	fixture_close(&fixture);
}

Test(cuda_compiled, options_reach_the_compiler)
{
	static const char source[] =
		"extern \"C\" __global__ void defined(unsigned *out, unsigned) { *out = VALUE + sizeof(TYPE); }\n";
	struct run run;

	run_open(&run, BACKEND_SOURCE_CUDA_CPP, source, AS_PTX "-DVALUE=40 '-DTYPE=unsigned short'",
		 "defined");
	cr_assert_eq(value_of(&run, "defined"), 42);
	run_close(&run);
}

/* The log is that of the user's own text, and says what is not checked. */
Test(cuda_compiled, the_log_names_accesses_that_are_not_checked)
{
	static const struct {
		const char *source, *options, *expected;
	} cases[] = {
		{"SYCL_KERNEL void k(SYCL_GLOBAL(int) x)\n{ x[threadIdx.x] = 1; }\n", "", NULL},
		{"SYCL_KERNEL void k(SYCL_GLOBAL(int) x)\n{ x[threadIdx.x] = 1; }\n",
		 "--sycl-check", "threadIdx is a word of CUDA C++"},
		{"#define BODY {\nSYCL_KERNEL void k(SYCL_GLOBAL(int) x)\nBODY x[0] = 1; }\n",
		 "--sycl-check", "the accesses of this source cannot be checked"},
	};
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct backend_fault fault = {0};
		void *binary = NULL;
		size_t bytes = 0;
		char *log = NULL;
		cr_assert_eq(fixture.ops->build(fixture.backend, fixture.index,
						BACKEND_SOURCE_PORTABLE, cases[i].source,
						strlen(cases[i].source), cases[i].options, &binary,
						&bytes, &log, &fault),
			     0, "%s\n%s", fault.text, log ? log : "");
		if (cases[i].expected)
			cr_expect(log && strstr(log, cases[i].expected), "%s", log ? log : "");
		else
			cr_expect_null(log, "%s", log);
		free(log);
		free(binary);
	}
	/* An object is linked later, and has no block of words. */
	struct backend_fault fault = {0};
	void *object = NULL;
	size_t bytes = 0;
	char *log = NULL;
	cr_assert_eq(fixture.ops->compile(fixture.backend, fixture.index, BACKEND_SOURCE_PORTABLE,
					  cases[0].source, strlen(cases[0].source), "--sycl-check",
					  &object, &bytes, &log, &fault),
		     0, "%s", fault.text);
	cr_expect(log && strstr(log, "the accesses of an object are not checked"), "%s",
		  log ? log : "");
	free(log);
	free(object);
	fixture_close(&fixture);
}

/* The device's machine code, from a binary that was built for it: a cubin is a program by
 * itself. */
Test(cuda_compiled, a_cubin_is_a_program)
{
	static const char source[] =
		"__global__ void seven(unsigned *out, unsigned v) { *out = v + 7; }\n";
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	size_t bytes = 0, cubin_bytes = 0;

	fixture_open(&fixture, 0);
	char *binary =
		run_build(&fixture, BACKEND_SOURCE_CUDA_CPP, source, strlen(source), "", &bytes);
	char *elf = memmem(binary, bytes, "\177ELF", 4);
	cr_assert_not_null(elf, "NVRTC made no code for the device");
	void *packed = run_build(&fixture, BACKEND_SOURCE_CUBIN, elf,
				 bytes - (size_t)(elf - binary), "", &cubin_bytes);
	int error =
		fixture.ops->program_load(fixture.device, packed, cubin_bytes, &program, &fault);
	free(packed);
	free(binary);
	if (error < 0) { /* the double runs no machine code, and may refuse to load it */
		cr_assert_not(run_is_real(), "%s", fault.text);
		cr_assert_eq(fault.status, STATUS_BUILD, "%s", fault.text);
		fixture_close(&fixture);
		return;
	}
	char *names = NULL;
	cr_assert_eq(fixture.ops->program_kernels(program, &names, &fault), 0, "%s", fault.text);
	cr_assert_str_eq(names, "seven");
	free(names);
	struct run run = {.fixture = fixture, .program = program};
	run.kernel = run_kernel(&run, "seven");
	if (run_is_real())
		cr_assert_eq(value_of(&run, "seven"), 107);
	run_close(&run);
}

/* Code for another architecture is refused when it is loaded, with a message. */
Test(cuda_compiled, a_cubin_for_another_architecture_is_refused)
{
	static const char source[] = "__global__ void seven(unsigned *out) { *out = 7; }\n";
	struct fixture fixture = {.wake_fd = -1};
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	void *binary = run_build(&fixture, BACKEND_SOURCE_CUDA_CPP, source, strlen(source),
				 "-arch=sm_80", &bytes);
	struct backend_fault fault = run_load_fails(&fixture, binary, bytes);
	cr_assert_eq(fault.status, STATUS_BUILD, "%s", fault.text);
	cr_assert_eq(fault.native_code, 209, "no binary for this GPU");
	free(binary);
	fixture_close(&fixture);
}

Test(cuda_compiled, without_nvrtc_sources_are_refused_and_ptx_is_not)
{
	static const char *options[4] = {"nvrtc=/nowhere/libnvrtc.so.13"};
	static const char ptx[] = PTX_HEAD ".visible .entry one()\n{\n\tret;\n}\n";
	struct fixture fixture;
	size_t bytes = 0;

	conformance_target.prepare();
	for (int i = 0, at = 1; conformance_target.options[i]; i++)
		if (strncmp(conformance_target.options[i], "nvrtc=", 6) != 0)
			options[at++] = conformance_target.options[i];
	const struct backend_settings settings = {.options = options};
	fixture_open_backend_with(&fixture, &settings);
	free(run_build_fails(&fixture, BACKEND_SOURCE_PORTABLE, "int a;", 6, "",
			     STATUS_FEATURE_NOT_SUPPORTED));
	free(run_build_fails(&fixture, BACKEND_SOURCE_CUDA_CPP, "int a;", 6, "",
			     STATUS_FEATURE_NOT_SUPPORTED));
	free(run_build(&fixture, BACKEND_SOURCE_PTX, ptx, strlen(ptx), "", &bytes));
	fixture.ops->close(fixture.backend);
}

/* What the words mean in a portable source and in CUDA C++, also for the kernels of a binary. */
Test(cuda_compiled, R5_kernels_of_all_languages_are_known_to_wait)
{
	static const char portable[] =
		"SYCL_KERNEL void plain(SYCL_GLOBAL(uint) x) { sycl_next_launch_allow(); x[0] = 1; }\n"
		"SYCL_KERNEL void second(SYCL_GLOBAL(uint) x) { sycl_previous_launch_wait(); x[0] = 2; }\n";
	static const char cuda[] =
		"extern \"C\" __global__ void plain(unsigned *x) { x[0] = 1; }\n"
		"extern \"C\" __global__ void second(unsigned *x) { asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); x[0] = 2; }\n";
	const char *const sources[] = {portable, cuda};
	struct run run;

	for (uint32_t i = 0; i < 2; i++) {
		struct backend_kernel_facts facts[2];
		run_open(&run, i == 0 ? BACKEND_SOURCE_PORTABLE : BACKEND_SOURCE_CUDA_CPP,
			 sources[i], "", "second");
		if (run.fixture.facts->features & BACKEND_FEATURE_EARLY) {
			struct backend_kernel *plain = run_kernel(&run, "plain");
			run.fixture.ops->kernel_facts(run.kernel, &facts[0]);
			run.fixture.ops->kernel_facts(plain, &facts[1]);
			cr_expect(facts[0].waits, "source %u", i);
			cr_expect(!facts[1].waits, "source %u", i);
			run.fixture.ops->kernel_free(plain);
		}
		run_close(&run);
	}
}
