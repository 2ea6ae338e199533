"""One message, all errors, each with its path, value and way out; nothing that is secret."""

import json
import subprocess
import sys
from typing import Any

import pytest

from doks_gpu.errors import RefusedError
from doks_gpu.settings import SettingsError, load, raw_from_pulumi_config
from tests.unit.settings_examples import FULL, MINIMAL, changed, errors, without

CANARY = "canary-" + "5f3a"
DIGITALOCEAN_TOKEN = "dop_v1_" + "0" * 64


def tiers(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "size": "gpu-h200x1-141gb", "min": 1, "max": 1} for name in names]


def test_full_example_loads() -> None:
    assert errors(FULL) == []


def test_all_errors_are_in_one_message() -> None:
    raw = changed("fleets.batch.tiers.0.min", 9)
    raw["fleets"]["batch"]["tiers"][1]["name"] = "spot"
    raw["jobs"]["gauge"] = raw["jobs"].pop("train") | {"fleet": "bach", "image": "a:latest", "retires": 3}
    raw["cluster"] = {"version": "latest"}
    del raw["region"]
    with pytest.raises(SettingsError) as refused:
        load(raw)
    message = str(refused.value)
    assert message.startswith("The stack's configuration is refused, 8 errors:\n")
    for said in (
        "doks-gpu:fleets.batch.tiers[0].max: 2; allowed: a whole number from min (9) up",
        'doks-gpu:fleets.batch.tiers[1].name: "spot"; allowed: a name that no other tier of the fleet has',
        'doks-gpu:jobs.gauge.fleet: "bach"; allowed: a fleet of this stack; did you mean batch?',
        'doks-gpu:jobs.gauge.image: "a:latest"',
        "doks-gpu:jobs.gauge.retires: 3; unknown key, did you mean retries?",
        "doks-gpu:jobs.gauge: allowed: another name, since doks-gpu:services.gauge has it already",
        'doks-gpu:cluster.version: "latest"',
        "doks-gpu:region: required",
    ):
        assert said in message
    assert len(message.splitlines()) == 9


def test_refusal_ends_the_command_with_exit_code_two() -> None:
    with pytest.raises(RefusedError) as refused:
        load({})
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("path", ["region", "fleets", "limits", "limits.usdPerHour"])
def test_required_key_that_is_missing_is_named(path: str) -> None:
    found = errors(without(path))
    assert f"doks-gpu:{path}: required" in found[0]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("regin", "region"),
        ("cluster.autoupgrade", "autoUpgrade"),
        ("cluster.cpuPool.usd_per_hour", "usdPerHour"),
        ("fleets.batch.tires", "tiers"),
        ("fleets.batch.tiers.0.maximum", "max"),
        ("limits.usdPerHuor", "usdPerHour"),
        ("services.own.volumes.0.mountpath", "mountPath"),
        ("services.gauge.scale.quary", "query"),
        ("checks.images.nvidea", "nvidia"),
    ],
)
def test_misspelt_key_names_the_nearest_known_one(path: str, meant: str) -> None:
    found = errors(changed(path, 1))
    assert len(found) == 1
    assert f"unknown key, did you mean {meant}?" in found[0]


def test_key_like_no_other_gets_the_list_of_known_keys() -> None:
    assert "known: id, name, version" in errors(changed("cluster.qqq", 1))[0]


def test_python_names_are_not_accepted_as_keys() -> None:
    assert "did you mean memoryGib?" in errors(changed("fleets.batch.memory_gib", 1))[0]


def test_seventh_tier_is_refused_and_the_sixth_is_not() -> None:
    names = ["a", "b", "c", "d", "e", "f", "g"]
    assert errors(changed("fleets.batch.tiers", tiers(*names[:6]))) == []
    found = errors(changed("fleets.batch.tiers", tiers(*names)))
    assert len(found) == 1
    assert found[0].startswith("doks-gpu:fleets.batch.tiers: 7 tiers; allowed: at most 6")


def test_pool_name_of_45_characters_is_accepted_and_one_more_is_not() -> None:
    assert errors(changed("fleets.batch.tiers", tiers("t" * 39))) == []
    assert "of at most 45 characters, not 46" in errors(changed("fleets.batch.tiers", tiers("t" * 40)))[0]


def test_fleets_whose_pools_would_share_a_name_are_refused() -> None:
    raw = FULL | {"fleets": FULL["fleets"] | {"a-b": {"tiers": tiers("c")}, "a": {"tiers": tiers("b-c")}}}
    found = errors(raw)
    assert len(found) == 1
    assert 'tiers[0].name: "b-c"; allowed: another name, since pool "a-b-c" is one of fleet a-b already' in found[0]


def test_fleets_that_share_a_label_are_refused() -> None:
    raw = FULL | {"fleets": FULL["fleets"] | {"other": {"workload": "gpu-batch", "tiers": tiers("a")}}}
    assert "since work for fleet batch would land here" in errors(raw)[0]


@pytest.mark.parametrize("name", ["x" * 70, "grün", "Train", "a_b", "a.b", "-a", "", "日本"])
@pytest.mark.parametrize("kind", ["fleets", "services", "jobs"])
def test_name_that_is_no_dns_label_is_refused_once(kind: str, name: str) -> None:
    section = next(iter(FULL[kind].values()))
    if kind == "fleets":
        section = section | {"tiers": tiers("a")}
    found = errors(FULL | {kind: FULL[kind] | {name: section}})
    named = [line for line in found if "lower-case ASCII letters" in line]
    assert len(named) == 1


def test_reference_to_a_missing_fleet_is_found_although_a_fleet_is_wrong() -> None:
    raw = changed("fleets.batch.tiers.0.min", "x")
    raw["jobs"]["train"]["fleet"] = "none"
    assert len(errors(raw)) == 2


def test_long_value_is_shortened() -> None:
    found = errors(changed("region", "r" * 500))[0]
    assert "r" * 59 + "…" in found
    assert "r" * 60 not in found


def test_control_characters_do_not_reach_the_terminal() -> None:
    message = "\n".join(errors(changed("region", "\x1b[31m\nx") | {"a\nb\x1b": 1}))
    assert "\x1b" not in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    "key",
    [
        "token",
        "digitaloceanToken",
        "doToken",
        "accessKey",
        "spacesSecretKey",
        "digitalocean:token",
        "kubeconfig",
    ],
)
def test_token_in_the_stack_is_refused_with_the_way_out_and_without_its_value(key: str) -> None:
    found = errors(MINIMAL | {key: CANARY})
    full_key = key if ":" in key else f"doks-gpu:{key}"
    assert len(found) == 1
    assert found[0].startswith(f"{full_key}: ")
    assert "export DIGITALOCEAN_TOKEN=…" in found[0]
    assert f"pulumi config rm {full_key}" in found[0]
    assert CANARY not in found[0]


@pytest.mark.parametrize("path", ["cluster.token", "fleets.batch.digitaloceanToken", "services.own.apiKey"])
def test_value_of_an_unknown_key_that_sounds_secret_is_not_shown(path: str) -> None:
    found = errors(changed(path, CANARY))
    assert len(found) == 1
    assert CANARY not in found[0]


@pytest.mark.parametrize("path", ["team", "region", "services.own.env.LEVEL", "jobs.train.command.0", "cluster.qqq"])
def test_value_that_looks_like_a_token_is_refused_anywhere_and_not_shown(path: str) -> None:
    found = errors(changed(path, f"x={DIGITALOCEAN_TOKEN}"))
    assert found
    assert DIGITALOCEAN_TOKEN not in "".join(found)


def test_wrong_value_of_a_variable_that_sounds_secret_is_not_shown() -> None:
    found = errors(changed("services.own.env.API_TOKEN", 5318008))
    assert "[hidden]" in found[0]
    assert "5318008" not in found[0]


def test_encrypted_value_inside_an_object_is_refused_with_the_way_out() -> None:
    found = errors(changed("services.own.env.HF_TOKEN2", {"secure": "v1:abc:def"}))
    assert len(found) == 1
    assert "secretEnv" in found[0]
    assert "pulumi config rm --path 'doks-gpu:services.own.env.HF_TOKEN2'" in found[0]
    assert "v1:abc" not in found[0]


def test_pulumi_configuration_becomes_the_same_mapping() -> None:
    values = {f"doks-gpu:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in FULL.items()}
    assert raw_from_pulumi_config(values | {"kubernetes:context": "other"}) == FULL


def test_misspelt_namespace_of_pulumis_configuration_is_refused_too() -> None:
    raw = raw_from_pulumi_config({"doks_gpu:services": json.dumps({"a": CANARY})})
    assert errors(MINIMAL | raw) == ["doks_gpu:services: unknown namespace, did you mean doks-gpu:services?"]


def test_key_with_a_second_colon_is_refused_as_unknown() -> None:
    found = errors(MINIMAL | raw_from_pulumi_config({"doks-gpu:fleets:batch": "1"}))
    assert found == ["fleets:batch: unknown key: after doks-gpu: comes a name without a colon"]


def test_team_that_is_a_number_stays_a_string() -> None:
    assert raw_from_pulumi_config({"doks-gpu:team": "12345"}) == {"team": "12345"}


def test_key_that_pulumi_keeps_encrypted_never_hands_its_value_on() -> None:
    raw = raw_from_pulumi_config(
        {"doks-gpu:jobs": json.dumps({"a": CANARY}), "digitalocean:token": CANARY}, ["doks-gpu:jobs"]
    )
    assert CANARY not in json.dumps(raw)
    assert any("set it without --secret" in line for line in errors(MINIMAL | raw))


def test_object_that_is_no_json_is_refused_as_the_text_that_it_is() -> None:
    raw = raw_from_pulumi_config({"doks-gpu:cluster": "{protect: false"})
    assert "a mapping with the keys id, name" in errors(MINIMAL | raw)[0]


def test_settings_do_not_import_pulumi_or_kubernetes() -> None:
    code = "import sys, doks_gpu.settings; print({'pulumi', 'kubernetes', 'pydo'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
