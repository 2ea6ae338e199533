"""One real Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler.

The API with its admission, controllers and scheduling is real; there are no nodes and there is no network.
Flags as tried on 2026-11-30 with Kubernetes 1.36.3 and etcd 3.6.16.
"""

import contextlib
import json
import shutil
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from doks_gpu.errors import DoksGpuError
from rehearsal.cluster import processes
from rehearsal.cluster.certificates import SERVICE_RANGE, Certificates, make_certificates
from rehearsal.toolchain import Toolchain

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_POLL_SECONDS = 0.05
_ATTEMPTS = 3
_PORT_TAKEN = "address already in use"


class ControlPlaneError(DoksGpuError):
    """A control plane did not come up. The message holds the last lines of the program that failed."""


@dataclass(frozen=True)
class Ports:
    """Free ports on loopback."""

    etcd: int
    etcd_peer: int
    api: int


class ControlPlane:
    """Starts and stops one control plane in `folder`, which must not exist yet; the logs stay there."""

    def __init__(self, folder: Path, toolchain: Toolchain, token_review_url: str) -> None:
        """`token_review_url` answers the API server's TokenReviews: it knows the tokens and their expiry."""
        self.folder = folder
        self._toolchain = toolchain
        self._token_review_url = token_review_url
        self._children: list[processes.Child] = []
        self._server = ""
        self._lock = threading.Lock()
        self._stopped = False
        folder.mkdir(parents=True)
        self._certificates = make_certificates(folder / "certificates")
        self._tls = _client_tls(self._certificates)

    @property
    def server(self) -> str:
        """The API server's address, once it was started."""
        return self._server

    @property
    def certificate_authority_pem(self) -> str:
        return self._certificates.authority.read_text()

    @property
    def admin_kubeconfig(self) -> Path:
        """Full access by client certificate, for the rehearsal's own parts."""
        return self.folder / "admin.kubeconfig"

    @property
    def pids(self) -> dict[str, int]:
        """The running programs, by name."""
        return {child.name: child.pid for child in self._children}

    def admin(self) -> httpx.Client:
        """A client of the API server with full access; the caller closes it."""
        return httpx.Client(base_url=self._server, verify=self._tls, timeout=10, trust_env=False)

    def start(self, within: float = 60) -> None:
        """Returns when `/readyz` says ok; after `within` seconds raises `ControlPlaneError` and ends all."""
        deadline = time.monotonic() + within
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._start_once(deadline)
            except ControlPlaneError as error:
                self._kill()
                # Another program may take a free port between the choice and its use.
                if attempt == _ATTEMPTS or _PORT_TAKEN not in str(error):
                    raise
            except BaseException:
                self._kill()
                raise
            else:
                return

    def stop(self) -> None:
        """Ends what runs, for good, and removes the data; the logs stay."""
        with self._lock:
            self._stopped = True
        self._kill()

    def _kill(self) -> None:
        """The last one started first: the API server before etcd, or it hangs."""
        with self._lock:
            while self._children:
                self._children.pop().kill()
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def _start_once(self, deadline: float) -> None:
        ports = _free_ports()
        self._server = f"https://127.0.0.1:{ports.api}"
        self._write_kubeconfigs()
        etcd = self._run("etcd", *_etcd_flags(self.folder / "etcd", ports))
        self._wait(etcd, httpx.Client(trust_env=False), f"http://127.0.0.1:{ports.etcd}/readyz", deadline)
        api = self._run("kube-apiserver", *_api_flags(self.folder, self._certificates, ports))
        self._wait(api, self.admin(), f"{self._server}/readyz", deadline)
        kubeconfig = f"--kubeconfig={self.admin_kubeconfig}"
        self._run("kube-controller-manager", kubeconfig, *_controller_flags(self._certificates))
        self._run("kube-scheduler", kubeconfig, "--leader-elect=false", "--secure-port=0")

    def _run(self, name: str, *flags: str) -> processes.Child:
        with self._lock:
            if self._stopped:
                raise ControlPlaneError("The control plane was stopped while it started.")
            log = self.folder / f"{name}.log"
            child = processes.start(name, self._toolchain.path(name), flags, log)
            self._children.append(child)
            return child

    def _wait(self, child: processes.Child, client: httpx.Client, url: str, deadline: float) -> None:
        with client:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if client.get(url).status_code == httpx.codes.OK:
                        return
                if child.exit_code() is not None:
                    raise ControlPlaneError(f"{child.name} ended before it was ready:\n{child.last_lines()}")
                if time.monotonic() > deadline:
                    raise ControlPlaneError(f"{child.name} was not ready in time:\n{child.last_lines()}")
                time.sleep(_POLL_SECONDS)

    def _write_kubeconfigs(self) -> None:
        admin = self._certificates.admin
        cluster = {"server": self._server, "certificate-authority": str(self._certificates.authority)}
        user = {"client-certificate": str(admin.certificate), "client-key": str(admin.key)}
        _write_kubeconfig(self.admin_kubeconfig, cluster, user)
        _write_kubeconfig(self.folder / "token-review.kubeconfig", {"server": self._token_review_url}, {})


def _free_ports() -> Ports:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return Ports(*(each.getsockname()[1] for each in sockets))


def _client_tls(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certificates.authority)
    context.load_cert_chain(certificates.admin.certificate, certificates.admin.key)
    return context


def _write_kubeconfig(path: Path, cluster: dict[str, str], user: dict[str, str]) -> None:
    path.touch(mode=0o600)
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "rehearsal", "cluster": cluster}],
        "users": [{"name": "rehearsal", "user": user}],
        "contexts": [{"name": "rehearsal", "context": {"cluster": "rehearsal", "user": "rehearsal"}}],
        "current-context": "rehearsal",
    }
    path.write_text(json.dumps(document))


def _etcd_flags(data: Path, ports: Ports) -> tuple[str, ...]:
    client, peer = f"http://127.0.0.1:{ports.etcd}", f"http://127.0.0.1:{ports.etcd_peer}"
    return (
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # The data goes with the process: no need to wait for a slow disk.
        "--unsafe-no-fsync",
        "--log-level=warn",
    )


def _api_flags(folder: Path, certificates: Certificates, ports: Ports) -> tuple[str, ...]:
    return (
        f"--etcd-servers=http://127.0.0.1:{ports.etcd}",
        "--bind-address=127.0.0.1",
        # A loopback address may not be an endpoint of the Service `kubernetes`: there are none.
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={ports.api}",
        f"--tls-cert-file={certificates.server.certificate}",
        f"--tls-private-key-file={certificates.server.key}",
        f"--client-ca-file={certificates.authority}",
        "--authorization-mode=RBAC",
        f"--authentication-token-webhook-config-file={folder / 'token-review.kubeconfig'}",
        "--authentication-token-webhook-version=v1",
        # The API server keeps a good answer for 10 s more in a cache that no flag changes.
        "--authentication-token-webhook-cache-ttl=1s",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={certificates.service_account_public_key}",
        f"--service-account-signing-key-file={certificates.service_account_key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--requestheader-client-ca-file={certificates.front_proxy_authority}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={certificates.front_proxy.certificate}",
        f"--proxy-client-key-file={certificates.front_proxy.key}",
    )


def _controller_flags(certificates: Certificates) -> tuple[str, ...]:
    return (
        f"--service-account-private-key-file={certificates.service_account_key}",
        f"--root-ca-file={certificates.authority}",
        "--controllers=*",
        "--leader-elect=false",
        # Nobody scrapes it, as on DOKS; so several control planes need no further ports.
        "--secure-port=0",
    )
