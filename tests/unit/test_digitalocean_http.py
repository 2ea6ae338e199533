"""The stand-in over HTTP: codes, error bodies, paging, failures on purpose, the request log, the admin API."""

import time

import pytest

from tests.unit.digitalocean_harness import CLUSTER, SPOT, SPOT_POOL, TOKEN, Account, Http, Json, account

CLUSTERS = "/v2/kubernetes/clusters"


@pytest.fixture
def it() -> Account:
    return account()


@pytest.fixture
def http(it: Account) -> Http:
    return Http(it)


def new_cluster(http: Http) -> str:
    return str(http.post(CLUSTERS, json=CLUSTER).json()["kubernetes_cluster"]["id"])


class TestErrors:
    """Always `{id, message, request_id}`."""

    @pytest.mark.parametrize("token", ["", "wrong"])
    def test_without_the_token_the_answer_is_401(self, it: Account, token: str) -> None:
        answer = Http(it, token).get("/v2/account")
        assert answer.status_code == 401
        assert answer.json()["id"] == "unauthorized"

    @pytest.mark.parametrize(
        "path", ["/v2/nonsense", f"{CLUSTERS}/nobody", f"{CLUSTERS}/nobody/node_pools", "/v2/spaces/keys/nobody"]
    )
    def test_what_is_not_there_is_404(self, http: Http, path: str) -> None:
        answer = http.get(path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"id", "message", "request_id"}
        assert answer.json()["id"] == "not_found"

    def test_a_body_of_the_wrong_type_is_422_with_its_place(self, http: Http) -> None:
        pools = [{**SPOT_POOL, "min_nodes": "many"}]
        answer = http.post(CLUSTERS, json={**CLUSTER, "node_pools": pools})
        assert answer.status_code == 422
        assert answer.json()["message"].startswith("node_pools.0.min_nodes: ")

    def test_a_body_that_is_not_json_is_400(self, http: Http) -> None:
        answer = http.post(CLUSTERS, content="{", headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["id"]) == (400, "bad_request")

    def test_a_refused_cluster_leaves_nothing_behind(self, it: Account, http: Http) -> None:
        pools = [*CLUSTER["node_pools"], {**SPOT_POOL, "size": "gpu-nonsense"}]
        assert http.post(CLUSTERS, json={**CLUSTER, "node_pools": pools}).status_code == 422
        assert it.cloud.control.is_empty()


def test_the_life_of_a_cluster_has_the_codes_of_the_api(http: Http) -> None:
    made = http.post(CLUSTERS, json=CLUSTER)
    cluster = f"{CLUSTERS}/{made.json()['kubernetes_cluster']['id']}"
    pool_made = http.post(f"{cluster}/node_pools", json=SPOT_POOL)
    pool_row = pool_made.json()["node_pool"]
    pool = f"{cluster}/node_pools/{pool_row['id']}"
    codes = [
        made.status_code,
        http.get(cluster).status_code,
        http.put(cluster, json={"tags": ["a"]}).status_code,
        http.post(f"{cluster}/upgrade", json={"version": "1.36.3-do.0"}).status_code,
        pool_made.status_code,
        http.put(pool, json={"count": 2}).status_code,
        http.delete(f"{pool}/nodes/{pool_row['nodes'][0]['id']}?skip_drain=1").status_code,
        http.delete(pool).status_code,
        http.get(pool).status_code,
        http.delete(pool).status_code,
        http.delete(cluster).status_code,
        http.get(cluster).status_code,
    ]
    assert codes == [201, 200, 202, 202, 201, 202, 202, 204, 404, 404, 204, 404]


def test_what_the_provider_would_panic_without_is_always_there(http: Http) -> None:
    row = http.post(CLUSTERS, json={**CLUSTER, "maintenance_policy": None}).json()["kubernetes_cluster"]
    assert row["status"]["state"] == "provisioning"
    assert row["maintenance_policy"]["day"] == "any"
    assert all(node["status"]["state"] for node in row["node_pools"][0]["nodes"])
    assert row["cluster_autoscaler_configuration"] is None


def test_a_cluster_goes_with_all_that_belongs_to_it(it: Account, http: Http) -> None:
    cluster = new_cluster(http)
    volume = {"kind": "volumes", "name": "pvc-1"}
    http.post(f"/admin/clusters/{cluster}/associated", json=volume)
    address = f"{CLUSTERS}/{cluster}/destroy_with_associated_resources"
    assert [row["name"] for row in http.get(address).json()["volumes"]] == ["pvc-1"]
    assert http.delete(f"{address}/dangerous").status_code == 204
    assert it.cloud.control.is_empty()


def test_a_list_in_pages_is_complete_and_says_where_the_next_page_is(http: Http) -> None:
    path, slugs = "/v2/sizes?per_page=10", []
    while path:
        answer = http.get(path).json()
        slugs += [row["slug"] for row in answer["sizes"]]
        path = answer["links"].get("pages", {}).get("next", "")
    assert len(slugs) == len(set(slugs)) == answer["meta"]["total"]
    assert SPOT in slugs


def test_the_memory_of_a_size_is_that_of_all_its_gpus(http: Http) -> None:
    rows = {row["slug"]: row for row in http.get("/v2/sizes?per_page=200").json()["sizes"]}
    assert rows["gpu-h100x8-640gb"]["gpu_info"] == {
        "count": 8,
        "model": "nvidia_h100",
        "vram": {"amount": 640, "unit": "gib"},
    }


def test_a_spaces_key_tells_its_secret_once(http: Http) -> None:
    grants = [{"bucket": "checkpoints", "permission": "readwrite"}]
    made = http.post("/v2/spaces/keys", json={"name": "k", "grants": grants})
    key = made.json()["key"]
    read = http.get(f"/v2/spaces/keys/{key['access_key']}").json()["key"]
    assert (made.status_code, bool(key["secret_key"])) == (201, True)
    assert read == {name: value for name, value in key.items() if name != "secret_key"}


def test_full_access_is_not_mixed_with_other_grants(http: Http) -> None:
    grants = [{"bucket": "", "permission": "fullaccess"}, {"bucket": "b", "permission": "read"}]
    assert http.post("/v2/spaces/keys", json={"name": "k", "grants": grants}).status_code == 422


def test_a_network_cannot_go_while_a_cluster_is_in_it(http: Http) -> None:
    vpc = http.post("/v2/vpcs", json={"name": "v", "region": "atl1"}).json()["vpc"]
    made = http.post(CLUSTERS, json={**CLUSTER, "vpc_uuid": vpc["id"]}).json()["kubernetes_cluster"]
    assert http.delete(f"/v2/vpcs/{vpc['id']}").status_code == 403
    http.delete(f"{CLUSTERS}/{made['id']}")
    assert http.delete(f"/v2/vpcs/{vpc['id']}").status_code == 204


class TestFailures:
    """Requests that match fail, as often as asked."""

    def inject(self, http: Http, **failure: object) -> int:
        answer = http.post("/admin/failures", json=failure)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["number"])

    def test_the_next_requests_fail_and_then_no_more(self, http: Http) -> None:
        self.inject(http, method="GET", path="/v2/account", status=429, times=2, retry_after=7)
        answers = [http.get("/v2/account") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [429, 429, 200]
        assert answers[0].headers["retry-after"] == "7"
        assert answers[0].json()["id"] == "too_many_requests"

    def test_a_failure_without_end_lasts_until_it_is_taken_back(self, http: Http) -> None:
        number = self.inject(http, path="/v2/.*", status=500, times=None)
        during = [http.get("/v2/account").status_code for _ in range(3)]
        http.delete(f"/admin/failures/{number}")
        assert (during, http.get("/v2/account").status_code) == ([500, 500, 500], 200)

    def test_other_requests_are_left_alone(self, http: Http) -> None:
        self.inject(http, method="PUT", path=f"{CLUSTERS}/.*", status=503, times=None)
        assert http.get("/v2/account").status_code == 200
        assert http.post(CLUSTERS, json=CLUSTER).status_code == 201

    def test_a_failed_request_changes_nothing(self, it: Account, http: Http) -> None:
        self.inject(http, method="POST", status=500)
        assert http.post(CLUSTERS, json=CLUSTER).status_code == 500
        assert it.cloud.control.is_empty()

    def test_an_answer_can_be_lost_after_the_request_took_effect(self, it: Account, http: Http) -> None:
        self.inject(http, method="POST", status=503, applied=True)
        assert http.post(CLUSTERS, json=CLUSTER).status_code == 503
        assert [row["name"] for row in it.cloud.clusters.all()] == ["dev"]

    def test_a_slow_answer_comes_late_and_is_right(self, http: Http) -> None:
        self.inject(http, path="/v2/account", slow_seconds=0.2)
        started = time.monotonic()
        assert http.get("/v2/account").status_code == 200
        assert time.monotonic() - started >= 0.2

    def test_a_message_of_ones_own_is_sent(self, http: Http) -> None:
        self.inject(http, status=422, message="This size is unavailable.")
        assert http.get("/v2/account").json()["message"] == "This size is unavailable."

    @pytest.mark.parametrize("failure", [{"path": "/v2/("}, {}, {"status": 200}, {"status": 500, "time": 1}])
    def test_a_failure_that_makes_no_sense_is_refused(self, http: Http, failure: Json) -> None:
        assert http.post("/admin/failures", json=failure).status_code == 422


class TestRequestLog:
    """Tests assert on exact requests."""

    def test_it_holds_method_path_query_body_and_status(self, http: Http) -> None:
        http.get(CLUSTERS, params={"page": 1, "per_page": 200})
        http.put(f"{CLUSTERS}/nobody", json={"tags": ["a"]})
        rows = [
            (row["method"], row["path"], row["query"], row["body"], row["status"])
            for row in http.get("/admin/requests").json()
        ]
        assert rows == [
            ("GET", CLUSTERS, {"page": "1", "per_page": "200"}, None, 200),
            ("PUT", f"{CLUSTERS}/nobody", {}, {"tags": ["a"]}, 404),
        ]

    def test_failed_requests_are_in_it(self, http: Http) -> None:
        http.post("/admin/failures", json={"status": 500})
        http.get("/v2/account")
        assert [row["status"] for row in http.get("/admin/requests").json()] == [500]

    def test_it_can_be_searched(self, it: Account, http: Http) -> None:
        cluster = new_cluster(http)
        http.get("/v2/account")
        found = http.get("/admin/requests", params={"method": "GET", "path": "/v2/acc.*"}).json()
        assert [row["path"] for row in found] == ["/v2/account"]
        assert [row.path for row in it.cloud.requests.changes()] == [CLUSTERS]
        assert it.cloud.requests.rows(path=f".*/{cluster}") == []

    def test_the_token_is_nowhere_in_it(self, http: Http) -> None:
        new_cluster(http)
        assert TOKEN not in http.get("/admin/requests").text


class TestAdmin:
    """The owner's side needs no token: it is on loopback alone."""

    def test_time_moves_when_it_is_told_to(self, http: Http) -> None:
        cluster = new_cluster(http)
        before = http.get(f"{CLUSTERS}/{cluster}").json()["kubernetes_cluster"]["status"]["state"]
        told = http.post("/admin/clock/advance", json={"seconds": 60}).json()
        after = http.get(f"{CLUSTERS}/{cluster}").json()["kubernetes_cluster"]["status"]["state"]
        assert (before, told["now"], after) == ("provisioning", "2026-11-30T12:01:00Z", "running")

    def test_settings_change_with_immediate_effect(self, http: Http) -> None:
        cluster = new_cluster(http)
        answer = http.patch("/admin/settings", json={"stock_outs": [{"size": SPOT}]})
        refused = http.post(f"{CLUSTERS}/{cluster}/node_pools", json=SPOT_POOL)
        assert (answer.status_code, refused.status_code) == (200, 422)
        assert refused.json()["message"] == "This size is unavailable."

    def test_the_settings_that_are_read_can_be_sent_back(self, http: Http) -> None:
        http.patch("/admin/settings", json={"prices": {SPOT: "3.5"}, "droplet_limit": 7})
        before = http.get("/admin/settings").json()
        assert http.patch("/admin/settings", json=before).json() == before
        assert (before["prices"], before["droplet_limit"]) == ({SPOT: "3.5"}, 7)

    @pytest.mark.parametrize("change", [{"stock_out": []}, {"droplet_limit": -1}, {"prices": {"gpu-x": 1}}])
    def test_a_wrong_setting_is_refused_and_nothing_changes(self, http: Http, change: Json) -> None:
        before = http.get("/admin/settings").json()
        assert http.patch("/admin/settings", json={"other_droplets": 3, **change}).status_code == 422
        assert http.get("/admin/settings").json() == before

    def test_a_pool_is_reclaimed_by_name(self, http: Http) -> None:
        cluster = new_cluster(http)
        http.post(f"{CLUSTERS}/{cluster}/node_pools", json=SPOT_POOL)
        assert http.post("/admin/reclaims", json={"pool": SPOT_POOL["name"]}).status_code == 201
        left = http.get(f"{CLUSTERS}/{cluster}/node_pools").json()["node_pools"]
        assert [row["name"] for row in left] == ["cpu"]

    def test_an_api_server_may_ask_whose_a_token_is(self, http: Http) -> None:
        cluster = new_cluster(http)
        token = http.get(f"{CLUSTERS}/{cluster}/credentials?expiry_seconds=60").json()["token"]
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        answer = http.post("/admin/tokenreview?timeout=30s", json=review, headers={"Authorization": ""}).json()
        assert (answer["apiVersion"], answer["kind"]) == ("authentication.k8s.io/v1", "TokenReview")
        assert answer["status"]["user"]["groups"] == ["system:masters"]

    def test_the_bill_is_exact(self, http: Http) -> None:
        http.patch("/admin/settings", json={"prices": {SPOT: "2.46"}})
        cluster = new_cluster(http)
        http.post(f"{CLUSTERS}/{cluster}/node_pools", json={**SPOT_POOL, "min_nodes": 3})
        (line,) = [row for row in http.get("/admin/bill").json()["lines"] if row["size"] == SPOT]
        assert (line["nodes"], line["usd_per_hour"], line["total_usd_per_hour"]) == (3, "2.46", "7.38")

    def test_the_state_is_empty_before_and_after(self, http: Http) -> None:
        cluster = new_cluster(http)
        key = http.post("/v2/spaces/keys", json={"name": "k"}).json()["key"]["access_key"]
        during = http.get("/admin/state").json()
        http.delete(f"{CLUSTERS}/{cluster}")
        http.delete(f"/v2/spaces/keys/{key}")
        after = http.get("/admin/state").json()
        assert (len(during["clusters"]), len(during["spaces_keys"])) == (1, 1)
        assert {name: value for name, value in after.items() if name != "now"} == {
            "clusters": [],
            "spaces_keys": [],
            "vpcs": [],
            "leftovers": [],
        }
