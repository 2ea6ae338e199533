"""What the rehearsal shows: what is real, what came up, how to look around."""

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rehearsal.session import Rehearsal

PARTS = (
    ("Pulumi engine and state", "real", "a throwaway file backend"),
    ("etcd, API server, controller manager, scheduler", "real", "one set per cluster, on loopback"),
    ("Kubernetes provider", "real", "4.25.0; the program's SDK is 4.34.2"),
    ("DigitalOcean API", "stand-in", "rehearsal/digitalocean, written from observed behaviour"),
    ("DigitalOcean provider", "stand-in", "rehearsal/provider; --provider takes the real plugin"),
    ("Nodes, GPUs, cluster autoscaler", "not there yet", "pools have nodes in the API, not in the cluster"),
)


def real_and_not() -> Table:
    """One row per part."""
    table = Table(title="This rehearsal", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("part", "real?", "note"):
        table.add_column(heading)
    for part, real, note in PARTS:
        table.add_row(part, f"[green]{real}[/]" if real == "real" else f"[yellow]{real}[/]", note)
    return table


def what_came_up(rehearsal: "Rehearsal") -> Table:
    """What the stand-in holds, with its price."""
    table = Table(title="\nWhat bills now (in the stand-in)", title_justify="left", box=None, pad_edge=False)
    for heading in ("what", "name", "size", "nodes", "$/hour"):
        table.add_column(heading, justify="right" if heading in ("nodes", "$/hour") else "left")
    bill = rehearsal.stand_in.cloud.control.bill()
    for line in bill.lines:
        nodes = "" if line.kind == "cluster" else str(line.nodes)
        table.add_row(line.kind, line.name, line.size, nodes, f"{line.total_usd_per_hour:.2f}")
    table.add_row("[bold]total[/]", "", "", "", f"[bold]{bill.total_usd_per_hour:.2f}[/]")
    return table


def how_to_look_around(rehearsal: "Rehearsal", stack: str) -> str:
    """Commands that work in another terminal."""
    kubeconfig = rehearsal.write_kubeconfig()
    return (
        f"\nLook around from another terminal:\n"
        f"  kubectl --kubeconfig {kubeconfig} get configmap -A\n"
        f"  curl -s {rehearsal.stand_in.url}/admin/state\n"
        f"Or start with --shell: `pulumi preview --stack {stack}` and `doks-gpu up` work there.\n"
        f"Ctrl-C stops everything and deletes it."
    )
