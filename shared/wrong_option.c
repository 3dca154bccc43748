#include "wrong_option.h"

#include "nearest_word.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

bool wrong_option(const struct option *options, const char *argument, int letter,
		  char text_out[WRONG_OPTION_BYTES])
{
	char name[NEAREST_WORD_BYTES + 1] = "", one[] = "-?";
	/* Several letters may be one argument, which getopt_long passes after the last of them
	 * only. */
	if (letter < 0 || letter >= ' ') {
		one[1] = (char)(letter >= ' ' && letter <= '~' ? letter : '?');
		argument = one;
	}
	if (strncmp(argument, "--", 2) == 0)
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument + 2, "="),
			       argument + 2);
	struct nearest_word nearest = {.wrong = name};
	for (const struct option *option = options; option->name; option++)
		nearest_word_consider(&nearest, option->name);
	if (!nearest.found)
		(void)snprintf(text_out, WRONG_OPTION_BYTES, "no such option: '%.64s'", argument);
	else if (strcmp(nearest.found, name) != 0)
		(void)snprintf(text_out, WRONG_OPTION_BYTES,
			       "no such option: '%.64s'. Did you mean '--%s'?", argument,
			       nearest.found);
	else
		(void)snprintf(text_out, WRONG_OPTION_BYTES, "'--%s' %s", name,
			       strchr(argument, '=') ? "takes no value" : "needs a value");
	return nearest.found && strcmp(nearest.found, name) != 0;
}
