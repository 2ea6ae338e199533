"""From a change of the configuration to the words of the pull request."""

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from doks_gpu.ops import preview
from doks_gpu.ops.main import app
from doks_gpu.ops.project import run_offline
from doks_gpu.plan.compare import Comparison, as_dict, compare, plain
from doks_gpu.plan.compare.settings import changed_settings
from doks_gpu.plan.stack import as_dict as plan_as_dict
from doks_gpu.settings import load
from doks_gpu.stackfile import set_path
from tests.unit.settings_examples import FULL
from tests.unit.stacks import AMD, FALLBACK, SPOT, account, plan, raw

ROOT = Path(__file__).parents[2]
PARTS = ("Pulumi.yaml", "Pulumi.dev.yaml", "offline.py", "program.py", "components", "doks_gpu")
ATTACHED = "11111111-2222-4333-8444-555555555555"
OTHER = "22222222-2222-4333-8444-555555555555"

Said = Mapping[str, Any]


def answer(said: Said) -> dict[str, Any]:
    """What `offline.py` answers, less the resources."""
    told = plan_as_dict(plan(said))
    refused = any(finding["severity"] == "error" for finding in told["findings"])
    settings = load(said).model_dump(mode="json", by_alias=True)
    return {"plan": told, "refused": refused, "resources": [], "settings": settings}


def between(old: Said, new: Said) -> Comparison:
    return compare(answer(old), answer(new), "dev")


def change(*assignments: str, of: Said | None = None) -> Comparison:
    """What `--set` of these would change."""
    said = new = of or FULL
    for path, value in (assignment.split("=", 1) for assignment in assignments):
        new = set_path(new, path, value)
    return between(said, new)


def words(comparison: Comparison) -> str:
    told = as_dict(comparison)
    return "\n".join(str(line) for key, lines in told.items() if key != "stack" for line in lines)


# From the stack file to the comment: the program itself runs.


@pytest.fixture(scope="module", autouse=True)
def _one_run_per_configuration() -> Iterator[None]:
    """The side before a change is the same in every test: it is planned once."""
    known: dict[str, dict[str, Any]] = {}
    run = run_offline

    def once(project: Any, stack: str, config: Said, **options: Any) -> dict[str, Any]:
        key = repr((stack, config))
        if key not in known:
            known[key] = run(project, stack, config, **options)
        return copy.deepcopy(known[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preview, "run_offline", once)
        yield


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another checkout: the program as it is, before a change of the stack file."""
    return checkout(tmp_path_factory.mktemp("before"))


def checkout(folder: Path) -> Path:
    for name in PARTS:
        (folder / name).symlink_to(ROOT / name)
    return folder


def comment(before: Path, after: Path) -> tuple[int, str]:
    arguments = ["preview", "--project", str(after), "--compare", str(before), "--output", "markdown", "--offline"]
    run = CliRunner().invoke(app, arguments)
    return run.exit_code, run.stdout


def changed(folder: Path, old: str, new: str) -> Path:
    """A checkout whose stack file differs in one text."""
    path = checkout(folder) / "Pulumi.dev.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text, old
    path.unlink()
    path.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def test_no_change_is_said_to_be_none(before: Path, tmp_path: Path) -> None:
    assert "Nothing changes." in comment(before, checkout(tmp_path))[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("usdPerHour: 60 ", "usdPerHour: 90 ", "Price cap ($/h) **raised**: 60 → 90."),
        (
            "gpu-mi300x1-192gb",
            "gpu-h100x1-80gb",
            "**Vendor changed**: tier `amd` of fleet `inference` goes from AMD to NVIDIA.",
        ),
        (
            "        - {name: fallback, size: gpu-h200x1-141gb, min: 1, max: 2}\n",
            "",
            "**Removed**: tier `fallback` of fleet `batch`",
        ),
        (
            "doks-gpu:region: atl1",
            "doks-gpu:region: tor1",
            "**Replaces the cluster and every pool** (region atl1 → tor1)",
        ),
        ("      fallbackAfter: 3m ", "      # ", "is asked for **later**: 4 min 40 s → 15 min 30 s when"),
        ("gpu-h200x1-141gb, min: 1, max: 2", "gpu-h200x1-141gb, min: 1, max: 1", "At most: 46.00 → 41.53 $/h."),
        ("python:3.12.12-slim", "python:3.13.1-slim", "`jobs.train.image`:"),
    ],
)
def test_a_changed_stack_file_is_said_in_words(before: Path, tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in comment(before, changed(tmp_path, old, new))[1]


def test_a_configuration_that_is_refused_says_so_with_exit_code_2(before: Path, tmp_path: Path) -> None:
    code, text = comment(before, changed(tmp_path, "max: 8}", "max: 0}"))
    assert code == 2, text
    assert "The configuration is refused" in text


def test_a_refused_configuration_before_is_no_new_stack(before: Path, tmp_path: Path) -> None:
    code, text = comment(changed(tmp_path, "region: atl1", "region: 5"), before)
    assert code == 0, text
    assert "The configuration before was refused, so there is nothing to compare with." in text
    assert "New stack" not in text
    assert "At most 46.00 of 60.00 $/h allowed." in text


# From two plans to sentences.


@pytest.mark.parametrize(
    "assignment",
    [
        "team=research",
        "namespace=other",
        "cluster.name=other",
        'cluster.version="1.35"',
        "cluster.autoUpgrade=false",
        "cluster.highAvailability=false",
        "cluster.protect=false",
        "cluster.destroyAssociatedResources=true",
        "cluster.maintenance.day=monday",
        "cluster.cpuPool.max=5",
        "cluster.cpuPool.usdPerHour=0.07143",
        "cluster.scaleDown.unneeded=5m",
        "fleets.batch.workload=other",
        "fleets.batch.memoryGib=80",
        "fleets.batch.headroom=0.2",
        "fleets.batch.fallbackAfter=20m",
        "fleets.batch.tolerations=[{key: example.com/a}]",
        "fleets.batch.tiers[0].generation=2",
        "fleets.batch.tiers[0].relativeSpeed=2",
        "fleets.batch.tiers[0].priority=7",
        "fleets.batch.tiers[0].usdPerHour=8.00",
        "fleets.batch.tiers[2]={name: more, size: gpu-h100x1-80gb, min: 1, max: 1, enabled: false}",
        "limits.droplets=30",
        "limits.runningDroplets=1",
        "limits.gpus={h200: 8}",
        "monitoring.retention=7d",
        "monitoring.keepData=true",
        "keda.enabled=false",
        "services.gauge.replicas.max=4",
        "services.gauge.scale.target=81",
        "services.own.env.LEVEL=debug",
        "services.own.env.API_TOKEN=abc",
        "services.own.volumes[0].mountPath=/other",
        "services.own.command=[serve, --fast]",
        "services.more={fleet: batch, app: gauge}",
        "jobs.train.image=docker.io/team/train:2.0.0",
        "jobs.train.tasks=9",
        "jobs={}",
        "checks.enabled=true",
        "checkpoints.enabled=true",
    ],
)
def test_no_change_of_the_configuration_passes_unseen(assignment: str) -> None:
    assert not change(assignment).empty


TREES = st.recursive(
    st.none() | st.integers(0, 3) | st.text("ab`*", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "env", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def meaning(tree: Any) -> Any:
    """A key without a value is one that is left out."""
    if isinstance(tree, dict):
        return {key: meaning(item) for key, item in tree.items() if meaning(item) is not None} or None
    if isinstance(tree, list):
        return [meaning(item) for item in tree] or None
    return tree


@given(st.dictionaries(st.sampled_from(["x", "y"]), TREES), st.dictionaries(st.sampled_from(["x", "y"]), TREES))
def test_settings_that_mean_different_things_have_a_sentence(old: dict[str, Any], new: dict[str, Any]) -> None:
    if not changed_settings(old, new, ()):
        assert repr(meaning(old)) == repr(meaning(new))


@pytest.mark.parametrize(
    ("assignments", "sentence"),
    [
        (["limits.gpus={h200: 6}"], "GPU limit for h200: not limited → 6."),
        (["fleets.batch.tiers[0].max=1"], "(maximum 2 → 1, which a Spot pool fixes at creation)"),
        (["fleets.batch.tiers[1].max=1"], "Resized: tier fallback of fleet batch, 1–2 → 1 nodes."),
        (["cluster.protect=false"], "Protection against destroy and replacement: on → off."),
        (["fleets.batch.workload=other"], "pods that ask for gpu-batch no longer fit, those that ask for other do"),
        (
            ["fleets.batch.tiers[0].priority=3"],
            "Order changed in fleet batch: spot then fallback → fallback then spot.",
        ),
        (["jobs.train.tasks=9"], "jobs.train.tasks: 8 → 9."),
        (["jobs={}"], "Job train is removed, finished or not."),
        (["namespace=other"], "Job train is replaced"),
        (["jobs.train.tasks=9"], "Job train is replaced: what runs of it is stopped, and all its tasks run again."),
        (
            ["jobs.new={fleet: batch, image: 'docker.io/me/new:1', command: [x], tasks: 4, parallelism: 2}"],
            "Job new is made: 4 task(s), 2 at once, on fleet batch.",
        ),
        (["services.own.env.API_TOKEN=abc"], "services.own.env.API_TOKEN changes; its value is not shown."),
        (["fleets.batch.tiers[0].size=gpu-h300x1-200gb"], "At most: 25.28 → unknown (at least 9.28) $/h."),
    ],
)
def test_a_change_is_said_in_words(assignments: list[str], sentence: str) -> None:
    assert sentence in words(change(*assignments))


@pytest.mark.parametrize(
    "assignment",
    ["fleets.batch.tiers[1].max=3", "fleets.batch.tiers[0].generation=2", "region=tor1", "limits.droplets=30"],
)
def test_what_a_sentence_tells_is_not_told_again_as_a_setting(assignment: str) -> None:
    assert change(assignment).settings == ()


def test_a_replacement_does_not_hide_what_else_changes() -> None:
    found = change("region=tor1", "cluster.protect=false", "fleets.batch.tiers[1].max=3")
    assert found.cluster[0].endswith("(region atl1 → tor1). The cluster is protected: the engine will refuse.")
    assert found.cluster[1] == "Protection against destroy and replacement: on → off."
    assert found.settings == ("`fleets.batch.tiers[1].max`: `2` → `3`.",)


@pytest.mark.parametrize("old", ["1.36.3-do.0", '"1.36"'])
def test_a_version_below_the_one_before_replaces_the_cluster(old: str) -> None:
    pinned = set_path(FULL, "cluster.autoUpgrade", "false")
    (sentence,) = between(
        set_path(pinned, "cluster.version", old), set_path(pinned, "cluster.version", "1.35.1-do.0")
    ).cluster
    assert sentence.startswith(
        f"**Replaces the cluster and every pool** (version {old.strip(chr(34))} → 1.35.1-do.0, a downgrade)"
    )


def test_a_higher_version_is_an_upgrade_in_place() -> None:
    pinned = set_path(set_path(FULL, "cluster.autoUpgrade", "false"), "cluster.version", "1.35.1-do.0")
    assert change("cluster.version=1.36.3-do.0", of=pinned).cluster == (
        "Kubernetes version: 1.35.1-do.0 → 1.36.3-do.0.",
    )


def test_pinning_a_version_that_was_left_alone_warns_of_a_replacement() -> None:
    assert "If the cluster already runs a later one, it is replaced" in words(
        change("cluster.version=1.36.1-do.0", "cluster.autoUpgrade=false")
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("null", ATTACHED, f"Moves into existing cluster {ATTACHED}: every pool is made anew there"),
        (ATTACHED, "null", f"Leaves existing cluster {ATTACHED}, which stays"),
        (ATTACHED, OTHER, f"Every pool moves from existing cluster {ATTACHED} to {OTHER}; both clusters stay."),
    ],
)
def test_attaching_and_leaving_a_cluster_have_words_of_their_own(old: str, new: str, sentence: str) -> None:
    (line,) = change(f"cluster.id={new}", of=set_path(FULL, "cluster.id", old)).cluster
    assert sentence in plain(line)
    assert "None" not in line


def test_an_attached_cluster_is_never_replaced() -> None:
    attached = set_path(FULL, "cluster.id", ATTACHED)
    found = change("cluster.cpuPool.size=s-8vcpu-16gb", of=attached)
    assert (found.cluster, len(found.settings)) == ((), 1)


@pytest.mark.parametrize(
    ("minimum", "sentence"),
    [
        (2, "No on-demand capacity is ever added to fleet batch when Spot fails"),
        (0, "On-demand capacity for fleet batch may never come when Spot fails"),
    ],
)
def test_a_fallback_that_stops_coming_is_said(minimum: int, sentence: str) -> None:
    (line,) = change(f"fleets.batch.tiers[1].min={minimum}").fallback
    assert sentence in line


def test_a_fleet_that_loses_its_on_demand_tier_loses_its_fallback() -> None:
    (line,) = between(raw(SPOT, FALLBACK), raw(SPOT)).fallback
    assert line.startswith("**No fallback any more**: fleet `batch`")


def test_a_check_whose_figures_moved_is_one_changed_check() -> None:
    found = change("limits.usdPerHour=20", of=set_path(FULL, "limits.usdPerHour", "10"))
    assert [finding["rule"] for finding in found.changed_findings] == ["price-cap"]
    assert (found.new_findings, found.gone_findings) == ((), ())


def test_a_check_at_another_place_with_the_same_words_is_no_change() -> None:
    more = {**AMD, "name": "more", "size": "gpu-h100x1-80gb"}
    found = between(raw(SPOT, FALLBACK), raw(more, SPOT, FALLBACK))
    dearer = [
        f for f in (*found.new_findings, *found.changed_findings, *found.gone_findings) if f["rule"] == "spot-dearer"
    ]
    assert dearer == []


def test_a_new_stack_is_told_by_its_cluster_pools_and_price() -> None:
    found = compare(None, answer(raw()), "dev")
    assert found.cluster == ("New stack: cluster doks-gpu-dev in atl1.",)
    assert len(found.pools) == 2
    assert found.settings == ()


def test_a_removed_stack_lives_on_and_that_is_all() -> None:
    found = compare(answer(raw()), None, "dev")
    assert "live on, and bill, until they are destroyed" in found.cluster[0]
    assert found == Comparison(stack="dev", cluster=found.cluster)


def test_a_program_that_does_not_tell_its_settings_is_named() -> None:
    old = {key: value for key, value in answer(FULL).items() if key != "settings"}
    assert "does not tell its settings" in words(compare(old, answer(FULL), "dev"))


def test_the_account_on_one_side_changes_prices_alone() -> None:
    said = raw()
    with_account = answer(said) | {"plan": plan_as_dict(plan(said, account()))}
    assert compare(answer(said), with_account, "dev").settings == ()


def test_text_of_the_stack_file_cannot_end_its_code_marks() -> None:
    (line,) = change("services.own.env.LEVEL=a`b **c**").settings
    assert line == '`services.own.env.LEVEL`: `"info"` → `"a\'b **c**"`.'
    assert plain(line) == 'services.own.env.LEVEL: "info" → "a\'b **c**".'


def test_long_values_are_shown_from_where_they_differ() -> None:
    said = set_path(FULL, "jobs.train.command", f"[run, '{'x' * 300} one']")
    (line,) = change(f"jobs.train.command[1]={'x' * 300} two", of=said).settings
    assert line == f'`jobs.train.command[1]`: `…{"x" * 19} one"` → `…{"x" * 19} two"`.'


def test_the_json_form_has_camel_case_keys_and_no_marks() -> None:
    told = as_dict(change("fleets.batch.tiers[0].generation=2", "jobs.train.tasks=9"))
    assert {"newFindings", "changedFindings", "goneFindings"} <= told.keys()
    assert told["pools"] == ["Replaced, new pool first: tier spot of fleet batch (generation 1 → 2)."]
    assert told["settings"] == ["jobs.train.tasks: 8 → 9."]


def test_an_input_that_no_sentence_tells_is_named() -> None:
    def with_tags(*tags: str) -> dict[str, Any]:
        row = {"type": "digitalocean:index/kubernetesCluster:KubernetesCluster", "name": "cluster", "options": {}}
        return answer(FULL) | {"resources": [row | {"inputs": {"tags": list(tags)}}], "refused": False}

    assert compare(with_tags("a"), with_tags("b"), "dev").other == (
        "Inputs of KubernetesCluster cluster change: tags.",
    )


def test_lost_protection_in_the_program_is_named() -> None:
    def protected(*, on: bool) -> dict[str, Any]:
        row = {"type": "digitalocean:index/spacesBucket:SpacesBucket", "name": "store", "inputs": {}}
        return answer(FULL) | {"resources": [row | {"options": {"protect": True} if on else {}}], "refused": False}

    found = compare(protected(on=True), protected(on=False), "dev")
    assert found.other == ("Engine options of SpacesBucket store change.",)


def test_a_change_that_is_made_in_a_running_job_replaces_none() -> None:
    assert change("jobs.train.deadlineSeconds=7200").jobs == ()


def test_a_program_from_before_jobs_were_deployed_made_none() -> None:
    before, after = answer(FULL), answer(FULL)
    del before["plan"]["jobs"]
    assert [plain(line) for line in compare(before, after, "dev").jobs] == [
        "Job train is made: 8 task(s), 1 at once, on fleet batch."
    ]
