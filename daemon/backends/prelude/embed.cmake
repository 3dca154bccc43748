# cmake -DINPUT=file -DOUTPUT=file.c -DNAME=identifier -P embed.cmake: the file's text as a C string.
file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\t" "\\t" text "${text}")
string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
file(WRITE ${OUTPUT} "/* Made from a source text by the build. */\n#include \"portable_prelude.h\"\n\nconst char ${NAME}[] =\n\t\"${text}\";\n")
