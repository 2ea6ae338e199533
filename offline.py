"""Runs the program under Pulumi's mock monitor and prints what it would register, as JSON.

No account, no Pulumi CLI, no network. `doks-gpu preview` runs this file as a program of the project that it finds.
Standard input: {"stack", "project", "config" (the `doks-gpu:` keys without prefix), "facts": true to read the account}.
The answer has the plan, whether it is refused, the resources, and the settings with every default filled in.
Exit code 2 and {"errors": […]} when the configuration is refused.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
from google.protobuf import json_format
from pulumi.runtime.mocks import MockMonitor, MockResourceArgs, Mocks

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError
from doks_gpu.plan.stack import StackPlan, as_dict, make_plan
from doks_gpu.settings import load

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - Pulumi's marker of a secret value on the wire
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
HIDDEN = "[secret]"

Json = Any


class OfflineCloud(Mocks):
    """Answers as a cloud would: an id for everything, an address for the cluster."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        outputs = dict(args.inputs)
        if args.typ == "digitalocean:index/kubernetesCluster:KubernetesCluster":
            outputs |= {
                "endpoint": "https://cluster.invalid",
                "kubeConfigs": [{"clusterCaCertificate": "", "token": ""}],
            }
        return resource_id(args.name), outputs

    def call(self, _: Any) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        return {}, None


class Recorder(MockMonitor):
    """Keeps every registration whole: `Mocks` alone does not see resource options."""

    def __init__(self) -> None:
        super().__init__(OfflineCloud())
        self.requests: list[Any] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        self.requests.append(request)
        return MockMonitor.RegisterResource(self, request)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        self.requests.append(request)
        return MockMonitor.ReadResource(self, request)


def resource_id(name: str) -> str:
    """A stable stand-in for an id; `described` turns it into words again."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def graph(plan: StackPlan) -> list[dict[str, Json]]:
    """Registers the plan's resources with the recorder and describes each of them."""
    import program

    recorder = Recorder()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        pulumi.runtime.set_mocks(monitor=recorder, mocks=recorder.mocks, project=plan.project, stack=plan.stack)
        pulumi.runtime.test(lambda: program.build(plan, None))()
    finally:
        loop.close()
    requests = [r for r in recorder.requests if r.type != "pulumi:pulumi:Stack"]
    return sorted((described(r, requests) for r in requests), key=lambda r: (r["type"], r["name"]))


def described(request: Any, all_requests: list[Any]) -> dict[str, Json]:
    """One resource as people read it: options that are off are left out, ids that do not exist yet are words."""
    inputs = request.object if hasattr(request, "object") else request.properties
    return {
        "type": request.type,
        "name": request.name,
        "inputs": _worded(_plain(json_format.MessageToDict(inputs)), all_requests),
        "parent": request.parent.split("::")[-1] or None,
        "dependencies": sorted(urn.split("::")[-1] for urn in request.dependencies),
        "options": _options(request),
    }


def _options(request: Any) -> dict[str, Json]:
    said = json_format.MessageToDict(request)
    kept = (
        "protect",
        "ignoreChanges",
        "replaceOnChanges",
        "retainOnDelete",
        "deleteBeforeReplace",
        "customTimeouts",
        "additionalSecretOutputs",
        "deletedWith",
        "replacementTrigger",
        "importId",
        "aliases",
        "hooks",
    )
    options = {key: said[key] for key in kept if said.get(key)}
    if provider := said.get("provider"):
        options["provider"] = provider.split("::")[-2] + "::" + provider.split("::")[-1]
    return options


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET:
            return HIDDEN
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if value == UNKNOWN:
        return "[known after creation]"
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _worded(value: Json, requests: list[Any]) -> Json:
    text = json.dumps(value)
    for request in requests:
        text = text.replace(resource_id(request.name), f"<id of {request.name}>")
    return json.loads(text)


def main(question: Mapping[str, Json]) -> dict[str, Json]:
    """The whole answer: plan, resources and settings, or the errors. Raises `DoksGpuError`."""
    settings = load(question["config"])
    project, stack = question["project"], question["stack"]
    facts = None
    if question.get("facts"):
        facts = Cloud.from_environment().facts(project, stack, settings.cluster.id)
    plan = make_plan(settings, facts, project=project, stack=stack)
    refused = any(finding.severity == "error" for finding in plan.findings)
    return {
        "plan": as_dict(plan),
        "refused": refused,
        "resources": [] if refused else graph(plan),
        "settings": settings.model_dump(mode="json", by_alias=True),
    }


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        answer = main(json.load(sys.stdin))
    except DoksGpuError as error:
        json.dump({"errors": [str(error)]}, sys.stdout)
        sys.exit(error.exit_code)
    json.dump(answer, sys.stdout)
    sys.exit(2 if answer["refused"] else 0)
