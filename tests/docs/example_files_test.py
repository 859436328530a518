#!/usr/bin/env python3
"""The files of examples/ work as they stand: the script runs, the commands of the CI job, of the init containers and of the units run, on whole models and on broken ones."""
import configparser
import json
import os
import re
import shlex
import sys

import yaml

from documents import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
import mounts  # noqa: E402

EXAMPLES = ROOT / "examples"
SHARD = "model-00001-of-00002.safetensors"


class ExampleFiles(mounts.MountCase):
    def setUp(self):
        super().setUp()
        self.tools = self.new_folder("bin")
        os.symlink(mounts.binary(), self.tools + "/vouchfs")

    def make(self, folder, sealed=True):
        os.makedirs(folder)
        weights = {}
        for number in (1, 2):
            name = "model-0000%d-of-00002.safetensors" % number
            weights.update(dict.fromkeys(mounts.safetensors(f"{folder}/{name}", {f"layer.{number}.weight": 20000}, number), name))
        total = 2 * 4 * 20000
        mounts.write_file(f"{folder}/model.safetensors.index.json", json.dumps({"metadata": {"total_size": total}, "weight_map": weights}).encode())
        mounts.write_file(f"{folder}/config.json", b'{"model_type":"bert"}\n')
        if sealed:
            self.ingest(folder)
        return folder

    def run_with_tools(self, *command, prefix=(), **options):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VOUCHFS_")}
        environment.update(PATH=self.tools + ":" + os.environ["PATH"], **options.pop("variables", {}))
        return mounts.run(*prefix, *command, env=environment, cwd=self.dir, **options)

    @staticmethod
    def damage(model):
        mounts.damage_block(f"{model}/{SHARD}", 9)

    @staticmethod
    def cut(model):
        os.truncate(f"{model}/{SHARD}", 30000)

    @staticmethod
    def lose(model):
        os.unlink(f"{model}/{SHARD}")


class PreDeploy(ExampleFiles):
    def check(self, *arguments):
        return self.run_with_tools(EXAMPLES / "pre-deploy.sh", *arguments)

    def digest(self, model):
        return mounts.vouchfs_ok("digest", model).stdout.split()[0]

    def test_a_whole_model_passes_sealed_pinned_and_without_a_seal(self):
        sealed, bare = self.make(self.path("a model")), self.make(self.path("bare"), sealed=False)
        for arguments in ([sealed], [sealed, self.digest(sealed)], [bare]):
            done = self.check(*arguments)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_is_wrong_gives_its_exit_code(self):
        for number, (spoil, code) in enumerate(((self.damage, 3), (self.cut, 3), (self.lose, 4))):
            with self.subTest(code=code, number=number):
                model = self.make(self.path("model %d" % number))
                spoil(model)
                self.assertEqual(self.check(model).returncode, code)

    def test_another_digest_is_refused_and_a_misuse_is_2(self):
        model = self.make(self.path("model"))
        self.assertEqual(self.check(model, "sha256:" + "0" * 64).returncode, 5)
        self.assertEqual(self.check().returncode, 2)
        self.assertEqual(self.check(self.path("nowhere")).returncode, 10)

    def test_an_option_is_a_misuse_and_a_name_like_one_is_a_model(self):
        for option in ("--help", "-h", "--version", "--json"):
            self.assertEqual(self.check(option).returncode, 2, option)
        self.make(self.path("-m"))
        for arguments in (["--", "-m"], ["--", "-m", self.digest(self.path("-m"))], ["./-m"]):
            done = self.check(*arguments)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_machine_without_vouchfs_is_told_so(self):
        done = self.run_with_tools(EXAMPLES / "pre-deploy.sh", self.make(self.path("model")), variables={"VOUCHFS": "no-such-vouchfs"})
        self.assertEqual(done.returncode, 127)
        self.assertIn("install vouchfs", done.stderr)


class CiJob(ExampleFiles):
    def commands(self):
        job = yaml.safe_load((EXAMPLES / "ci/model-check.yml").read_text())["jobs"]["doctor"]
        return job["env"], [step["run"] for step in job["steps"] if "run" in step]

    def run_job(self):
        variables, commands = self.commands()
        self.assertEqual(len(commands), 1)
        return self.run_with_tools("bash", "-e", "-c", commands[0], variables=variables)

    def test_the_job_passes_on_a_whole_model_and_writes_its_report(self):
        self.make(self.path("model"), sealed=False)
        done = self.run_job()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('failures="0"', open(self.path("model-report.xml")).read())

    def test_the_job_fails_on_a_broken_model_with_an_annotation_of_the_file(self):
        self.cut(self.make(self.path("model"), sealed=False))
        done = self.run_job()
        self.assertEqual(done.returncode, 3)
        self.assertIn("::error file=model/%s,title=safetensors.truncated::" % SHARD, done.stdout)
        self.assertIn("<failure", open(self.path("model-report.xml")).read())


class InitContainers(ExampleFiles):
    def containers(self):
        return yaml.safe_load((EXAMPLES / "kubernetes/init-container.yaml").read_text())["spec"]

    def run_containers(self, models, digest):
        """The exit codes of the init containers, as the pod would run them: its user, its mount, its variables."""
        spec, codes = self.containers(), []
        user = str(spec["securityContext"]["runAsUser"])
        for container in spec["initContainers"]:
            mounted, = container["volumeMounts"]
            self.assertTrue(mounted["readOnly"])
            variables = {v["name"]: v["value"] for v in container.get("env", [])}
            if "MODEL_DIGEST" in variables:
                variables["MODEL_DIGEST"] = digest
            words = [re.sub(r"\$\((\w+)\)", lambda m: variables[m[1]], word) for word in container["command"]]
            words = [models + word[len(mounted["mountPath"]):] if word.startswith(mounted["mountPath"] + "/") else word for word in words]
            codes.append(self.run_with_tools(*words, prefix=("setpriv", "--reuid", user, "--regid", user, "--clear-groups")).returncode)
            if codes[-1] != 0:
                break  # the pod stops here
        return codes

    def test_both_pass_on_the_pinned_model_and_stop_a_pod_with_another(self):
        model = self.make(self.path("volume/llama"))
        digest = mounts.vouchfs_ok("digest", model).stdout.split()[0]
        self.assertEqual(self.run_containers(self.path("volume"), digest), [0, 0])
        self.assertEqual(self.run_containers(self.path("volume"), "sha256:" + "0" * 64), [0, 5])
        self.damage(model)
        self.assertEqual(self.run_containers(self.path("volume"), digest), [0, 3])
        os.chmod(f"{model}/{SHARD}", 0o600)
        self.assertEqual(self.run_containers(self.path("volume"), digest), [4])

    def test_the_digest_of_the_manifest_is_a_placeholder_of_the_right_form(self):
        variable, = (v for c in self.containers()["initContainers"] for v in c.get("env", []))
        self.assertRegex(variable["value"], r"^sha256:0{64}$")


class Units(ExampleFiles):
    def unit(self, name):
        parser = configparser.RawConfigParser(strict=False, interpolation=None)
        parser.optionxform = str
        text = (EXAMPLES / "systemd" / name).read_text()
        parser.read_string(text)
        return text, parser

    def run_service(self, model):
        """The exit code of the first ExecStart that fails, with %f as systemd would fill it in."""
        text, _ = self.unit("vouchfs-check@.service")
        lines = re.findall(r"^ExecStart=/usr/bin/(.+)$", text, re.M)
        self.assertEqual(len(lines), 2)
        for line in lines:
            done = self.run_with_tools(*(word.replace("%f", model) for word in shlex.split(line)))
            if done.returncode != 0:
                return done.returncode
        return 0

    def test_the_service_passes_on_a_whole_model_and_fails_on_a_damaged_one(self):
        model = self.make(self.path("model"))
        self.assertEqual(self.run_service(model), 0)
        self.damage(model)
        self.assertEqual(self.run_service(model), 3)

    def test_the_timer_starts_the_service_of_its_name(self):
        _, timer = self.unit("vouchfs-check@.timer")
        self.assertNotIn("Unit", timer["Timer"])  # so it is the service of the same name
        self.assertEqual(timer["Install"]["WantedBy"], "timers.target")

    def test_systemd_accepts_both(self):
        folder = self.new_folder("units")
        for name in ("service", "timer"):
            text, _ = self.unit("vouchfs-check@." + name)
            mounts.write_file(f"{folder}/vouchfs-check@.{name}", text.replace("/usr/bin/vouchfs", mounts.binary()).encode())
        for name in ("service", "timer"):
            done = mounts.run("systemd-analyze", "verify", "--man=no", f"{folder}/vouchfs-check@srv-models-llama.{name}", env={**os.environ, "SYSTEMD_UNIT_PATH": folder + ":"})
            said = [line for line in done.stderr.splitlines() if "vouchfs-check" in line]
            self.assertEqual((done.returncode, said), (0, []), done.stderr)


if __name__ == "__main__":
    mounts.main()
