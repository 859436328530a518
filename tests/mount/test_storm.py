"""Many threads at once: storms of faults, reads and opens finish, and exactly the bad pages fail. Small enough for a slow, instrumented build."""
import json
import os
import threading

import mounts
from mounts import BLOCK

SIZE = 24 * 1024 * 1024 + 99


class StormCase(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.model = self.new_folder("model")
        mounts.write_file(os.path.join(self.model, "f.bin"), mounts.noise(SIZE, 4))
        self.good = self.seal_and_keep(self.model)
        self.reference = os.path.join(self.good, "f.bin")

    def storm(self, mount, threads, operations, seed, bad):
        done = mounts.run(mounts.helper("page_storm"), mount / "f.bin", self.reference, threads, operations, seed, bad, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual(record["operations"], threads * operations)
        return record


class TestConcurrentStorm(StormCase):
    def test_sound_file(self):
        with self.mount(self.model) as mount:
            self.assertEqual(self.storm(mount, 32, 150, 1, "none")["failed"], 0)
            self.assertEqual(mount.events(), [])

    def test_damaged_file_fails_exactly_where_it_is_damaged(self):
        bad = set(range(3, 4000, 17)) | {5000, 5001, 5002, SIZE // BLOCK}
        for block in bad:
            mounts.damage_block(os.path.join(self.model, "f.bin"), block, block % 4)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            self.assertGreater(self.storm(mount, 16, 250, 2, mounts.runs(bad))["failed"], 0)
            events = mount.events("corrupt_block")
            self.assertLessEqual({e["block"] for e in events}, bad)
            self.assertEqual(len(events), len({e["block"] for e in events}), "one event a block, also when many threads find it at once")

    def test_the_same_page_by_all_at_once(self):
        mounts.flip(os.path.join(self.model, "f.bin"), 1000 * BLOCK)
        with self.mount(self.model, "--on-known-bad=serve") as mount:
            answers = []

            def read():
                fd = os.open(mount / "f.bin", os.O_RDONLY)
                try:
                    os.pread(fd, 10, 1000 * BLOCK)
                    answers.append("bytes")
                except OSError as error:
                    answers.append(error.errno)
                finally:
                    os.close(fd)
            threads = [threading.Thread(target=read) for _ in range(48)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            self.assertEqual(answers, [5] * 48)
            self.assertEqual(len(mount.events("corrupt_block")), 1)

    def test_namespace_and_live_files_beside_a_storm(self):
        with self.mount(self.model) as mount:
            stop = threading.Event()
            problems = []

            def look():
                while not stop.is_set():
                    try:
                        names = os.listdir(mount.path)
                        mount.status(), mount.events()
                        os.getxattr(mount / "f.bin", "user.vouch.state")
                        if "f.bin" not in names or os.stat(mount / "f.bin").st_size != SIZE:
                            problems.append(names)
                    except OSError as error:
                        problems.append(error)
            lookers = [threading.Thread(target=look) for _ in range(4)]
            for looker in lookers:
                looker.start()
            try:
                self.storm(mount, 8, 100, 3, "none")
            finally:
                stop.set()
                for looker in lookers:
                    looker.join(60)
            self.assertEqual(problems, [])


if __name__ == "__main__":
    mounts.main()
