#!/bin/sh
# Fetches trees of Go, Python, Java and C into a folder, by name, from the registries of these languages and from Debian:
#
#     scripts/codetrees/fetch.sh trees
#
# It needs go, pip, mvn, npm, apt-get and unzip. The files stay with you: they have licences of their own.
set -eu
mkdir -p "$1"
cd "$1"

mkdir -p go && (
	cd go
	[ -f go.mod ] || go mod init trees >/dev/null 2>&1
	export GOMODCACHE="$PWD/modules" GOFLAGS=-modcacherw
	go mod download k8s.io/client-go@v0.31.0 k8s.io/apimachinery@v0.31.0 k8s.io/api@v0.31.0 github.com/prometheus/client_golang@v1.20.0 \
		google.golang.org/grpc@v1.66.0 golang.org/x/tools@v0.24.0 github.com/spf13/cobra@v1.8.1 github.com/google/go-cmp@v0.6.0 \
		github.com/apache/beam/sdks/v2@v2.58.0 cloud.google.com/go/storage@v1.43.0 github.com/hashicorp/consul/api@v1.29.1
	rm -rf modules/cache
)
mkdir -p python && (
	cd python
	pip download -q --no-deps --only-binary :all: --dest wheels django==5.0.6 sympy==1.13.0 nova==30.0.0 apache-airflow==2.9.3 \
		kubernetes==30.1.0 twisted==24.3.0 google-cloud-storage==2.18.0 tornado==6.4.1 sqlalchemy==2.0.31 pandas==2.2.2
	for wheel in wheels/*.whl; do unzip -qo "$wheel" '*.py' -d "$(basename "$wheel" .whl)"; done
	rm -rf wheels
)
mkdir -p java && (
	cd java
	for artifact in com.google.guava:guava:33.2.1-jre org.apache.commons:commons-lang3:3.14.0 org.apache.commons:commons-math3:3.6.1 \
		org.apache.commons:commons-collections4:4.4 org.springframework:spring-core:6.1.11 org.apache.lucene:lucene-core:9.11.1 \
		org.apache.kafka:kafka-clients:3.7.1 com.fasterxml.jackson.core:jackson-databind:2.17.2 org.apache.hadoop:hadoop-common:3.4.0; do
		mvn -q dependency:copy -Dartifact="$artifact:jar:sources" -DoutputDirectory="$PWD/jars"
	done
	for jar in jars/*.jar; do unzip -qo "$jar" '*.java' -d "$(basename "$jar" .jar)"; done
	rm -rf jars
)
mkdir -p c && (
	cd c
	headers=$(apt-cache depends linux-headers-amd64 | sed -n 's/.*Depends: \(linux-headers-.*-amd64\)/\1/p' | head -1)
	apt-get download -q "$(apt-cache depends "$headers" | sed -n 's/.*Depends: \(linux-headers-.*-common\)/\1/p')" libboost1.74-dev llvm-14-dev libgtk-3-dev
	for package in *.deb; do dpkg -x "$package" "${package%%_*}"; rm "$package"; done
	npm pack --silent grpc@1.24.11 better-sqlite3@11.1.2 zeromq@5.3.1 >/dev/null
	for package in *.tgz; do mkdir -p "${package%.tgz}"; tar -xzf "$package" -C "${package%.tgz}"; rm "$package"; done
)
