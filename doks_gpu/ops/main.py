"""The `doks-gpu` command: one verb per module, imported when it runs (`kube-token` must start fast)."""

import os
import re
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doks_gpu.errors import DoksGpuError
from doks_gpu.ops.formats import Output, TextOrJson

if TYPE_CHECKING:
    from doks_gpu.ops.project import Project

app = typer.Typer(
    name="doks-gpu",
    help="GPU work on DigitalOcean Kubernetes: Spot first, on-demand when Spot goes, priced before it exists.",
    epilog=(
        "Exit codes: 0 done; 1 failed; 2 the configuration or the command line is wrong, nothing was made; "
        "3 something lives outside the state (see `orphans`); 4 finished, but something is missing or left over."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_STACK_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.-]{1,100}\Z")
"""What Pulumi allows, less the two names that are folders: a stack's name becomes part of paths."""


def _stack_name(name: str) -> str:
    if not _STACK_NAME.match(name):
        raise typer.BadParameter("a stack's name has 1 to 100 ASCII letters, digits, `-`, `_` and `.`")
    return name


Stack = Annotated[
    str,
    typer.Option(
        "--stack", "-s", help="Stack: reads Pulumi.<stack>.yaml.", envvar="DOKS_GPU_STACK", callback=_stack_name
    ),
]
ProjectFolder = Annotated[
    Path | None, typer.Option("--project", help="Checkout of the program. Default: found from here upwards.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ClusterIsGone = Annotated[
    bool,
    typer.Option(
        "--cluster-is-gone", help="The cluster was deleted by hand: drop it and what was in it from the state."
    ),
]
DEFAULT_STACK = "dev"


@app.command()
def preview(
    stack: Stack = DEFAULT_STACK,
    project: ProjectFolder = None,
    config_file: Annotated[
        Path | None, typer.Option("--config-file", help="Read this file instead of Pulumi.<stack>.yaml.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", help="Try a value: PATH=VALUE, for example fleets.batch.tiers[0].max=3."),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="REF",
            help="Say what changed since REF: a folder with a checkout, else a git revision.",
        ),
    ] = None,
    output: Annotated[
        Output,
        typer.Option("--output", "-o", help="text, json, or markdown (with --compare: a pull-request comment)."),
    ] = Output.text,
    manifests: Annotated[
        Path | None, typer.Option("--manifests", help="Folder for the rendered Kubernetes manifests.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not ask the account, even when DIGITALOCEAN_TOKEN is set.")
    ] = False,
) -> None:
    """Show what a stack would be: resources, pools with prices, every check. Needs no account and no Pulumi CLI.

    With DIGITALOCEAN_TOKEN set, sizes, prices, versions and limits are the account's own.
    """
    from doks_gpu.ops import preview as verb

    request = verb.Request(
        stack=stack,
        project=project,
        config_file=config_file,
        assignments=tuple(assignments or ()),
        manifests=manifests,
        compare=compare,
        offline=offline,
        output=output,
    )
    raise typer.Exit(verb.preview(request))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def up(
    context: typer.Context,
    stack: Stack = DEFAULT_STACK,
    project: ProjectFolder = None,
    yes: Yes = False,
    cluster_is_gone: ClusterIsGone = False,
) -> None:
    """Deploy a stack: looks for orphans, runs `pulumi up`, goes on when one pool cannot be made, names what is missing.

    Further arguments go to `pulumi up`.
    """
    from doks_gpu.ops import up as verb

    raise typer.Exit(verb.up(_project(project), stack, yes=yes, cluster_is_gone=cluster_is_gone, extra=context.args))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def destroy(
    context: typer.Context,
    stack: Stack = DEFAULT_STACK,
    project: ProjectFolder = None,
    yes: Yes = False,
    cluster_is_gone: ClusterIsGone = False,
) -> None:
    """Destroy a stack: Kubernetes objects, pools, cluster. Names what stays and bills.

    Further arguments go to `pulumi destroy`.
    """
    from doks_gpu.ops import up as verb

    raise typer.Exit(
        verb.destroy(_project(project), stack, yes=yes, cluster_is_gone=cluster_is_gone, extra=context.args)
    )


@app.command()
def orphans(
    stack: Stack = DEFAULT_STACK,
    project: ProjectFolder = None,
    adopt: Annotated[str | None, typer.Option("--adopt", metavar="ID", help="Put it into the state.")] = None,
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="ID|all", help="Delete it; all: every pool.")
    ] = None,
    yes: Yes = False,
    no_update_runs: Annotated[
        bool,
        typer.Option(
            "--no-update-runs", help="The creations that the state holds without an end are of an `up` that was killed."
        ),
    ] = False,
    output: Annotated[TextOrJson, typer.Option("--output", "-o", help="Form of the answer.")] = TextOrJson.text,
) -> None:
    """Name clusters and pools that carry the stack's tags, bill, and are in no state. Exit code 3 when there are any.

    A creation that times out or is killed leaves one behind: the provider records a pool only after its nodes run.
    """
    from doks_gpu.ops import orphans as verb

    if adopt and delete:
        raise typer.BadParameter("--adopt and --delete exclude each other")
    raise typer.Exit(
        verb.orphans(
            _project(project),
            stack,
            adopt=adopt,
            delete=delete,
            yes=yes,
            no_update_runs=no_update_runs,
            as_json=output is TextOrJson.json,
        )
    )


@app.command("kube-token")
def kube_token(cluster_id: Annotated[str, typer.Argument(help="Id of the cluster.")]) -> None:
    """Print a short-lived Kubernetes credential (client-go ExecCredential). The stack's kubeconfig calls this."""
    from doks_gpu.ops import kube_token as verb

    typer.echo(verb.kube_token(cluster_id))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def rehearse(context: typer.Context, project: ProjectFolder = None) -> None:
    """Run a whole stack on this machine: real engine, real control plane, a stand-in for DigitalOcean. Linux only.

    Arguments go to the rehearsal: see `doks-gpu rehearse -- --help`.
    """
    from doks_gpu.ops import rehearse as verb

    raise typer.Exit(verb.rehearse(_project(project), context.args))


def _project(folder: Path | None) -> "Project":
    from doks_gpu.ops.project import find_project

    return find_project(folder)


def main() -> None:
    """Runs the command; an error that the user can put right is printed without a traceback."""
    _prepare_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except DoksGpuError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(error.exit_code)
    except OSError as error:
        sys.stderr.write(
            f"Error: {': '.join(str(part) for part in (error.filename, error.strerror or error) if part)}\n"
        )
        _drop_output()
        sys.exit(1)


def _prepare_streams() -> None:
    """A character that the terminal does not know becomes `?`. Raises `SystemExit` where there is no output at all."""
    if sys.stdout is None:
        if sys.stderr is not None:
            sys.stderr.write("Error: standard output is closed; nothing was done.\n")
        sys.exit(1)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """What could not be written is not tried again when the interpreter ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
