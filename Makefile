# Everything CI does is one of these targets.
GO        ?= go
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT    := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS   := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64 freebsd/amd64
STATIC    := CGO_ENABLED=0
# The agent travels to every host: small goes before fast. Without inlining its
# tables of functions are a fifth smaller; the runtime and what packs data keep it.
# AGENT_MAX bounds the plain agent, in bytes, and FULL_MAX the one that has the
# modules that need TLS, which goes to those hosts only where a task needs one.
SMALL     := -trimpath -gcflags=all=-l -gcflags=runtime/...= -gcflags=compress/...= -ldflags '-s -w -funcalign=1'
AGENT_MAX := 8000000
FULL_MAX  := 10500000
AGENTS    := $(foreach p,$(PLATFORMS),bin/agents/$(subst /,-,$(p)))
FULL      := $(foreach p,$(PLATFORMS),bin/full/$(subst /,-,$(p)))
SOURCES   := $(shell find modules cmd/play-agent \( -name '*.go' -o -name warm.py \) -not -name '*_test.go' 2>/dev/null) go.mod go.sum

.PHONY: build agents size test race long lint fmt bench demo coverage docs clean

## build: bin/play with the agents of every platform inside
build: agents size
	$(STATIC) $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/play ./cmd/play
	$(STATIC) $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/fleet ./cmd/fleet

agents: cmd/play/agents/index

cmd/play/agents/index: $(AGENTS) $(FULL)
	$(GO) run ./connection/agents/pack -o cmd/play/agents \
	  $(foreach p,$(PLATFORMS),$(p)=bin/agents/$(subst /,-,$(p)),bin/full/$(subst /,-,$(p)))

bin/agents/%: $(SOURCES)
	@mkdir -p bin/agents
	$(STATIC) GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) \
	  $(GO) build -tags plain $(SMALL) -o $@ ./cmd/play-agent

bin/full/%: $(SOURCES)
	@mkdir -p bin/full
	$(STATIC) GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) \
	  $(GO) build $(SMALL) -o $@ ./cmd/play-agent/full

## size: fails when an agent is larger than AGENT_MAX or FULL_MAX
size: bin/agents/linux-amd64 bin/full/linux-amd64
	@plain=$$(wc -c <bin/agents/linux-amd64) full=$$(wc -c <bin/full/linux-amd64); \
	  echo "the plain agent has $$plain bytes of $(AGENT_MAX), the full one $$full of $(FULL_MAX)"; \
	  test $$plain -le $(AGENT_MAX) -a $$full -le $(FULL_MAX)

## test: every test; needs only Go, git and make
test: $(if $(wildcard cmd/play/agents/index),agents)
	$(GO) test -timeout 20m ./...

## race: the tests that share memory, under the race detector; of cmd/play the
## recorded runs, since scripts about real time do not hold at a tenth of the speed
race: $(if $(wildcard cmd/play/agents/index),agents)
	$(GO) test -race -short -timeout 20m $$($(GO) list ./... | grep -v '/cmd/play$$')
	$(GO) test -race -timeout 20m -run 'TestRecorded|TestThreats|TestT1|TestT2' ./cmd/play

## long: the forms of tests that take minutes: 200 rounds of chaos, and 1000 SSH
## hosts whose memory is measured
long:
	PLAY_LONG=1 $(GO) test -count=1 -timeout 40m -v -run 'TestChaos|TestMemoryOf1000Hosts' ./cmd/play

## lint: vet, formatting and staticcheck
lint:
	$(GO) vet ./...
	$(GO) build -tags plain -o /dev/null ./cmd/play-agent
	@test -z "$$(gofmt -l cmd engine strategy action connection modules)" || \
	  { echo "gofmt would change:"; gofmt -l cmd engine strategy action connection modules; exit 1; }
	$(GO) tool staticcheck ./...

fmt:
	gofmt -w cmd engine strategy action connection modules

## bench: speed as ratios, measured in one run
bench: build
	$(GO) build -o bin/bench ./cmd/fleet/bench
	@$(GO) test ./engine/inventory -run '^$$' -bench 'Load.*10k' -benchtime 3x | \
	  awk '/^Bench/ {printf "%s: an inventory of 10 000 hosts in %.2f s (goal 0.5 s)\n", $$1, $$3/1e9}'
	@bin/bench -play bin/play -agent bin/agents/$$($(GO) env GOOS)-$$($(GO) env GOARCH)
	@if python3 -c 'import jinja2' 2>/dev/null; then $(GO) run ./engine/jinja/benchcmp; \
	  else echo "python3-jinja2 is not installed: templates are not compared"; fi
	@if command -v chromium >/dev/null; then echo "the report of 500 hosts x 200 tasks in Chromium:"; \
	  $(GO) test ./engine/report -count=1 -run TestLargeRun -v | grep ready; \
	  else echo "chromium is not installed: the report is not opened"; fi

## demo: a fleet of five SSH hosts on loopback, the example rollout twice
demo: build
	@./examples/demo.sh

## coverage: the share of modules' uses in public playbooks that is native
coverage:
	@$(GO) run ./cmd/moddoc coverage

## docs: the pages that are made from the code
docs:
	$(GO) run ./cmd/moddoc table >docs/modules.md.new && mv docs/modules.md.new docs/modules.md

clean:
	rm -rf bin cmd/play/agents/index* cmd/play/agents/*.zst
