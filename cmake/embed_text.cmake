# Writes a text file into a C++ source as a function's answer. IN, OUT: the files; HEADER: what declares
# `std::string_view clawmark::NAME()`.
file(READ ${IN} text)
# Pieces, as a compiler may limit one literal.
set(literals "")
string(LENGTH "${text}" length)
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND literals "R\"text(${piece})text\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nnamespace clawmark {\n\nstd::string_view ${NAME}() {\n  static constexpr std::string_view kText =\n${literals};\n  return kText;\n}\n\n}  // namespace clawmark\n")
