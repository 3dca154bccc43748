/*
 * Errors about a wrong word of the command line. They name it, and the known word that is most like
 * it. Valid until the next call of one of these functions.
 */
#ifndef SYCLCTL_WRONG_WORD_H
#define SYCLCTL_WRONG_WORD_H

/* `what` the word should be, as "format". `known`: the right words, separated by blanks. */
const char *wrong_choice(const char *what, const char *word, const char *known);

/* For a device, whose names depend on the machine. */
const char *wrong_device(const char *word);

/* For a user or a group. Reads the user database, which may block. */
const char *wrong_user(const char *word);
const char *wrong_group(const char *word);

#endif
