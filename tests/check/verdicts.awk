# The verdicts over the cases of one source: what their reports hold against what the source's comments announce.
#
#   awk -v source=FILE -v folder=FOLDER -f verdicts.awk    the names of the cases come on standard input
#
# FOLDER has, for each case, FILE.CASE.json, FILE.CASE.log and FILE.CASE.status. Prints what failed, then `passed failed`.

function announced(line, word, number,    at, rest, parts) {
  while ((at = match(line, word " [^ ]+ [a-z_]+"))) {
    split(substr(line, RSTART, RLENGTH), parts, " ")
    line = substr(line, RSTART + RLENGTH)
    count[word, parts[2]]++
    kind_of[word, parts[2], count[word, parts[2]]] = parts[3]
    line_of[word, parts[2], count[word, parts[2]]] = number
  }
}

# Findings 1 to `found`: severity, kind, and all line numbers between blanks. One that has several kinds counts for each.
function keep(how, kind, lines) {
  found++
  severities[found] = how
  kinds_found[found] = kind
  lines_found[found] = lines " "
}

function read_report(file,    text, got, of_kinds, kind, lines, how, n, others, k, word) {
  found = 0
  got = 0
  while ((getline text < file) > 0) {
    got = 1
    split(text, word, " ")
    gsub(/[",]/, "", word[1])
    gsub(/[",]/, "", word[2])
    if (text ~ /^      "kind":/) {
      kind = word[2]
      lines = ""
      split("", others)
    } else if (text ~ /^      "kinds": /) {
      of_kinds = 1
      continue
    } else if (of_kinds) {
      if (text ~ /\]/) of_kinds = 0
      else if (word[1] != kind) others[word[1]]
    }
    if (text ~ /^      "severity":/) how = word[2]
    if (text ~ /"line": [0-9]+/) {
      n = text
      sub(/.*"line": /, "", n)
      sub(/[^0-9].*/, "", n)
      lines = lines " " n
    }
    n = text
    while (match(n, source ":[0-9]+")) {
      lines = lines " " substr(n, RSTART + length(source) + 1, RLENGTH - length(source) - 1)
      n = substr(n, RSTART + RLENGTH)
    }
    if (text ~ /^      "mend":/) {
      keep(how, kind, lines)
      for (k in others) keep(how, k, lines)
    }
  }
  close(file)
  return got
}

function is_found(how, kind, line,    k) {
  for (k = 1; k <= found; ++k)
    if (severities[k] == how && kinds_found[k] == kind && index(lines_found[k], " " line " ")) return 1
  return 0
}

# Races of the same kind of place come as several hazards.
function is_expected(name, kind,    k) {
  if (kind ~ /^race_/) kind = "race_"
  for (k = 1; k <= count["expect", name]; ++k)
    if (index(kind_of["expect", name, k], kind) == 1) return 1
  return 0
}

# The only warning that nothing may give but what announces it.
function is_warned(name, kind, lines,    k) {
  for (k = 1; k <= count["warn", name]; ++k)
    if (kind_of["warn", name, k] == kind && index(lines, " " line_of["warn", name, k] " ")) return 1
  return 0
}

function problems_of(name, status,    k, kind, line, problems) {
  for (k = 1; k <= count["expect", name]; ++k) {
    kind = kind_of["expect", name, k]
    line = line_of["expect", name, k]
    if (!is_found("error", kind, line)) problems = problems " not found: " kind " at line " line ";"
  }
  for (k = 1; k <= count["warn", name]; ++k) {
    kind = kind_of["warn", name, k]
    line = line_of["warn", name, k]
    if (!is_found("warning", kind, line)) problems = problems " no warning: " kind " at line " line ";"
  }
  for (k = 1; k <= found; ++k) {
    kind = kinds_found[k]
    if (severities[k] == "error") {
      if (!is_expected(name, kind)) problems = problems " wrongly: " kind " (lines" lines_found[k] ");"
    } else if (kind == "uninitialized_variable" && !is_warned(name, kind, lines_found[k])) {
      problems = problems " wrongly: a warning, " kind " (lines" lines_found[k] ");"
    }
  }
  if (count["expect", name] && status == 0) problems = problems " exit status 0 in spite of it;"
  if (!count["expect", name] && status != 0) problems = problems " exit status " status ";"
  return problems
}

function last_words(file,    text, last, before) {
  while ((getline text < file) > 0) {
    before = last
    last = text
  }
  close(file)
  return " " before " " last
}

BEGIN {
  while ((getline text < source) > 0) {
    ++number
    announced(text, "expect", number)
    announced(text, "warn", number)
  }
  passed = failed = 0
}

{
  place = folder "/" source "." $1
  status = "none"
  getline status < (place ".status")
  if (!read_report(place ".json")) verdict = " no report (exit status " status "):" last_words(place ".log")
  else verdict = problems_of($1, status)
  if (verdict == "") {
    ++passed
  } else {
    ++failed
    printf "FAIL %s/%s:%s\n", source, $1, verdict
  }
}

END { print passed, failed }
