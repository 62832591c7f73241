# For each source a line: its path, then names at the left margin that are its own or may be: what a source keeps for itself is what another one beside it must not have.
# Headers come first and have no lines: a source with a type or a function that one of them defines too gets the name `!`, as what stands beside it may include that
# header.
FNR == 1 {
  header = FILENAME ~ /\.h$/
  if (!header) printf "%s%s", any++ ? "\n" : "", FILENAME
}
header {
  if (/^(struct|class|union|enum class|enum) +[A-Za-z_0-9]+($| *[:{]| final)/) {
    match($0, /^(struct|class|union|enum class|enum) +[A-Za-z_0-9]+/)
    count = split(substr($0, RSTART, RLENGTH), words, / +/)
    known[words[count]]
  } else if (/^using [A-Za-z_0-9]+ =/) {
    known[$2]
  } else if (/^(inline|constexpr) /) {
    sub(/[(={;[].*/, "")
    sub(/ +$/, "")
    if (match($0, /[A-Za-z_][A-Za-z_0-9]*$/) && substr($0, RSTART - 1, 1) != ":") known[substr($0, RSTART)]
  }
  next
}
/^using [A-Za-z_0-9]+ =/ && $2 in known { printf " !" }
/^[A-Za-z[]/ && !/^(namespace|using|template|extern|typedef|public|private|protected)[^A-Za-z_]/ {
  line = $0
  sub(/^\[\[[a-z:_]*\]\] */, "", line)
  if (match(line, /^(struct|class|union|enum class|enum) +[A-Za-z_0-9]+/)) {
    count = split(substr(line, RSTART, RLENGTH), words, / +/)
    printf "%s %s", words[count] in known && line !~ /;$/ && substr(line, RSTART + RLENGTH, 2) != "::" ? " !" : "", words[count]
    next
  }
  head = line
  sub(/[(={;[].*/, "", head)
  sub(/ +$/, "", head)
  if (match(head, /[A-Za-z_][A-Za-z_0-9]*$/) && RSTART > 1 && substr(head, RSTART - 1, 1) != ":") {
    name = substr(head, RSTART)
    printf "%s %s", name in known ? " !" : "", name
  }
  # constexpr int kFirst = 1, kSecond = 2;
  while (line ~ /^(static |inline |constexpr |const )/ && match(line, /, [A-Za-z_][A-Za-z_0-9]* = /)) {
    printf " %s", substr(line, RSTART + 2, RLENGTH - 5)
    line = "const " substr(line, RSTART + RLENGTH)
  }
}
END { print "" }
