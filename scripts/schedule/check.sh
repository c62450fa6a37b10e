#!/usr/bin/env bash
# Has the files of this folder read by the programs that they are for, and says which of these are missing.
#
#   RUNJOB=/usr/bin/runjob scripts/schedule/check.sh
#
# systemd-analyze reads the units, promtool the rules, the queries of the dashboard and what a run writes, kubernetes-validate the
# manifests, and Airflow runs the DAG with the program, web archives and mails of its own. What is in PATH is used.
set -euo pipefail
: "${RUNJOB:?names the program}"
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
has() { command -v "$1" >/dev/null || { echo "no $1: $2"; return 1; }; }
fail() {
  echo "check.sh: $*" >&2
  exit 1
}
mkdir -p "$scratch/bin"
ln -s "$(realpath "$RUNJOB")" "$scratch/bin/runjob"
export PATH=$scratch/bin:$here:$PATH

if has systemd-analyze 'the units were not read'; then
  units=$scratch/root/etc/systemd/system
  mkdir -p "$units"
  cp "$here"/*.service "$here"/*.timer "$units"
  for unit in runjob watch; do
    systemd-analyze security --offline=true --threshold=25 --root="$scratch/root" "$unit.service" >"$scratch/log" 2>&1 ||
      fail "$unit.service: $(tail -n 1 "$scratch/log")"
    tail -n 1 "$scratch/log"
  done
  # Of a system there is nothing else here: neither its targets nor programs.
  unknown=$(systemd-analyze verify --root="$scratch/root" "$units"/*.timer "$units"/*.service 2>&1 | grep -E 'Unknown|Invalid|Failed to parse|not understood' || true)
  [ -z "$unknown" ] || fail "$unknown"
fi

if has promtool 'neither rules nor metrics were read' && has jq 'neither rules nor metrics were read'; then
  promtool check rules "$here/alerts.yaml"
  promtool test rules "$here/rules_test.yaml"
  jq '{groups: [{name: "dashboard", rules: [.panels[].targets[].expr] | to_entries | map({record: "r\(.key)", expr: .value})}]}' \
    "$here/dashboard.json" >"$scratch/dashboard.yaml"
  promtool check rules "$scratch/dashboard.yaml"
  runjob mirrors --quiet --input "$tree/examples/fables/crawl.warc.gz" --output "$scratch/out" --state "$scratch/state" \
    --metrics-file "$scratch/runjob.prom"
  # It advises against some names, which alerts of others ask for by now.
  promtool check metrics <"$scratch/runjob.prom" 2>"$scratch/log" || [ $? = 3 ] || fail "metrics: $(cat "$scratch/log")"
  for name in $(grep -ohE 'runjob_[a-z_]+' "$here/alerts.yaml" "$scratch/dashboard.yaml" | sort -u); do
    grep -q "^# HELP $name " "$scratch/runjob.prom" || fail "no run writes $name"
  done
fi

if has kubernetes-validate 'the manifests were not read'; then
  kubernetes-validate --strict --quiet "$here/cronjob.yaml" "$tree"/deploy/flink/{kubernetes,job}.yaml
fi

if has airflow 'the DAG was not run'; then
  export AIRFLOW_HOME=$scratch/airflow AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__CORE__EXECUTOR=LocalExecutor
  export AIRFLOW__CORE__DAGS_FOLDER=$scratch/airflow/dags
  mkdir -p "$scratch"/airflow/dags "$scratch"/{srv,etc}/runjob "$scratch/bucket"
  # Its bucket and its folders are here.
  sed "s#gs://example-watch#$scratch/bucket#g; s#/srv/runjob#$scratch/srv/runjob#g; s#/etc/runjob#$scratch/etc/runjob#g" \
    "$here/watch_dag.py" >"$scratch/airflow/dags/watch_dag.py"
  cp "$tree/examples/fables/crawl.warc.gz" "$scratch/bucket/ours.warc.gz"
  cp "$tree/examples/fables/crawl.warc.gz" "$scratch/bucket/suspicious.warc.gz"
  zcat "$scratch/bucket/ours.warc.gz" | tr -d '\r' | sed -nE 's#^WARC-Target-URI: *<?https?://([^/>:]+).*#\1#p' | head -n 1 >"$scratch/etc/runjob/our-sites.txt"
  : >"$scratch/etc/runjob/partners.txt"
  printf '#!/bin/sh\ncat >>%s/mails\n' "$scratch" >"$scratch/bin/mail"
  chmod +x "$scratch/bin/mail"
  airflow db migrate >"$scratch/log" 2>&1 || fail "$(tail "$scratch/log")"
  airflow dags test watch >"$scratch/log" 2>&1 || fail "$(tail -n 30 "$scratch/log")"
  [ -e "$scratch/srv/runjob/watch/_SUCCESS" ] || fail "the DAG has left no results: $(tail -n 30 "$scratch/log")"
  echo "the DAG has run: $(wc -l <"$scratch/mails" 2>/dev/null || echo 0) lines of mail"
fi
