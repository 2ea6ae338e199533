"""Bad configuration: one message with every error, nothing registered, exit code 2, no traceback."""

import subprocess
import sys

import pytest

from tests.graph.conftest import ROOT, run_offline

BAD = {
    "a wrong type": ("fleets.batch.tiers[0].max=true", "max"),
    "a misspelt key": ("fleets.batch.tiers[0].maxx=3", "max"),
    "a minimum above the maximum": ("fleets.batch.tiers[0].min=9", "max"),
    "a fixed size of 0": ("fleets.inference.tiers[0]={name: amd, size: gpu-mi300x1-192gb, min: 0, max: 0}", "0"),
    "an unknown size without a price": ("fleets.inference.tiers[0].size=gpu-mi999x1-512gb", "usdPerHour"),
    "a GPU size as CPU pool": ("cluster.cpuPool.size=gpu-h100x1-80gb", "cpuPool"),
    "a Spot size as CPU pool": ("cluster.cpuPool.size=s-4vcpu-8gb-spot", "cpuPool"),
    "the version latest": ("cluster.version=latest", "latest"),
    "mixed vendors": ("fleets.batch.tiers[1].size=gpu-mi300x1-192gb", "vendor"),
    "too little memory": ("fleets.batch.memoryGib=140", "memoryGib"),
    "more GPUs than a node has": ("jobs.train.gpus=2", "gpus"),
    "a price above the cap": ("limits.usdPerHour=45.99", "usdPerHour"),
    "one Droplet too many": ("limits.droplets=15", "droplets"),
    "one GPU too many": ("limits.gpus.h200=1", "gpus"),
    "a tier name that is there twice": ("fleets.batch.tiers[1].name=spot", "spot"),
    "a workload name that is there twice": ("jobs.gauge={fleet: batch, image: 'a:1', command: [x], tasks: 1}", "gauge"),
    "a name of 70 characters": (f"cluster.name={'a' * 70}", "cluster.name"),
    "a name in Unicode": ("cluster.name=größe", "cluster.name"),
    "a boolean as label value": ("fleets.batch.workload=true", "workload"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_stack_is_refused_for(case: str) -> None:
    assignment, word = BAD[case]
    code, answer = run_offline("dev", assignment)
    told = " ".join(answer.get("errors", ())) or " ".join(
        f"{f['path']} {f['message']} {f['wayOut']}" for f in answer["plan"]["findings"] if f["severity"] == "error"
    )
    assert code == 2, answer
    assert word in told
    assert not answer.get("resources")


def test_all_errors_come_in_one_message() -> None:
    assignments = ("fleets.batch.tiers[0].maxx=3", "cluster.version=latest", "limits.droplets=-1")
    _, answer = run_offline("dev", *assignments)
    (message,) = answer["errors"]
    assert all(word in message for word in ("maxx", "latest", "droplets"))


def test_the_command_ends_with_2_and_without_a_traceback() -> None:
    command = [sys.executable, "-m", "doks_gpu.ops.main", "preview", "--offline", "--set", "cluster.version=latest"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
