#!/usr/bin/env bash
# Says what a project of Google Cloud lacks for a job on Dataflow, and the command that mends it. It changes nothing.
#
#   scripts/dataflow-check.sh PROJECT REGION BUCKET [WORKER [SUBNETWORK]]
#   scripts/dataflow-check.sh my-project europe-west4 my-bucket runjob-worker@my-project.iam.gserviceaccount.com
#
# WORKER is the account of the machines (--service_account_email), SUBNETWORK the name of theirs in REGION (--subnetwork).
# Needs gcloud with a login that may look at the project. Roles that come from a group, a folder or the organization are
# not seen: then "lacks" may be wrong. MACHINES (20) and CORES (8) of each are what the quotas must allow.
set -euo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
project=$1 region=$2 bucket=${3#gs://} worker=${4:-} subnetwork=${5:-}
machines=${MACHINES:-20} cores=${CORES:-8} lacking=0

ok() { echo "ok     $*"; }
lacks() {
  echo "lacks  $1"
  echo "       $2"
  lacking=1
}
# ask ARG...: what gcloud says, without blank lines. A refusal is an answer, too.
ask() { gcloud "$@" --project "$project" 2>/dev/null | sed '/^$/d' || true; }

if [ -n "${GOOGLE_APPLICATION_CREDENTIALS:-}" ] || gcloud auth application-default print-access-token >/dev/null 2>&1; then
  ok 'credentials for programs'
else
  lacks 'credentials for programs' 'gcloud auth application-default login'
fi

enabled=$(ask services list --enabled --format 'value(config.name)')
for api in dataflow compute storage logging; do
  if grep -qx "$api.googleapis.com" <<<"$enabled"; then
    ok "API $api"
  else
    lacks "API $api" "gcloud services enable $api.googleapis.com --project $project"
  fi
done

location=$(ask storage buckets describe "gs://$bucket" --format 'value(location)' | tr '[:upper:]' '[:lower:]')
if [ "$location" = "$region" ]; then
  ok "bucket gs://$bucket in $region"
else
  lacks "a bucket gs://$bucket in $region (it is in: ${location:-none that is seen})" "gcloud storage buckets create gs://NAME --location $region"
fi

if [ -z "$worker" ]; then
  number=$(ask projects describe "$project" --format 'value(projectNumber)')
  worker=$number-compute@developer.gserviceaccount.com
  echo "note   the machines would run as $worker, which may do much: name an account of their own"
fi
member=serviceAccount:$worker
roles=$(ask projects get-iam-policy "$project" --flatten 'bindings[].members' --filter "bindings.members:$member" --format 'value(bindings.role)')
if grep -qxE 'roles/(dataflow.worker|editor|owner)' <<<"$roles"; then
  ok 'the worker may work for Dataflow'
else
  lacks 'the role roles/dataflow.worker of the worker' \
    "gcloud projects add-iam-policy-binding $project --member $member --role roles/dataflow.worker"
fi
roles+=$'\n'$(ask storage buckets get-iam-policy "gs://$bucket" --flatten 'bindings[].members' --filter "bindings.members:$member" --format 'value(bindings.role)')
if grep -qxE 'roles/(storage\.(objectUser|objectAdmin|admin)|editor|owner)' <<<"$roles"; then
  ok "the worker may read and write gs://$bucket"
else
  lacks "the role roles/storage.objectUser of the worker on gs://$bucket" \
    "gcloud storage buckets add-iam-policy-binding gs://$bucket --member $member --role roles/storage.objectUser"
fi

if [ -n "$subnetwork" ]; then
  private=$(ask compute networks subnets describe "$subnetwork" --region "$region" --format 'value(privateIpGoogleAccess)')
elif [ -n "$(ask compute networks describe default --format 'value(name)')" ]; then
  private=$(ask compute networks subnets describe default --region "$region" --format 'value(privateIpGoogleAccess)')
else
  private=missing
fi
external=$(ask resource-manager org-policies describe compute.vmExternalIpAccess --effective --format 'value(listPolicy.allValues)')
case $private,$external in
missing,* | ,*) lacks "a subnetwork ${subnetwork:-default} in $region" "gcloud compute networks subnets create NAME --network NETWORK --region $region --range 10.0.0.0/20 --enable-private-ip-google-access, and --subnetwork regions/$region/subnetworks/NAME" ;;
False,DENY) lacks 'a way to the buckets: machines get no public address, and the subnetwork has no Private Google Access' \
  "gcloud compute networks subnets update ${subnetwork:-default} --region $region --project $project --enable-private-ip-google-access, and --no_use_public_ips" ;;
True,DENY) ok 'network, with --no_use_public_ips' ;;
*) ok 'network' ;;
esac

quotas=$(ask compute regions describe "$region" --flatten 'quotas[]' --format 'csv[no-heading](quotas.metric,quotas.limit,quotas.usage)')
# quota METRIC WANTED
quota() {
  local left
  left=$(awk -F, -v metric="$1" '$1 == metric { print int($2 - $3) }' <<<"$quotas")
  if [ "${left:-0}" -ge "$2" ]; then
    ok "quota $1: $left left"
  else
    lacks "quota $1: ${left:-none} left of $2 that $machines machines of $cores cores take" \
      "ask for more at https://console.cloud.google.com/iam-admin/quotas?project=$project, or give --max_num_workers"
  fi
}
quota CPUS $((machines * cores))
quota DISKS_TOTAL_GB $((machines * 50))
if [ "$external" != DENY ]; then quota IN_USE_ADDRESSES "$machines"; fi
exit "$lacking"
