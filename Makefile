# Graphwright: `make demo` shows it, `make test` checks it, `make help` lists the rest.
SHELL := /bin/sh
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
.DEFAULT_GOAL := help

.PHONY: help demo demo-down test test-unit test-integration test-e2e check crds manifests golden build image bench node_modules

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules:
	@hack/node-modules.sh

# Where the demo runs: on a cluster of its own, or by what these name.
demo_target = --context "$(CONTEXT)" --cluster "$(CLUSTER)" --yes "$(YES)"

demo: node_modules ## a graph planned, approved, fired and run in pods (EVENT=, CLUSTER=kind, CONTEXT= IMAGE=: see README.md)
	@node hack/demo/demo.ts up $(demo_target) --image "$(IMAGE)" --pull-secret "$(PULL_SECRET)" --storage-class "$(STORAGE_CLASS)" $(if $(EVENT),--event "$(EVENT)")

demo-down: node_modules ## end the demo, with its cluster where that is its own
	@node hack/demo/demo.ts down $(demo_target)

test: node_modules ## everything: lint, types, unit, integration, e2e
	@node test/run.ts

test-unit: node_modules ## unit tests: seconds, nothing but Node
	@vitest run --project unit

test-integration: node_modules ## tests against a real API server: minutes
	@vitest run --project integration

test-e2e: node_modules ## tests with real pods on a real node: about ten minutes, as root
	@vitest run --project e2e

check: node_modules ## lint, format, types, dead code
	@npm run --silent check

crds: node_modules ## regenerate crds/ from src/api
	@node src/bin/crds.ts

manifests: node_modules crds ## regenerate manifests/install.yaml from the chart
	@hack/install-manifest.sh

golden: node_modules ## write down what this release makes of the stories of test/golden
	@node hack/golden.ts

build: node_modules ## bundle into dist/
	@node build.ts

image: build ## the container images, built without Docker (ARCH=amd64 or ARCH=arm64 for one architecture)
	@ARCH="$(ARCH)" hack/image.sh

bench: node_modules ## measure, with ratios against peers in the same run
	@node test/bench/run.ts
