#!/usr/bin/env bash
# Each feature that docs/verbs.md claims names tests that exist. Reads the work tree behind the runfiles.
. "$(dirname "$(readlink -f WORKSPACE)")/tests/docs/page.sh"

# It would notice: a test that is gone, a feature without one, a row that lacks an answer.
cp --parents -r docs/verbs.md docs/decisions.md tests/programs verbs/soft "$scratch"
for folder in cm transport sim; do ln -s "$root/$folder" "$scratch"; done
ln -s "$root/verbs/c_api" "$scratch/verbs/c_api"
sed -i 's/, ACompletionIsAnnouncedOnceIfAskedFor)/, Renamed)/' "$scratch/verbs/soft/events_test.cc"
sed -i 's/^| RDMA READ | yes, tested by [^|]*|/| RDMA READ | yes |/; s/^| RC | yes\(.*\) ConnectX: yes |$/| RC | yes\1/' "$scratch/docs/verbs.md"
sed -i 's/Datagram.TooLongForItsReceive/Datagram.NoSuch/; s/^[*]*Test:[*]* `Windows.OfType2TakeOnly.*$/none/' "$scratch/docs/decisions.md"
notices tests/docs/verbs_page.py "no test Events.ACompletionIsAnnouncedOnceIfAskedFor" "names no test: RDMA READ" "three answers: | RC " \
  "no test Datagram.NoSuch" "decision and test: The key of a type 2 window"
