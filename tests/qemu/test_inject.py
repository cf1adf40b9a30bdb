# SPDX-License-Identifier: MIT
"""Faults requested by the operator of the machine."""

import unittest

from machine import CAP_EXPRESS, Machine, REG

SLEEPER = [0x10500073, 0xffdff06f]
STATE = {name[9:]: value for name, value in REG.items() if name.startswith("FW_STATE_")}
DEVICE_CONTROL, FLR = 8, 0x8000     # in the express capability


def request_fault(machine, text):
    """Set the property; returns QMP's reply."""
    return machine.set_property("inject", text)


def pending_faults(machine):
    """Return the requests whose faults have not happened yet."""
    return machine.property("inject")


class Inject(unittest.TestCase):
    """The property inject; fault-injection is not needed for it."""

    def test_fault_requested_at_run_time_happens_once(self):
        for threads in (0, 2):
            with Machine(f"threads={threads}") as machine:
                machine.enable()
                self.assertEqual(request_fault(machine, "fw-lockup,where=boot,skip=1"),
                                 {"return": {}})
                self.assertEqual(pending_faults(machine),
                                 "fw-lockup,where=boot,bit=0,us=0,skip=1,count=1")
                for state in ("RUNNING", "LOCKUP", "RUNNING"):
                    machine.reg("SYS_RESET", REG["SYS_RESET_KEY"])
                    machine.start_firmware(SLEEPER)
                    machine.qtest("clock_step", 1000000)
                    machine.until(state, lambda: machine.field("FW_STATUS__STATE") in
                                  (STATE["RUNNING"], STATE["LOCKUP"]))
                    machine.until(state, lambda: machine.field("FW_STATUS__STATE") ==
                                  STATE[state])
                self.assertEqual(pending_faults(machine), "")

    def test_none_cancels_pending_faults(self):
        with Machine() as machine:
            request_fault(machine, "unit-hang,where=tdm,count=endless")
            request_fault(machine, "page-table,where=table,bit=3")
            self.assertEqual(len(pending_faults(machine).split("\n")), 2)
            self.assertEqual(request_fault(machine, "none"), {"return": {}})
            self.assertEqual(pending_faults(machine), "")

    def test_a_reset_of_the_machine_drops_only_faults_of_the_guest(self):
        with Machine("fault-injection=on") as machine:
            machine.enable()
            request_fault(machine, "late-end,where=vdm,us=7")
            machine.reg("INJ_KIND", REG["INJECT_KIND_FW_SILENCE"])
            machine.reg("INJ_WHERE", REG["INJECT_WHERE_BOOT"])
            machine.reg("INJ_COUNT", REG["INJ_COUNT__OCCASIONS__MASK"])
            machine.reg("INJ_CTRL", REG["INJ_CTRL__ARM__MASK"])
            mine = "late-end,where=vdm,bit=0,us=7,skip=0,count=1"
            both = {mine, "fw-silence,where=boot,bit=0,us=0,skip=0,count=endless"}
            machine.reg("SYS_RESET", REG["SYS_RESET_KEY"])
            control = machine.capability(CAP_EXPRESS) + DEVICE_CONTROL
            machine.config(control, machine.config(control, size=2) | FLR, size=2)
            self.assertEqual(set(pending_faults(machine).split("\n")), both)
            machine.qmp("system_reset")
            machine.until("reset", lambda: pending_faults(machine) == mine)

    def test_an_invalid_request_is_refused(self):
        with Machine() as machine:
            for text in ("", "hang", "unit-hang,where=list", "unit-hang,count=0"):
                self.assertIn("is not a valid fault request",
                              request_fault(machine, text)["error"]["desc"])
            self.assertEqual(pending_faults(machine), "")

    def test_guest_finds_the_unit_only_where_it_may_use_it(self):
        for properties, enabled in (("", 0), ("fault-injection=on", 1)):
            with Machine(properties) as machine:
                machine.enable()
                self.assertEqual(machine.field("INJ_CAPS__ENABLED"), enabled)
                machine.reg("INJ_KIND", REG["INJECT_KIND_UNIT_HANG"])
                machine.reg("INJ_COUNT", 1)
                machine.reg("INJ_CTRL", REG["INJ_CTRL__ARM__MASK"])
                self.assertEqual(machine.reg("INJ_STATUS"), enabled)
                self.assertEqual(bool(pending_faults(machine)), bool(enabled))


if __name__ == "__main__":
    unittest.main()
