"""The committed stack files, and how they are read without Pulumi."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from doks_gpu.errors import RefusedError
from doks_gpu.settings import Settings, SettingsError, load
from doks_gpu.settings.loader import known_keys
from doks_gpu.stackfile import parse_yaml, read_stack_file, set_path, with_defaults
from tests.unit.settings_examples import FULL, MINIMAL

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "Pulumi.yaml"
STACKS = sorted(ROOT.glob("Pulumi.*.yaml"))
REQUIRED = ["region", "fleets", "limits"]


@pytest.fixture(scope="module")
def declared() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(PROJECT.read_text())["config"]
    return found


def committed(stack: str) -> Settings:
    return load(with_defaults(read_stack_file(ROOT / f"Pulumi.{stack}.yaml"), PROJECT))


def written(folder: Path, text: str) -> Path:
    path = folder / "Pulumi.test.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_committed_stack_file_loads(path: Path) -> None:
    load(with_defaults(read_stack_file(path), PROJECT))


def test_the_three_stacks_are_there() -> None:
    assert [path.name for path in STACKS] == [
        "Pulumi.dev.yaml",
        "Pulumi.prod-ric1.yaml",
        "Pulumi.prod-tor1.yaml",
    ]


@pytest.mark.parametrize("path", [PROJECT, *STACKS], ids=lambda path: path.name)
def test_committed_file_holds_no_secret(path: Path) -> None:
    assert not {"secure", "encryptionsalt", "encryptedkey"} & set(path.read_text().replace(":", " ").split())


def test_development_may_be_destroyed_and_production_may_not() -> None:
    assert not committed("dev").cluster.protect
    assert committed("prod-tor1").cluster.protect
    assert committed("prod-ric1").cluster.protect


def test_development_is_the_documented_example() -> None:
    dev = committed("dev")
    assert dev.region == "atl1"
    assert [tier.size for tier in dev.fleets["batch"].tiers] == ["gpu-b300x1-288gb-spot", "gpu-h200x1-141gb"]
    assert [tier.size for tier in dev.fleets["inference"].tiers] == ["gpu-mi300x1-192gb"]
    assert dev.checks.enabled
    assert (set(dev.services), set(dev.jobs)) == ({"gauge"}, {"train"})


def test_toronto_serves_on_demand_alone() -> None:
    sizes = [tier for fleet in committed("prod-tor1").fleets.values() for tier in fleet.tiers]
    assert not any(tier.is_spot for tier in sizes)


def test_richmond_puts_spot_before_its_fallback() -> None:
    assert [tier.is_spot for tier in committed("prod-ric1").fleets["batch"].tiers] == [True, False]


def test_project_file_describes_every_key_of_the_schema_and_no_other(
    declared: dict[str, dict[str, Any]],
) -> None:
    assert sorted(declared) == sorted(known_keys(Settings))


def test_every_described_key_has_a_description_and_a_type(declared: dict[str, dict[str, Any]]) -> None:
    types = {key: schema["type"] for key, schema in declared.items() if schema["description"]}
    strings = {"region", "team", "namespace"}
    assert types == {key: "string" if key in strings else "object" for key in known_keys(Settings)}


def test_required_keys_have_no_default_and_all_others_have_one(declared: dict[str, dict[str, Any]]) -> None:
    assert [key for key, schema in declared.items() if "default" not in schema] == REQUIRED


def test_defaults_of_the_project_file_are_those_of_the_schema() -> None:
    assert load(with_defaults(MINIMAL, PROJECT)) == load(MINIMAL)


def test_refresh_is_always_on() -> None:
    assert yaml.safe_load(PROJECT.read_text())["options"] == {"refresh": "always"}


def test_stack_value_wins_over_the_default() -> None:
    assert with_defaults({"namespace": "mine"}, PROJECT)["namespace"] == "mine"


def test_only_our_keys_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "config:\n  doks-gpu:region: atl1\n  kubernetes:context: other\n")
    assert read_stack_file(path) == {"region": "atl1"}


def test_stack_without_configuration_is_empty(tmp_path: Path) -> None:
    assert read_stack_file(written(tmp_path, "")) == {}


def test_token_of_the_provider_is_kept_as_a_key_and_not_as_a_value(tmp_path: Path) -> None:
    path = written(tmp_path, "config:\n  digitalocean:token: canary\n")
    raw = read_stack_file(path)
    assert "canary" not in str(raw)
    with pytest.raises(SettingsError, match="pulumi config rm digitalocean:token"):
        load(MINIMAL | raw)


def test_encrypted_value_is_a_marker_without_its_ciphertext(tmp_path: Path) -> None:
    path = written(tmp_path, "config:\n  doks-gpu:jobs:\n    a:\n      env: {X: {secure: 'v1:abc'}}\n")
    raw = read_stack_file(path)
    assert "v1:abc" not in str(raw)
    with pytest.raises(SettingsError, match="an encrypted value"):
        load(MINIMAL | raw)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config:\n  a: [1\n", "line 3"),
        (
            "config:\n  doks-gpu:region: atl1\n  doks-gpu:region: tor1\n",
            "line 3, column 3: not valid YAML: doks-gpu:region",
        ),
        ("config:\n\tx: 1\n", "line 2"),
        ("config:\n  region: atl1\n", "write doks-gpu:region"),
        ("config: 3\n", "a mapping is needed"),
        ("- 1\n", "a mapping is needed"),
        ("config:\n  doks-gpu:x: &a [*a]\n", "not valid YAML"),
        ("config:\n  ? [1, 2]\n  : 3\n", "not valid YAML"),
        ("config:\n  doks-gpu:x: !!python/name:os.system\n", "line 2"),
    ],
)
def test_broken_file_is_refused_with_its_name_and_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(RefusedError) as refused:
        read_stack_file(path)
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("key", ["dok-gpu", "doks_gpu", "DOKS-GPU", "doksgpu", "doks", "doks-gpus"])
def test_a_misspelt_namespace_is_refused_with_the_right_one(tmp_path: Path, key: str) -> None:
    raw = read_stack_file(written(tmp_path, f"config:\n  {key}:services: {{own: canary}}\n"))
    assert "canary" not in str(raw)
    with pytest.raises(SettingsError) as refused:
        load(MINIMAL | raw)
    assert [str(problem) for problem in refused.value.problems] == [
        f"{key}:services: unknown namespace, did you mean doks-gpu:services?"
    ]


def test_a_token_under_a_misspelt_namespace_is_refused_as_a_token(tmp_path: Path) -> None:
    raw = read_stack_file(written(tmp_path, "config:\n  dok-gpu:doToken: canary\n"))
    with pytest.raises(SettingsError, match="pulumi config rm dok-gpu:doToken") as refused:
        load(MINIMAL | raw)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("namespace", ["kubernetes", "digitalocean", "docker", "aws", "random", "pulumi", "gcp"])
def test_the_namespace_of_another_provider_is_none_of_ours(tmp_path: Path, namespace: str) -> None:
    assert read_stack_file(written(tmp_path, f"config:\n  {namespace}:namespace: x\n")) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("confg:\n  doks-gpu:region: atl1\n", "confg: unknown key, did you mean config?"),
        ("config: {}\nConfig: {}\n", "Config: unknown key, did you mean config?"),
        ("doks-gpu:region: atl1\n", "no `config:` in it: write doks-gpu:region below"),
        ("region: atl1\nfleets: {}\n", "no `config:` in it: write region, fleets below"),
    ],
)
def test_a_file_whose_config_is_missed_says_so(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read_stack_file(written(tmp_path, text))
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["encryptionsalt: v1:x\n", "config: {}\nfuture: 1\n", "environment: [shared]\n"])
def test_pulumis_own_keys_and_those_that_are_new_to_us_pass(tmp_path: Path, text: str) -> None:
    assert read_stack_file(written(tmp_path, text)) == {}


def aliases(line: str) -> str:
    """Nine levels, each nine times the one before: a kilobyte that stands for 387 million values."""
    levels = (line.format(level, ", ".join([f"*a{level - 1}"] * 9)) for level in range(1, 10))
    return "a0: &a0 {k: v}\n" + "".join(levels)


@pytest.mark.parametrize("line", ["a{0}: &a{0} [{1}]\n", "a{0}: &a{0} {{<<: [{1}], z{0}: 1}}\n"], ids=["list", "merge"])
def test_aliases_that_stand_for_too_much_are_refused_before_they_are_followed(line: str) -> None:
    with pytest.raises(RefusedError, match="more than 100000 values"):
        parse_yaml(aliases(line), "test")


def test_a_file_beyond_any_configuration_is_refused_without_reading_it_whole(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="larger than 1000000 bytes"):
        read_stack_file(written(tmp_path, "#" * 1_000_001))


def test_a_file_of_exactly_the_largest_size_is_read(tmp_path: Path) -> None:
    assert read_stack_file(written(tmp_path, "#" * 1_000_000)) == {}


def test_missing_and_unreadable_files_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path, said in (
        (tmp_path / "none.yaml", "cannot be read"),
        (binary, "UTF-8"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(RefusedError, match=said):
            read_stack_file(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("12:30", "12:30"),
        ("2026-11-30", "2026-11-30"),
        ("true", True),
        ("1.36", 1.36),
        ("3", 3),
        ("-3", -3),
        ("3.0", 3.0),
        ("'3'", "3"),
        ("null", None),
        ("", None),
        ("~", None),
    ],
)
def test_scalars_are_read_as_the_engine_reads_them(text: str, value: Any) -> None:
    parsed = parse_yaml(text, "test")
    assert parsed == value
    assert type(parsed) is type(value)


def test_anchors_and_merge_keys_are_followed() -> None:
    text = "base: &base {min: 1, max: 2}\ntier: {<<: *base, max: 3}\nagain: *base\n"
    base = {"min": 1, "max": 2}
    assert parse_yaml(text, "test") == {"base": base, "tier": {"min": 1, "max": 3}, "again": base}


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(RefusedError):
        parse_yaml(text, "test")


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("limits.usdPerHour", "40", lambda raw: raw["limits"]["usdPerHour"] == 40),
        ("doks-gpu:limits.usdPerHour", "40", lambda raw: raw["limits"]["usdPerHour"] == 40),
        ("fleets.batch.tiers[0].max", "5", lambda raw: raw["fleets"]["batch"]["tiers"][0]["max"] == 5),
        (
            "fleets.batch.tiers[2]",
            "{name: x}",
            lambda raw: raw["fleets"]["batch"]["tiers"][2] == {"name": "x"},
        ),
        ("cluster.cpuPool.max", "6", lambda raw: raw["cluster"] == {"cpuPool": {"max": 6}}),
        (
            'services.own.env["LEVEL"]',
            "debug",
            lambda raw: raw["services"]["own"]["env"] == {"LEVEL": "debug"},
        ),
        (
            "fleets.batch.tolerations[0].key",
            "a",
            lambda raw: raw["fleets"]["batch"]["tolerations"] == [{"key": "a"}],
        ),
        ("cluster.version", '"1.36"', lambda raw: raw["cluster"]["version"] == "1.36"),
    ],
)
def test_set_changes_one_value(path: str, value: str, read: Any) -> None:
    assert read(set_path(FULL, path, value))


def test_set_leaves_the_original_alone() -> None:
    before = str(FULL)
    set_path(FULL, "fleets.batch.tiers[0].max", "5")
    assert str(FULL) == before


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "write it as in fleets.batch.tiers[0].max"),
        (".region", "write it as in"),
        ("a..b", "write it as in"),
        ("[0]", "write it as in"),
        ("fleets.batch.tiers[-1]", "write it as in"),
        ("fleets[0]", "is a mapping, not a list; known: batch"),
        (
            "fleets.batch.tiers.max",
            "is a list: write doks-gpu:fleets.batch.tiers[0] to doks-gpu:fleets.batch.tiers[1]",
        ),
        ("fleets.batch.tiers[9].max", "has 2 entries, counted from 0"),
        ("fleets.bach.tiers[1].max", "there is no doks-gpu:fleets.bach"),
        ("region.name", "is a single value"),
    ],
)
def test_set_on_a_path_that_leads_nowhere_is_refused(path: str, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        set_path(FULL, path, "1")
    assert said in str(refused.value)


def test_set_refuses_a_token_and_does_not_repeat_it() -> None:
    with pytest.raises(RefusedError) as refused:
        set_path(FULL, "digitaloceanToken", "canary")
    assert "canary" not in str(refused.value)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.sampled_from(["1", "{a: b}", "[", "x"]))
@settings(max_examples=100, deadline=None)
def test_set_with_any_path_changes_or_is_refused(path: str, value: str) -> None:
    with suppress(RefusedError):
        set_path(FULL, path, value)
