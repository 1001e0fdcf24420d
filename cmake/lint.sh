#!/usr/bin/env bash
# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: lint.sh VENV BUILD JOBS [--quick]: formats, names, types. Prints what is wrong. cmake/tidy.py says what --quick means.
set -euo pipefail
venv=$1 build=$2 jobs=$3 quick=${4-}
failed=0
check() { # check NAME COMMAND...: remembers a failure and goes on
  local name=$1
  shift
  "$@" || { echo "lint: $name failed" >&2; failed=1; }
}
mapfile -t of_node < <(git ls-files --cached --others --exclude-standard '*.ts' '*.mjs' '*.css' package.json tsconfig.json)
check clang-format sh -c "git ls-files --cached --others --exclude-standard '*.h' '*.cc' | xargs -r clang-format --dry-run -Werror"
check ruff "$venv/bin/ruff" check -q .
check ruff-format "$venv/bin/ruff" format -q --check .
check mypy "$venv/bin/mypy" --no-error-summary
node() { "$venv/bin/node" "node_modules/$1" "${@:2}"; }
check tsc node typescript/bin/tsc
check prettier node prettier/bin/prettier.cjs --check --log-level=warn "${of_node[@]}"
check codespell sh -c "git ls-files | grep -v -e '\.lock$' -e '^package-lock.json$' -e '/symbols/' -e '/recordings/' | xargs codespell -q 3 -L coo,alledges"
check spdx sh -c "! { git ls-files '*.h' '*.cc' '*.py' '*.sh' '*.ts' '*.mjs' '*.css' '*.cmake' '*CMakeLists.txt' | xargs grep -L SPDX-License-Identifier | grep .; }"
check clang-tidy "$venv/bin/python" cmake/tidy.py "$build" "$jobs" $quick
exit $failed
