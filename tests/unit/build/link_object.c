/* What a compiler has made, for the tests of build/linker.h. */
int answer(int question);

int answer(int question)
{
	return question + 2;
}
