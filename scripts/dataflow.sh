#!/usr/bin/env bash
# Runs a job on Google Cloud Dataflow, waits for its end and publishes the results.
#
#   scripts/dataflow.sh PROJECT REGION BUCKET INPUT OUTPUT [FLAG...]
#   scripts/dataflow.sh my-project europe-west4 my-bucket 'gs://my-bucket/corpus/*.jsonl' gs://my-bucket/results
#
# BUCKET, without gs://, is for temporary files. It should be in REGION. The flags are those of 'runjob run'
# and of Dataflow, see docs/how-to/dataflow.md. Needs Go, and gcloud with a login.
#
# The program is kept in build/. RUNJOB names one that is there already.
set -euo pipefail
if [ $# -lt 5 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
project=$1 region=$2 bucket=${3#gs://} input=$4 output=$5
shift 5
root=$(cd "$(dirname "$0")/.." && pwd)

lower() { printf '%s' "$1" | tr '[:upper:]' '[:lower:]'; }
fail() {
  echo "dataflow.sh: $*" >&2
  exit 1
}
# Everything that can be wrong with the account is asked for before anything is built.
command -v gcloud >/dev/null || fail 'gcloud is not installed, see https://cloud.google.com/sdk/docs/install'
if [ -z "${GOOGLE_APPLICATION_CREDENTIALS:-}" ]; then
  gcloud auth application-default print-access-token >/dev/null 2>&1 ||
    fail "there are no credentials for programs: run 'gcloud auth application-default login'"
fi
location=$(gcloud storage buckets describe "gs://$bucket" --project "$project" --format 'value(location)') ||
  fail "the bucket gs://$bucket cannot be seen: create it with 'gcloud storage buckets create gs://$bucket --location $region'"
location=$(lower "$location")
if [ "$location" != "$region" ]; then
  echo "dataflow.sh: gs://$bucket is in $location, not in $region: traffic between regions costs time and money" >&2
fi

worker=$root/build/runjob-linux
if [ -n "${RUNJOB:-}" ]; then
  worker=$RUNJOB
else
  # Workers run the program in an image that may have another C library.
  (cd "$root" && CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags='-s -w' -o "$worker" ./cmd/runjob)
fi
driver=$worker
if [ "$(uname -s)/$(uname -m)" != Linux/x86_64 ]; then
  driver=$root/build/runjob
  (cd "$root" && go build -o "$driver" ./cmd/runjob)
fi

exec "$driver" run --runner dataflow --project "$project" --region "$region" \
  --staging_location "gs://$bucket/runjob/staging" --temp_location "gs://$bucket/runjob/dataflow" \
  --temp "gs://$bucket/runjob/temp" --worker_binary "$worker" --input "$input" --output "$output" "$@"
