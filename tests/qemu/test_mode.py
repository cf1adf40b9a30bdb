# SPDX-License-Identifier: MIT
"""The mode of the GPU: the property, at run time too, and the register."""

import unittest

from machine import Machine, REG, refused


class Mode(unittest.TestCase):
    """No job runs in these machines."""

    def test_it_is_fast_unless_the_property_has_another(self):
        for properties, name in (("", "fast"), ("mode=fast", "fast"), ("mode=counted", "counted"),
                                 ("mode=strict", "strict")):
            with self.subTest(properties), Machine(properties) as machine:
                machine.enable()
                self.assertEqual(machine.property("mode"), name)
                self.assertEqual(machine.field("SYS_MODE__MODE"), REG[f"MODE_{name.upper()}"])

    def test_it_changes_at_run_time_by_property_and_register(self):
        with Machine() as machine:
            machine.enable()
            self.assertEqual(machine.set_property("mode", "counted"), {"return": {}})
            self.assertEqual(machine.field("SYS_MODE__MODE"), REG["MODE_COUNTED"])
            self.assertEqual(machine.field("SYS_MODE__AVAILABLE"), 1)
            machine.reg("SYS_MODE", REG["MODE_FAST"])
            self.assertEqual(machine.property("mode"), "fast")
            self.assertEqual(machine.field("SYS_MODE__REFUSED"), 0)

    def test_a_reset_of_the_gpu_keeps_it(self):
        with Machine() as machine:
            machine.enable()
            machine.set_property("mode", "counted")
            machine.reg("SYS_RESET", REG["SYS_RESET_KEY"])
            self.assertEqual(machine.property("mode"), "counted")

    def test_others_are_refused_by_name(self):
        for name, text in (("slow", "mode must be fast, counted or strict"),
                           ("", "mode must be fast, counted or strict"),
                           ("a-name-that-is-too-long", "mode must be fast, counted or strict")):
            with self.subTest(name):
                self.assertIn(text, refused(f"mode={name}"))
                with Machine() as machine:
                    machine.enable()
                    self.assertIn(text, machine.set_property("mode", name)["error"]["desc"])
                    self.assertEqual(machine.property("mode"), "fast")

    def test_the_register_refuses_others(self):
        with Machine() as machine:
            machine.enable()
            machine.reg("SYS_MODE", 3)
            self.assertEqual(machine.field("SYS_MODE__MODE"), REG["MODE_FAST"])
            self.assertEqual(machine.field("SYS_MODE__REFUSED"), REG["MODE_REFUSAL_UNKNOWN"])

    def test_there_is_no_finding_without_a_job(self):
        with Machine("mode=strict") as machine:
            machine.enable()
            self.assertEqual(machine.property("findings"), "[]")


if __name__ == "__main__":
    unittest.main()
