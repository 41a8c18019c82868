# Every target is one line over go or a script. `make` builds, `make help` lists.

PREFIX  ?= /usr/local
DESTDIR ?=
FUZZTIME ?= 10s
BENCHFLAGS ?=

.DEFAULT_GOAL := build
.PHONY: build demo test check bench stress runtime-tools generate install fuzz test-vm test-arm64 image release npm clean help deps picture

build: ## build bin/sbx, static
	@scripts/build.sh bin

demo: ## a real job in a sandbox and three refused attempts, each with its control
	@scripts/demo.sh

picture: ## draw docs/session.svg, the session in the README, from a real run
	@scripts/session.sh docs/session.svg

deps: ## install what the tests need (root), or say what is missing; the agents that they run
	@scripts/deps.sh
	@scripts/clients.sh || [ $$? = 3 ]

test: ## every test, as root and as an ordinary user
	@scripts/test.sh

check: ## everything a change must pass: format, vet, linters, layering, generated files, tests
	@scripts/check.sh

bench: ## measure start, memory and work inside; BENCHFLAGS="-quick -json out.json"
	@scripts/bench.sh $(BENCHFLAGS)

stress: ## 500 containers of sbx-oci one after another and 30 at once leave nothing (root)
	@SBX_TEST_CONTAINERS=500 go test -count=1 -timeout 30m ./e2e -run TestOCILeavesNothing -v

runtime-tools: ## the validation programs of opencontainers/runtime-tools by runc and by sbx-oci, compared (root)
	@scripts/runtime-tools.sh

generate: ## write the generated files anew
	@go generate ./...

install: ## build and install under $(DESTDIR)$(PREFIX): programs, man pages, completions, AppArmor profile
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' scripts/install.sh

fuzz: ## a short run of each fuzzer; FUZZTIME=10s each
	@FUZZTIME='$(FUZZTIME)' scripts/fuzz.sh

test-vm: ## the kernel tests on Debian's own kernel, in a virtual machine
	@scripts/vm/run.sh

test-arm64: ## tests that ask no kernel, built for arm64, under qemu's user emulation
	@scripts/test-arm64.sh

image: ## the image sbx-sandbox:latest, for jobs in docker or podman; nothing is pulled
	@scripts/image.sh

release: ## tar.gz, deb and rpm for amd64 and arm64, SBOM and checksums, in dist/
	@scripts/release.sh dist

npm: ## the npm packages of the SDK and of the program for each platform, in dist/npm
	@scripts/npm.sh dist/npm

clean: ## remove what the targets above made
	@rm -rf bin dist .cache

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r t d; do printf '  %-10s %s\n' "$$t" "$$d"; done
