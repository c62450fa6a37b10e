#!/usr/bin/env bash
# Builds the image and the Flex Template.
#
#   deploy/dataflow/build.sh IMAGE TEMPLATE
#
# IMAGE is REGION-docker.pkg.dev/PROJECT/REPOSITORY/runjob:VERSION, in a repository that exists. TEMPLATE is
# gs://BUCKET/FOLDER/runjob.json. Needs Docker, and gcloud with a login.
set -euo pipefail
if [ $# != 2 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
image=$1 template=$2
cd "$(dirname "$0")/../.."

for needed in docker gcloud; do
  command -v "$needed" >/dev/null || { echo "build.sh: $needed is not installed" >&2 && exit 1; }
done
gcloud auth configure-docker --quiet "${image%%/*}"
docker build --platform linux/amd64 --file deploy/dataflow/Dockerfile --tag "$image" .
docker push "$image"
gcloud dataflow flex-template build "$template" \
  --image "$image" --sdk-language GO --metadata-file deploy/dataflow/metadata.json
