#!/usr/bin/python3
"""Runs rdma-core's own Python tests and writes down what became of each.

pyverbs_run.py TESTS RESULTS [NAME...]: TESTS is a copy of the tests that Debian installs; NAME as
run_tests.py has it ("tests.test_qp"); without names all. A line of RESULTS is the test's name, a tab,
ok, skip, fail or error, and for all but ok a tab and the reason's first line.
"""

import fcntl
import inspect
import multiprocessing
import os
import socket
import struct
import sys
import unittest

TESTS, RESULTS = sys.argv[1:3]
sys.path[:0] = [TESTS, os.path.dirname(TESTS)]
sys.argv[1:] = sys.argv[3:]

from args_parser import parser  # noqa: E402

parser.parse_args()
import tests  # noqa: E402
from tests import base  # noqa: E402


def own_address():
    """One of this machine's addresses. Not 127.0.0.1: bound to that, an id has no device yet."""
    request = 0x8915  # SIOCGIFADDR
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(any_socket, request, struct.pack("256s", name.encode()))
            except OSError:
                continue  # it has no address
            address = socket.inet_ntoa(answer[20:24])
            if not address.startswith("127."):
                return address
    sys.exit("this machine has no address but loopback's")


def network_interface(self, device, port, index):
    """In place of a look into /sys for the interface under a device: newer tests ask the kernel."""
    self.args.append([device, port, index, ADDRESS, "00:00:00:00:00:00"])


def finds_interfaces():
    """Whether these tests look for them where we show them. Newer ones ask rdma(8)."""
    asks_kernel = "port" in inspect.signature(base.RDMATestCase.get_net_name).parameters
    return os.path.exists("/sys/class/infiniband") and not asks_kernel


if not finds_interfaces():
    ADDRESS = own_address()
    base.RDMATestCase._get_ip_mac = network_interface
# Python's own way until 3.14: the tests hand their processes what cannot be sent to one that is not a fork.
multiprocessing.set_start_method("fork")


class Recorder(unittest.TextTestResult):
    """The outcome of each test. A test that has failed in several ways counts once, as the first."""

    outcomes = {}

    def record(self, test, outcome, reason=""):
        line = str(reason).strip().split("\n")[-1] if reason else ""
        self.outcomes.setdefault(test.id(), (outcome, line))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skip", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "fail", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "error", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(test, "fail", err[1])


program = unittest.main(module=tests, exit=False,
                        testRunner=unittest.TextTestRunner(resultclass=Recorder, verbosity=2))
with open(RESULTS, "w", encoding="utf-8") as out:
    for name, (outcome, reason) in sorted(Recorder.outcomes.items()):
        out.write("\t".join([name, outcome] + ([reason] if outcome != "ok" else [])) + "\n")
