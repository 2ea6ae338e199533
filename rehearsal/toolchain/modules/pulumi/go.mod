module doks-gpu/rehearsal/toolchain/pulumi

go 1.26.6

require (
	github.com/pulumi/pulumi/pkg/v3 v3.274.1
	github.com/pulumi/pulumi/sdk/v3 v3.274.1
)
