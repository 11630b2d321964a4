# Reads sources and headers of the project (paths relative to its root), prints for each .cc one line:
# the source and every project header that it includes, directly or not.
FNR == 1 { files[FILENAME] = 1 }
/^[ \t]*#[ \t]*include[ \t]*"/ {
  name = $0
  sub(/^[^"]*"/, "", name)
  sub(/".*$/, "", name)
  names[FILENAME] = names[FILENAME] " " name
}

# The file that an include names: from the root, or beside the one that includes it.
function resolve(from, name,   beside) {
  if (name in files) return name
  beside = from
  sub(/[^\/]*$/, "", beside)
  beside = beside name
  return beside in files ? beside : ""
}

function visit(file,   list, count, i, next_file) {
  if (file == "" || seen[file] == round) return
  seen[file] = round
  line = line " " file
  count = split(names[file], list, " ")
  for (i = 1; i <= count; ++i) {
    next_file = resolve(file, list[i])
    visit(next_file)
  }
}

END {
  for (file in files) {
    if (file !~ /\.cc$/) continue
    ++round
    line = ""
    visit(file)
    print substr(line, 2)
  }
}
