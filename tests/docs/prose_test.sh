#!/usr/bin/env bash
# Pages and public headers are plain English, as CONTRIBUTING.md says. Reads the work tree behind the runfiles.
headers=$PWD/tools/kit/include
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"
python3 tests/docs/messages_test.py
python3 tests/docs/prose_test.py
python3 tests/docs/prose.py . "$headers" tests/docs/prose_unclean.txt
