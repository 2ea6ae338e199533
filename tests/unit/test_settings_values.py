"""What a value may be: both sides of every limit, with the path and the way out in the message."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from doks_gpu.settings import go_duration, load, parse_duration, parse_quantity
from tests.unit.settings_examples import FULL, MINIMAL, changed, errors

TIER = "fleets.batch.tiers.0"
OWN = "services.own"
JOB = "jobs.train"

ACCEPTED = [
    (f"{TIER}.max", "3"),
    (f"{TIER}.min", 0),
    (f"{TIER}.priority", 2),
    (f"{TIER}.usdPerHour", "8.00"),
    (f"{TIER}.relativeSpeed", 2),
    (f"{TIER}.generation", "4"),
    ("fleets.batch.fallbackAfter", "1h30m"),
    ("fleets.batch.headroom", 0),
    ("fleets.batch.headroom", "0.25"),
    ("fleets.batch.tolerations", [{"key": "example.com/dedicated", "operator": "Exists"}]),
    (
        "fleets.batch.tolerations",
        [{"key": "dedicated", "value": "true", "effect": "NoExecute", "tolerationSeconds": 5}],
    ),
    ("cluster.version", "1.36"),
    ("cluster.version", "1.36.3-do.0"),
    ("cluster.id", "0f5b5b5e-1c2d-4e3f-8a9b-0c1d2e3f4a5b"),
    ("cluster.clusterSubnet", "10.244.0.0/16"),
    ("cluster.maintenance", {"day": "any", "start": "23:59"}),
    ("cluster.maintenance", None),
    ("cluster.cpuPool", {"size": "c-4", "min": 1, "max": 1, "usdPerHour": 0.125}),
    ("cluster.scaleDown.utilization", "0.65"),
    ("limits.gpus", {"h200": 0, "mi300x": "4"}),
    (f"{JOB}.image", "python:3.12.1"),
    (f"{JOB}.checkpointSeconds", "auto"),
    (f"{JOB}.checkpointSeconds", "600"),
    (f"{JOB}.fatalExitCodes", []),
    (f"{JOB}.tasks", 100_000),
    (f"{OWN}.resources", {"requests": {"cpu": 2, "memory": "1Gi"}, "limits": {"memory": "1024Mi"}}),
    (
        f"{OWN}.scale",
        {"triggers": [{"type": "cron", "metadata": {"timezone": "UTC", "desiredReplicas": "2"}}]},
    ),
    (f"{OWN}.volumes", [{"name": "data", "mountPath": "/data", "claim": "data", "readOnly": True}]),
    ("services.gauge.replicas.min", 0),
    ("monitoring.retention", "2w"),
    ("keda.repository", "oci://registry.example.com/charts"),
    ("checkpoints", {"enabled": True, "bucket": "my-checkpoints", "region": "ams3"}),
    ("team", ""),
]

REFUSED = [
    (f"{TIER}.max", 2.0, "fleets.batch.tiers[0].max: 2.0; allowed: a whole number, 1 or more"),
    (f"{TIER}.max", True, "fleets.batch.tiers[0].max: true; allowed: a whole number"),
    (f"{TIER}.max", "three", 'fleets.batch.tiers[0].max: "three"; allowed: a whole number'),
    (f"{TIER}.max", "\uff13", "allowed: a whole number"),
    (f"{TIER}.max", 2**31, "a whole number up to 2147483647"),
    (f"{TIER}.max", 0, "pool spot would never have a node"),
    (f"{TIER}.min", 3, "fleets.batch.tiers[0].max: 2; allowed: a whole number from min (3) up"),
    (f"{TIER}.min", -1, "fleets.batch.tiers[0].min: -1; allowed: a whole number, 0 or more"),
    (f"{TIER}.priority", 1, "a whole number from 2 to 1000000"),
    (f"{TIER}.size", "s-4vcpu-8gb", "the slug of a GPU size"),
    (f"{TIER}.name", "Spot", "lower-case ASCII letters"),
    (f"{TIER}.name", "spöt", "lower-case ASCII letters"),
    (f"{TIER}.name", "1spot", "a letter first"),
    (f"{TIER}.name", "x" * 70, "this one has 70 characters"),
    (f"{TIER}.usdPerHour", 0, "above 0"),
    (f"{TIER}.usdPerHour", -1, "fleets.batch.tiers[0].usdPerHour: -1; allowed: US dollars per hour"),
    (f"{TIER}.usdPerHour", float("nan"), "US dollars per hour"),
    (f"{TIER}.usdPerHour", "1e9", "US dollars per hour"),
    (f"{TIER}.usdPerHour", True, "US dollars per hour"),
    (f"{TIER}.relativeSpeed", 0, "a number from 0 (excluded)"),
    (f"{TIER}.enabled", "yes", "true or false, without quotes"),
    ("fleets.batch.workload", True, "write it in quotes"),
    ("fleets.batch.workload", 7, "write it in quotes"),
    ("fleets.batch.workload", "-x", "a label value"),
    ("fleets.batch.headroom", 1, "to 1 (excluded)"),
    ("fleets.batch.memoryGib", "100Gi", "a whole number, 1 or more"),
    ("fleets.batch.fallbackAfter", 3, "a wait with its unit"),
    ("fleets.batch.fallbackAfter", "3 minutes", "a wait with its unit"),
    ("fleets.batch.fallbackAfter", "0s", "longer than zero"),
    ("fleets.batch.tolerations", [{"key": "a", "value": True}], "tolerations[0].value: true"),
    ("fleets.batch.tolerations", [{"operator": "Exists"}], "tolerations[0].key: required"),
    (
        "fleets.batch.tolerations",
        [{"key": "a", "operator": "Exists", "value": "b"}],
        "no value with operator Exists",
    ),
    (
        "fleets.batch.tolerations",
        [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}],
        "only with effect",
    ),
    (
        "fleets.batch.tolerations",
        [{"key": "a", "effect": "noschedule"}],
        "NoSchedule, PreferNoSchedule or NoExecute",
    ),
    ("fleets.batch.tiers", [], "at least one tier"),
    ("fleets", {}, "at least one fleet"),
    ("fleets", [], "fleets: a list; allowed: a mapping"),
    ("region", "Atlanta", "a region of DigitalOcean"),
    ("namespace", "x" * 70, "at most 63 characters"),
    ("cluster.version", "latest", "never `latest`"),
    ("cluster.version", 1.36, "write it in quotes"),
    ("cluster.version", "1", "a prefix"),
    ("cluster.id", "my-cluster", "a name will not do"),
    ("cluster.clusterSubnet", "10.244.0.1/16", "no host bits set"),
    ("cluster.maintenance.start", "24:00", "a time in quotes"),
    ("cluster.maintenance.start", 750, "write it in quotes"),
    ("cluster.maintenance.day", "Sunday", "monday"),
    ("cluster.cpuPool.size", "gpu-h100x1-80gb", "a CPU size"),
    ("cluster.cpuPool.size", "c-4-spot", "a CPU size"),
    ("cluster.cpuPool.min", 0, "cluster.cpuPool.min: 0; allowed: a whole number, 1 or more"),
    ("cluster.cpuPool", {"min": 3, "max": 2}, "from min (3) up"),
    ("cluster.scaleDown.utilization", 0, "a number from 0 (excluded) to 1"),
    ("limits.usdPerHour", 0, "above 0"),
    ("limits.gpus", {"H200": 1}, "a GPU model in lower case"),
    ("limits.gpus", {"h200": "many"}, "limits.gpus.h200"),
    ("limits", 60, "a mapping with the keys droplets, runningDroplets, gpus, usdPerHour"),
    (f"{JOB}.image", "docker.io/team/train", "without a tag"),
    (f"{JOB}.image", "docker.io/team/train:latest", "names another image tomorrow"),
    (f"{JOB}.image", "docker.io/team/train:latest-cuda", "names another image tomorrow"),
    (f"{JOB}.image", "localhost:5000/train", "without a tag"),
    (f"{JOB}.image", "docker.io/team/train@sha256:abc", "an exact tag or a digest"),
    (f"{JOB}.command", "python3 train.py", 'command: "python3 train.py"; allowed: a list'),
    (f"{JOB}.command", [], "exec form"),
    (f"{JOB}.command", ["sleep", 60], "command[1]: 60; allowed: a string; YAML"),
    (f"{JOB}.tasks", 100_001, "from 1 to 100000"),
    (f"{JOB}.tasksFile", "tasks.txt", "jobs.train: allowed: exactly one of tasks and tasksFile"),
    (f"{JOB}.checkpointSeconds", "often", "or auto"),
    (f"{JOB}.fatalExitCodes", [143], "a reclaimed pod ends with it (SIGTERM)"),
    (f"{JOB}.fatalExitCodes", [64, 64], "64 is there more than once"),
    (f"{JOB}.fatalExitCodes", [0], "from 1 to 255"),
    (f"{JOB}.placement", "ondemand", "spot or onDemand"),
    (f"{JOB}.gpus", 9, "from 1 to 8"),
    (f"{JOB}.gpus", 0, "from 1 to 8"),
    (f"{OWN}.env.DEBUG", True, "services.own.env.DEBUG: true; allowed: a string; YAML reads this"),
    (f"{OWN}.env.1X", "a", "the name of an environment variable"),
    (f"{OWN}.env.HF_TOKEN", "x", "no variable that env sets as well (HF_TOKEN)"),
    (
        f"{OWN}.secretEnv.HF_TOKEN",
        "hf",
        'secretEnv.HF_TOKEN: "hf"; allowed: a mapping with the keys secret, key',
    ),
    (f"{OWN}.app", "gauge", "services.own: allowed: app alone"),
    (f"{OWN}.command", [], "both image and command"),
    (f"{OWN}.port", 65536, "from 1 to 65535"),
    (f"{OWN}.sharedMemory", "8 GB", "a quantity"),
    (f"{OWN}.resources", {"limits": {"memory": "512Mi"}}, "at least the request (1Gi)"),
    (f"{OWN}.resources", {"limits": {"nvidia.com/gpu": 1}}, "cpu, memory or ephemeral-storage"),
    (f"{OWN}.volumes.0.claim", "data", "services.own.volumes[0]: allowed: exactly one of emptyDir"),
    (f"{OWN}.volumes.0.emptyDir", None, "services.own.volumes[0]: allowed: exactly one of emptyDir"),
    (f"{OWN}.volumes.0.mountPath", "cache", "an absolute path"),
    (f"{OWN}.volumes.0.mountPath", "/dev/shm", "next to sharedMemory"),  # noqa: S108 - a mount in a container
    ("services.gauge.image", "a:1", "app alone"),
    ("services.gauge.replicas", {"min": 3, "max": 2}, "from min (3) up"),
    ("services.gauge.scale.fallbackReplicas", 9, "scale.fallbackReplicas: 9; allowed: from replicas.min (1)"),
    ("services.gauge.scale.triggers", [{"type": "cron"}], "exactly one of query and triggers"),
    ("services.gauge.scale.target", None, "target, the value wanted per replica"),
    (
        "services.gauge.scale",
        {"triggers": [{"type": "cron", "metadata": {"replicas": 2}}]},
        "write it in quotes",
    ),
    (
        "services.gauge.scale",
        {"triggers": [{"type": "cron", "metadata": {"metricName": "a"}}]},
        "no metricName",
    ),
    ("services.gauge.scale", {"triggers": [{"type": "cron"}], "target": 3}, "target only with query"),
    ("services.gauge.disruption", {}, "exactly one of maxUnavailable and minAvailable"),
    ("services.gauge.disruption.minAvailable", 1, "exactly one of maxUnavailable and minAvailable"),
    (
        "services.gauge.disruption",
        {"minAvailable": 1},
        "disruption.minAvailable: 1; allowed: below replicas.min (1)",
    ),
    ("monitoring.chartVersion", "latest", "one exact chart version"),
    ("monitoring.chartVersion", "77.x", "one exact chart version"),
    ("monitoring.retention", "30 days", "how long Prometheus keeps data"),
    ("monitoring.repository", "http://charts.example.com", "the https:// or oci:// address"),
    ("keda.release", "x" * 54, "at most 53 characters"),
    ("checkpoints.region", "ric1", "a region with Spaces: ams3"),
    ("checkpoints.bucket", "My_Bucket", "a bucket's name"),
    ("checks.images", {"nvidia": "nvidia/cuda"}, "checks.images.nvidia"),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED)
def test_value_is_accepted(path: str, value: Any) -> None:
    assert errors(changed(path, value)) == []


@pytest.mark.parametrize(("path", "value", "said"), REFUSED)
def test_value_is_refused_with_one_error_that_says_why(path: str, value: Any, said: str) -> None:
    found = errors(changed(path, value))
    assert len(found) == 1
    assert said in found[0]


def test_service_subnet_that_overlaps_the_cluster_subnet_is_refused() -> None:
    raw = changed("cluster", {"clusterSubnet": "10.0.0.0/8", "serviceSubnet": "10.1.0.0/16"})
    assert "does not overlap clusterSubnet (10.0.0.0/8)" in errors(raw)[0]


def test_a_string_of_digits_becomes_an_int() -> None:
    tier = load(changed("fleets.batch.tiers.0.max", "3")).fleets["batch"].tiers[0]
    assert type(tier.max) is int
    assert tier.max == 3


def test_money_is_decimal_as_it_was_written() -> None:
    assert load(changed("limits.usdPerHour", 4.41)).limits.usd_per_hour == Decimal("4.41")


def test_minimal_configuration_gets_the_documented_defaults() -> None:
    settings = load(MINIMAL)
    assert settings.namespace == "gpu"
    assert settings.team is None
    assert settings.cluster.protect
    assert settings.cluster.cpu_pool.size == "s-4vcpu-8gb"
    assert settings.cluster.scale_down.unneeded == timedelta(minutes=10)
    assert settings.fleets["batch"].workload == "gpu-batch"
    assert settings.fleets["batch"].headroom == 0.1
    assert settings.monitoring.enabled
    assert settings.keda.enabled
    assert not settings.checks.enabled
    assert settings.checkpoints.region == "nyc3"


def test_longest_fleet_name_keeps_its_whole_name_in_the_label() -> None:
    name = "f" * 40
    raw = MINIMAL | {"fleets": {name: {"tiers": [{"name": "a", "size": "gpu-h200x1-141gb", "min": 1, "max": 1}]}}}
    assert load(raw).fleets[name].workload == f"gpu-{name}"


def test_fallback_replicas_start_at_the_service_minimum() -> None:
    scale = load(changed("services.gauge.replicas", {"min": 2, "max": 4})).services["gauge"].scale
    assert scale is not None
    assert scale.fallback_replicas == 2


def test_service_prefers_on_demand_and_a_job_spot() -> None:
    settings = load(FULL)
    assert settings.services["own"].placement == "onDemand"
    assert settings.jobs["train"].placement == "spot"


def test_tier_with_equal_limits_is_fixed_and_others_are_not() -> None:
    tiers = load(changed("fleets.batch.tiers.0.min", 2)).fleets["batch"].tiers
    assert [tier.is_fixed for tier in tiers] == [True, False]


def test_spot_follows_from_the_size_alone() -> None:
    assert [tier.is_spot for tier in load(FULL).fleets["batch"].tiers] == [True, False]


@pytest.mark.parametrize(("version", "is_prefix"), [("1.36", True), ("1.36.3", True), ("1.36.3-do.0", False)])
def test_version_is_a_prefix_unless_it_is_a_whole_slug(version: str, is_prefix: bool) -> None:
    assert load(changed("cluster.version", version)).cluster.version_is_prefix is is_prefix


@pytest.mark.parametrize(
    ("text", "go"),
    [("90s", "1m30s"), ("10m", "10m0s"), ("1.5h", "1h30m0s"), ("30s", "30s"), ("500ms", "0.5s")],
)
def test_waits_are_read_and_written_as_go_does(text: str, go: str) -> None:
    assert go_duration(parse_duration(text)) == go
    assert parse_duration(go) == parse_duration(text)


@pytest.mark.parametrize(("text", "number"), [("500m", "0.5"), ("2Gi", "2147483648"), ("3", "3"), ("1.5k", "1500")])
def test_quantities_are_read_as_kubernetes_does(text: str, number: str) -> None:
    assert parse_quantity(text) == Decimal(number)
