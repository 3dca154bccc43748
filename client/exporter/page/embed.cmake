# Makes `out`, a C file: the page with its style and its program inside, and the policy that allows just these two, by their hashes.
foreach(part html css js)
  file(READ ${folder}/page.${part} ${part})
endforeach()

# base64_of_sha256(text result)
function(base64_of_sha256 text result)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hex "${text}")
  set(base64 "")
  foreach(at RANGE 0 54 6)
    string(SUBSTRING ${hex} ${at} 6 three)
    math(EXPR number "0x${three}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${number} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  # Two bytes are left.
  string(SUBSTRING ${hex} 60 4 two)
  math(EXPR number "0x${two} << 2")
  foreach(shift 12 6 0)
    math(EXPR digit "(${number} >> ${shift}) & 63")
    string(SUBSTRING ${digits} ${digit} 1 letter)
    string(APPEND base64 ${letter})
  endforeach()
  set(${result} "${base64}=" PARENT_SCOPE)
endfunction()

base64_of_sha256("${css}" style)
base64_of_sha256("${js}" script)
string(REPLACE "@STYLE@" "${css}" html "${html}")
string(REPLACE "@SCRIPT@" "${js}" html "${html}")
file(WRITE ${out}.html "${html}")
file(READ ${out}.html bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(......................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${out} "#include \"page.h\"

const unsigned char page_html[] = {
${bytes}
};
const size_t page_html_bytes = sizeof(page_html);
const char page_policy[] = \"default-src 'none'; style-src 'sha256-${style}'; script-src 'sha256-${script}'; \"
	\"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\";
")
