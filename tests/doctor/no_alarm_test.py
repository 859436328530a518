#!/usr/bin/env python3
"""No false alarms: models that are whole and look unusual give no error and no warning, by headers and by a full read; and the generator's files are what it says."""
from doctor_case import DoctorCase, main, mounts
from legal_oddities import ODDITIES


class NoAlarm(DoctorCase):
    """Filled below: one method an oddity."""


def method_of(build):
    def method(self):
        model = self.new_folder("model")
        build(model)
        with self.unchanged():
            for options in ((), ("--deep",)):
                self.assert_healthy(self.doctor(model, *options), options)
    return method


for _name, _build in ODDITIES:
    setattr(NoAlarm, "test_" + _name, method_of(_build))


class Sealed(DoctorCase):
    def test_a_seal_changes_nothing_about_a_whole_model(self):
        for name, build in ODDITIES:
            if name in ("a_hub_cache", "an_ollama_store"):
                continue
            with self.subTest(oddity=name):
                model = self.new_folder(name)
                build(model)
                mounts.vouchfs_ok("ingest", model, "--quiet")
                with self.unchanged(model):
                    self.assert_healthy(self.doctor(model, "--deep"))


if __name__ == "__main__":
    main()
