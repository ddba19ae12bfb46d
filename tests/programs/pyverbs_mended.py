#!/usr/bin/python3
"""Mends the mistakes of rdma-core's Python tests that a weak memory shows, in a copy of the tests.

pyverbs_mended.py COPY: docs/memory.md says what is wrong with each place. Ends with status 1 if the
copy does not have one of the mistakes that the newest release has: then this file and docs/memory.md
have to say less.
"""

import pathlib
import re
import sys

LINE_OF_A_CALL = r"(?:[^\n]*,\n)*[^\n]*\n"
MENDED_SINCE = "test_resize_cq takes posting for completing"
MENDS = [
    ("traffic() posts a receive again before it has read the buffer", "utils.py",
     rf"( +post_recv\({LINE_OF_A_CALL})( +msg_received(?:_list)? = {LINE_OF_A_CALL})",
     r"\2\1"),
    ("CMAsyncConnection posts a receive again before it has read the buffer", "rdmacm_utils.py",
     rf"( +self\.cm_res\.qp\.post_recv\({LINE_OF_A_CALL})( +msg_received = {LINE_OF_A_CALL})",
     r"\2\1"),
    ("rdma_traffic() takes the completion of a WRITE for the sign that the peer sees it", "utils.py",
     r"( +else:\n)( +)(msg_received = (?:server|client)\.mem_read\()",
     r"\1\2time.sleep(0.001)\n\2\3"),
    (MENDED_SINCE, "test_cq.py",
     r"( +)(with self\.assertRaises\(PyverbsRDMAError\) as ex:\n +self\.client\.cq\.resize\()",
     r"\1__import__('time').sleep(0.001)\n\1\2"),
]


def mend(copy):
    for mistake, name, before, after in MENDS:
        path = copy / name
        text, count = re.subn(before, after, path.read_text(encoding="utf-8"))
        if count == 0 and mistake != MENDED_SINCE:
            sys.exit(f"{path}: not found there: {mistake}")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    mend(pathlib.Path(sys.argv[1]))
