# cmake -DINPUTS=FILE|FILE... -DOUTPUT=FILE.c -DNAME=IDENTIFIER -P embed.cmake: the texts, one behind the other, as one
# C string.
string(REPLACE "|" ";" inputs "${INPUTS}")
set(literal "")
foreach(input ${inputs})
  file(READ ${input} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(REPLACE "\n" "\\n\"\n\t\"" text "${text}")
  string(APPEND literal "\n\t\"${text}\"")
endforeach()
file(WRITE ${OUTPUT} "/* Made from source texts by the build. */\n#include \"portable_prelude.h\"\n\nconst char ${NAME}[] =${literal};\n")
