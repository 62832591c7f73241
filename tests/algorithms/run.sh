#!/usr/bin/env bash
# Every example of docs/algorithms.md stands, checked, in examples_test.cu.
set -u
here=$(cd -- "$(dirname -- "$0")" && pwd -P)
program=$(tr -d '\n' < "$here/examples_test.cu" | sed 's/\.data()//g; s/  */ /g')
passed=0 failed=0
while IFS= read -r example; do
  [[ $example == *"on(stream)"* && $example != *".measure"* && $example != "on(stream)"* ]] || continue
  if [[ $program == *"$example"* ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL not in examples_test.cu: $example"
  fi
done < <(sed -n '/^## The calls/,/^## What they take/p' "$here/../../docs/algorithms.md" | grep -oE '`[^`]+`' | tr -d '`')
echo "$passed passed, $failed failed"
((failed == 0 && passed > 25))
