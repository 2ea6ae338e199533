"""Services, jobs and checks: what runs on the fleets.

Shapes follow Kubernetes where a key has its name there. Limits of an Indexed Job with a retry limit per
index are Kubernetes' own (100 000 tasks, 10 000 at once).
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from doks_gpu.settings.types import (
    Count,
    EnvName,
    FilledText,
    Flag,
    Image,
    Label,
    ObjectName,
    Placement,
    Positive,
    Quantity,
    Section,
    Text,
    at_least_one,
    fraction,
    matching,
    not_below_min,
    parse_quantity,
    refused,
    refused_inside,
    refused_together,
    repeated,
    whole,
)

SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 - the path that POSIX shared memory has in every container
SIGNAL_EXITS = {137: "SIGKILL", 143: "SIGTERM"}

TASKS_VARIABLE = "DOKS_GPU_TASKS"
"""How many tasks a job has; its own index is in JOB_COMPLETION_INDEX, which Kubernetes sets."""
JOB_VARIABLES = frozenset({TASKS_VARIABLE, "JOB_COMPLETION_INDEX"})

ResourceName = Literal["cpu", "memory", "ephemeral-storage"]
Command = Annotated[tuple[Text, ...], AfterValidator(at_least_one("word, in exec form: [program, argument]"))]
Amount = Annotated[float, fraction(0, 1e12, low_is_allowed=False, high_is_allowed=True)]
ActivationAmount = Annotated[float, fraction(0, 1e12, low_is_allowed=True, high_is_allowed=True)]
AbsolutePath = Annotated[str, matching(re.compile(r"/[^\s:]*\Z"), "an absolute path", 512)]
GpuCount = Annotated[int, whole(1, 8)]
"""DigitalOcean's largest node has 8 GPUs; what a fleet's nodes have is compared in the preflight."""
ExitCode = Annotated[int, whole(1, 255)]


def _one_core() -> dict[ResourceName, str]:
    return {"cpu": "1", "memory": "1Gi"}


class Resources(Section):
    """CPU, memory and disk; GPUs are `gpus`."""

    requests: dict[ResourceName, Quantity] = Field(default_factory=_one_core)
    limits: dict[ResourceName, Quantity] = Field(default_factory=dict)

    @field_validator("limits")
    @classmethod
    def _not_below_requests(cls, limits: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name, request in info.data.get("requests", {}).items():
            if name in limits and parse_quantity(limits[name]) < parse_quantity(request):
                raise refused(f"a {name} limit of at least the request ({request})")
        return limits


class SecretKey(Section):
    """One key of an existing Kubernetes Secret."""

    secret: ObjectName
    key: Annotated[str, matching(re.compile(r"[-._a-zA-Z0-9]+\Z"), "a key of a Secret")]


class EmptyDir(Section):
    """Scratch space that goes with the pod."""

    size_limit: Quantity | None = None


class Volume(Section):
    """Something mounted into the container; exactly one source."""

    name: Label
    mount_path: AbsolutePath
    read_only: Flag = False
    empty_dir: EmptyDir | None = None
    config_map: ObjectName | None = None
    secret: ObjectName | None = None
    claim: ObjectName | None = Field(default=None, validate_default=True)

    @field_validator("claim")
    @classmethod
    def _one_source(cls, claim: str | None, info: ValidationInfo) -> str | None:
        sources = ("empty_dir", "config_map", "secret")
        given = [info.data[name] for name in sources if name in info.data] + [claim]
        if len(given) > len(sources) and sum(source is not None for source in given) != 1:
            raise refused_together("exactly one of emptyDir, configMap, secret, claim")
        return claim


class Readiness(Section):
    """HTTP probe on the service's port."""

    path: AbsolutePath = "/metrics"
    period_seconds: Positive = 5


class Replicas(Section):
    """Fewest and most replicas."""

    min: Count = 1
    max: Positive = 1

    @field_validator("max")
    @classmethod
    def _not_below_min(cls, value: int, info: ValidationInfo) -> int:
        return not_below_min(value, info)


class AuthenticationRef(Section):
    """KEDA's reference to credentials."""

    name: ObjectName
    kind: Literal["TriggerAuthentication", "ClusterTriggerAuthentication"] = "TriggerAuthentication"


class Trigger(Section):
    """A trigger as KEDA writes it."""

    type: FilledText
    name: Label | None = None
    metadata: dict[FilledText, Text] = Field(default_factory=dict)
    metric_type: Literal["AverageValue", "Value", "Utilization"] | None = None
    use_cached_metrics: Flag | None = None
    authentication_ref: AuthenticationRef | None = None

    @field_validator("metadata")
    @classmethod
    def _no_metric_name(cls, metadata: dict[str, str]) -> dict[str, str]:
        if "metricName" in metadata:
            raise refused("no metricName (KEDA dropped it): `name` names a trigger")
        return metadata


class Scale(Section):
    """What the number of replicas follows: a query of ours, or triggers as KEDA writes them."""

    query: FilledText | None = None
    mode: Literal["total", "perReplica"] = "total"
    """`total`: the query is the sum over all replicas; `perReplica`: it is the load of one."""
    target: Amount | None = None
    """Wanted value per replica; needed with `query`, none with `triggers`."""
    activation: ActivationAmount = 0.0
    polling_seconds: Positive = 30
    scale_down_seconds: Annotated[int, whole(0, 3600)] = 300
    """HPA's stabilization window, which Kubernetes limits to an hour."""
    fallback_replicas: Count = 1
    """Replicas when the source is silent; the loader fills `replicas.min` in."""
    triggers: tuple[Trigger, ...] = Field(default=(), validate_default=True)

    @field_validator("triggers")
    @classmethod
    def _one_source(cls, triggers: tuple[Trigger, ...], info: ValidationInfo) -> tuple[Trigger, ...]:
        if "query" not in info.data or "target" not in info.data:
            return triggers
        if (info.data["query"] is None) == (not triggers):
            raise refused_together("exactly one of query and triggers")
        if triggers and info.data["target"] is not None:
            raise refused_together("target only with query: a trigger has its own in its metadata")
        if not triggers and info.data["target"] is None:
            raise refused_together("target, the value wanted per replica, with query")
        return triggers


class Disruption(Section):
    """A PodDisruptionBudget; exactly one of the two."""

    max_unavailable: Positive | None = None
    min_available: Positive | None = Field(default=None, validate_default=True)

    @field_validator("min_available")
    @classmethod
    def _one_of_two(cls, value: int | None, info: ValidationInfo) -> int | None:
        if "max_unavailable" in info.data and (info.data["max_unavailable"] is None) == (value is None):
            raise refused_together("exactly one of maxUnavailable and minAvailable")
        return value


class Workload(Section):
    """What a service and a job have in common."""

    fleet: FilledText
    gpus: GpuCount = 1
    resources: Resources = Resources()
    env: dict[EnvName, Text] = Field(default_factory=dict)
    secret_env: dict[EnvName, SecretKey] = Field(default_factory=dict)
    """Variables from existing Kubernetes Secrets."""
    pull_secrets: tuple[ObjectName, ...] = ()
    shared_memory: Quantity | None = None
    """Size of /dev/shm; None: the 64 MiB of the container runtime."""
    volumes: tuple[Volume, ...] = ()

    @field_validator("secret_env")
    @classmethod
    def _not_in_env(cls, value: dict[str, SecretKey], info: ValidationInfo) -> dict[str, SecretKey]:
        if twice := sorted(set(value) & set(info.data.get("env", {}))):
            raise refused(f"no variable that env sets as well ({', '.join(twice)})")
        return value

    @field_validator("volumes")
    @classmethod
    def _mounted_once(cls, volumes: tuple[Volume, ...], info: ValidationInfo) -> tuple[Volume, ...]:
        for what, values in (
            ("name", [v.name for v in volumes]),
            ("mountPath", [v.mount_path for v in volumes]),
        ):
            if twice := repeated(values):
                raise refused(f"each {what} once ({', '.join(twice)} is there more than once)")
        if info.data.get("shared_memory") and any(v.mount_path == SHARED_MEMORY_PATH for v in volumes):
            raise refused(f"no volume at {SHARED_MEMORY_PATH} next to sharedMemory")
        return volumes


class Service(Workload):
    """Replicas that serve: the built-in demo (`app`) or an image with its command."""

    app: Literal["gauge"] | None = None
    image: Image | None = None
    command: tuple[Text, ...] = Field(default=(), validate_default=True)
    """Exec form."""
    port: Annotated[int, whole(1, 65535)] = 8080
    readiness: Readiness = Readiness()
    placement: Placement = "onDemand"
    replicas: Replicas = Replicas()
    scale: Scale | None = None
    disruption: Disruption | None = None
    """None: no PodDisruptionBudget."""
    grace_period_seconds: Positive = 60

    @field_validator("command")
    @classmethod
    def _app_or_image(cls, command: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if "app" not in info.data or "image" not in info.data:
            return command
        app, image = info.data["app"], info.data["image"]
        if app and (image or command):
            raise refused_together("app alone (it brings image and command), or image and command")
        if not app and not (image and command):
            raise refused_together("app (the built-in demo), or both image and command")
        return command

    @field_validator("scale", mode="before")
    @classmethod
    def _fallback_starts_at_min(cls, scale: Any, info: ValidationInfo) -> Any:
        replicas = info.data.get("replicas")
        if isinstance(scale, dict) and replicas and "fallbackReplicas" not in scale:
            return scale | {"fallbackReplicas": replicas.min}
        return scale

    @field_validator("scale")
    @classmethod
    def _fallback_within_replicas(cls, scale: Scale | None, info: ValidationInfo) -> Scale | None:
        replicas = info.data.get("replicas")
        if scale and replicas and not replicas.min <= scale.fallback_replicas <= replicas.max:
            raise refused_inside(
                "fallbackReplicas", f"from replicas.min ({replicas.min}) to replicas.max ({replicas.max})"
            )
        return scale

    @field_validator("disruption")
    @classmethod
    def _leaves_one_to_move(cls, disruption: Disruption | None, info: ValidationInfo) -> Disruption | None:
        replicas = info.data.get("replicas")
        if disruption and replicas and disruption.min_available and disruption.min_available >= replicas.min:
            raise refused_inside(
                "minAvailable",
                f"below replicas.min ({replicas.min}), else no node with a replica can be drained; "
                "or maxUnavailable: 1",
            )
        return disruption


class Job(Workload):
    """Tasks that end: an Indexed Job, one index per task."""

    image: Image
    command: Command
    """Exec form."""
    placement: Placement = "spot"
    tasks: Annotated[int, whole(1, 100_000)] | None = None
    tasks_file: FilledText | None = Field(default=None, validate_default=True)
    """Path of a file with one task per line, from the project's folder."""
    parallelism: Annotated[int, whole(1, 10_000)] = 1
    retries: Count = 3
    """Per task."""
    deadline_seconds: Positive | None = None
    """Of the whole job, from its start; None: none."""
    grace_period_seconds: Positive = 120
    fatal_exit_codes: tuple[ExitCode, ...] = (64,)
    """A retry would not help: the task fails at once, with `fail_fast` the whole job."""
    fail_fast: Flag = False
    checkpoint_seconds: Positive | Literal["auto"] = 600

    @field_validator("env", "secret_env")
    @classmethod
    def _none_of_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(JOB_VARIABLES & set(value)):
            raise refused(f"no variable that every task is given ({', '.join(taken)})")
        return value

    @field_validator("tasks_file")
    @classmethod
    def _tasks_or_file(cls, value: str | None, info: ValidationInfo) -> str | None:
        if "tasks" in info.data and (info.data["tasks"] is None) == (value is None):
            raise refused_together("exactly one of tasks and tasksFile")
        return value

    @field_validator("checkpoint_seconds", mode="wrap")
    @classmethod
    def _seconds_or_auto(cls, value: Any, handler: Any) -> Any:
        if value == "auto":
            return value
        try:
            return handler(value)
        except ValueError:
            raise refused("a whole number of seconds, 1 or more, or auto") from None

    @field_validator("fatal_exit_codes")
    @classmethod
    def _no_signal(cls, codes: tuple[int, ...]) -> tuple[int, ...]:
        for code in codes:
            if code in SIGNAL_EXITS:
                raise refused(f"codes other than {code}: a reclaimed pod ends with it ({SIGNAL_EXITS[code]})")
        if twice := repeated([str(code) for code in codes]):
            raise refused(f"each code once ({', '.join(twice)} is there more than once)")
        return codes


class CheckImages(Section):
    """Images with the vendor's own tool (`nvidia-smi`, `amd-smi`)."""

    nvidia: Image = "docker.io/nvidia/cuda:13.0.2-base-ubuntu24.04"
    amd: Image = "docker.io/rocm/dev-ubuntu-24.04:7.2.4"


class Checks(Section):
    """Diagnostic jobs, one per tier."""

    enabled: Flag = False
    provision_minutes: Positive = 60
    """How long a tier may take to bring its first node."""
    images: CheckImages = CheckImages()
