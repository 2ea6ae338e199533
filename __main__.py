"""The Pulumi program: settings, plan, resources, outputs."""

import os

import pulumi
from pulumi.runtime import config

import program
from doks_gpu.cloud import TOKEN_VARIABLE, Cloud, token_from_environment
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import load, raw_from_pulumi_config


def main() -> None:
    """Refuses before the first resource, with every reason at once."""
    project, stack = pulumi.get_project(), pulumi.get_stack()
    values, secret_keys = config.get_config_env(), config.get_config_secret_keys_env()
    settings = load(raw_from_pulumi_config(values, secret_keys))
    cloud = Cloud.from_environment() if token_from_environment(os.environ) else None
    if settings.cluster.id and cloud is None:
        raise RefusedError(f"An attached cluster is looked up with the account: export {TOKEN_VARIABLE} first.")
    facts = cloud.facts(project, stack, settings.cluster.id) if cloud else None
    plan = make_plan(settings, facts, project=project, stack=stack)
    program.announce(plan)
    for name, value in program.build(plan, cloud).items():
        pulumi.export(name, value)


try:
    main()
except DoksGpuError as error:
    raise pulumi.RunError(str(error)) from None
