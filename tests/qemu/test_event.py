# SPDX-License-Identifier: MIT
"""
QMP event PUMICE_FINDING. The job of endless.py reads a register that it has not written, which is
one finding in mode strict. Its work-groups on a USC store to one word, which is a global race.
"""

import json
import time
import unittest

from endless import Endless

EVENTS_PER_SECOND = 32
FINDINGS = 100


class Events(unittest.TestCase):
    """The events of a GPU that runs the job."""

    def start(self, properties, threads=2):
        """Return a machine that runs the job."""
        machine = Endless(threads, properties)
        self.addCleanup(machine.__exit__)
        machine.start_job(machine.ram, machine.ram)
        return machine

    def events(self, machine):
        """Return the data of all events of findings so far."""
        machine.property("mode")    # the reply follows the events before it
        return [event["data"] for event in machine.events if event["event"] == "PUMICE_FINDING"]

    def uninitialised(self, machine):
        """Return those of the register. Threads of the GPU may emit others before them."""
        return [event for event in self.events(machine)
                if event["finding"]["finding"] == "uninitialised"]

    def find_again(self, machine):
        """Drop the findings, and wait for the next one."""
        machine.reg("FIND_COUNT", 0)
        machine.until("finding", lambda: machine.reg("FIND_COUNT"))

    def test_a_finding_is_an_event_with_its_object_and_the_device(self):
        for threads in (1, 2):
            with self.subTest(threads):
                machine = self.start("mode=strict", threads)
                machine.until("event", lambda m=machine: self.uninitialised(m))
                event = self.uninitialised(machine)[0]
                self.assertEqual(event["device"], "gpu")
                self.assertEqual(event["path"], "/machine/peripheral/gpu")
                self.assertEqual(event["suppressed"], 0)
                self.assertEqual(event["finding"]["times"], 1)
                stored = json.loads(machine.property("findings"))
                self.assertIn(event["finding"], [{**finding, "times": 1} for finding in stored])
                self.assertEqual(machine.end(), 0)

    def test_other_modes_have_none(self):
        machine = self.start("mode=counted")
        self.assertEqual(self.events(machine), [])

    def test_a_guest_cannot_cause_more_than_some_per_second(self):
        machine = self.start("mode=strict")
        machine.until("first", lambda: machine.reg("FIND_COUNT"))
        start = time.monotonic()
        for _ in range(FINDINGS):
            self.find_again(machine)
        seconds = time.monotonic() - start
        self.assertLessEqual(len(self.events(machine)), EVENTS_PER_SECOND * (int(seconds) + 2))
        # The first one after a second without any has the number of all that had no event.
        time.sleep(1.1)
        before = len(self.events(machine))
        self.find_again(machine)
        machine.until("event", lambda: len(self.events(machine)) > before)
        events = self.events(machine)
        self.assertGreaterEqual(len(events) + sum(event["suppressed"] for event in events),
                                FINDINGS + 2)
        if seconds < 1:
            self.assertGreater(sum(event["suppressed"] for event in events), 0)


if __name__ == "__main__":
    unittest.main()
