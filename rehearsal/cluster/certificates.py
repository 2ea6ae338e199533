"""Certificates of one throwaway control plane: its authorities, the server, its users.

Elliptic curve keys, because a control plane should be up in seconds.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = datetime.timedelta(days=30)
# Clocks of a laptop that slept: valid from a little before now.
_EARLIER = datetime.timedelta(hours=1)
SERVICE_RANGE = "10.0.0.0/16"
_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
# The last one is the first address of the service range, where pods expect the API server.
_SERVER_ADDRESSES = ("127.0.0.1", "10.0.0.1")


@dataclass(frozen=True)
class Pair:
    """A certificate with its key, both PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Certificates:
    """The files that the control plane's programs are started with."""

    authority: Path
    server: Pair
    admin: Pair
    front_proxy_authority: Path
    front_proxy: Pair
    service_account_key: Path
    service_account_public_key: Path


class Authority:
    """Signs certificates into one folder; its own key stays in memory."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        builder = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_key_usage(signs=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        )
        self.certificate = folder / f"{name}.crt"
        _write_certificate(self.certificate, builder.sign(self._key, hashes.SHA256()))

    def issue(
        self,
        file: str,
        name: str,
        *,
        groups: Sequence[str] = (),
        names: Sequence[str] = (),
        addresses: Sequence[str] = (),
    ) -> Pair:
        """A certificate for the user `name` in `groups`, or for a server with these names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(_name(name, groups), self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]),
                critical=False,
            )
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        alternatives: list[x509.GeneralName] = [x509.DNSName(entry) for entry in names]
        alternatives += [x509.IPAddress(ipaddress.ip_address(entry)) for entry in addresses]
        if alternatives:
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        pair = Pair(self._folder / f"{file}.crt", self._folder / f"{file}.key")
        _write_certificate(pair.certificate, builder.sign(self._key, hashes.SHA256()))
        _write_key(pair.key, key)
        return pair


def make_certificates(folder: Path) -> Certificates:
    """All files of one control plane, in `folder`."""
    folder.mkdir(parents=True, mode=0o700)
    authority = Authority(folder, "ca")
    front_proxy = Authority(folder, "front-proxy-ca")
    service_account = ec.generate_private_key(ec.SECP256R1())
    service_account_key = folder / "service-account.key"
    _write_key(service_account_key, service_account)
    public_key = folder / "service-account.pub"
    public_key.write_bytes(
        service_account.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return Certificates(
        authority=authority.certificate,
        server=authority.issue("server", "kube-apiserver", names=_SERVER_NAMES, addresses=_SERVER_ADDRESSES),
        admin=authority.issue("admin", "rehearsal", groups=["system:masters"]),
        front_proxy_authority=front_proxy.certificate,
        front_proxy=front_proxy.issue("front-proxy", "front-proxy-client"),
        service_account_key=service_account_key,
        service_account_public_key=public_key,
    )


def _name(common: str, groups: Sequence[str] = ()) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + _LIFE)
    )


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
