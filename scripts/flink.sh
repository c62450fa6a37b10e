#!/usr/bin/env bash
# Runs jobs on a Flink cluster on this machine: a JobManager, two TaskManagers, Beam's job server, and a worker pool.
#
#   scripts/flink.sh run ARG...   'runjob run ARG...' on the cluster, which is started for the job and stopped after it,
#                                 unless it runs already
#   scripts/flink.sh start        start the cluster, for many jobs
#   scripts/flink.sh stop         stop it
#
# On several machines, start each one's part, in a network that no stranger reaches:
#
#   ROLE=manager ADDRESS=10.0.0.1 scripts/flink.sh start                     the JobManager and the job server; 'run' works here
#   ROLE=worker ADDRESS=10.0.0.2 MANAGER=10.0.0.1 scripts/flink.sh start     TaskManagers, and a worker pool
#
# A TaskManager that dies is replaced. The script needs Java 11 or 17 and, for the first run, Maven, which downloads 232 MB.
# docs/how-to/flink-spark.md says more. Settings:
#
#   RUNJOB            the program; it is built from this tree otherwise
#   TASK_MANAGERS     how many there are, on this machine (2)
#   SLOTS             tasks that each of them works on at a time (1)
#   MEMORY            memory of each TaskManager (1g); the Go worker beside it has its own
#   RPC_PORT, REST_PORT, JOB_PORT, POOL_PORT   ports of Flink (6123, 8081), job server (8099) and worker pool (50000)
#   MIRRORBEAM_CACHE  where downloads are kept (~/.cache/mirrorbeam)
set -euo pipefail
shopt -s extglob

engine=flink download='157 MB of jars, and 75 MB that Maven needs for itself'
rpc_port=${RPC_PORT:-6123} rest_port=${REST_PORT:-8081} job_port=${JOB_PORT:-8099}
task_managers=${TASK_MANAGERS:-2} slots=${SLOTS:-1}
role=${ROLE:-all} host=${ADDRESS:-localhost}
manager=${MANAGER:-$host}
ports=("$rpc_port" "$rest_port" "$job_port")
flags=(--runner flink --endpoint "$host:$job_port" --flink_rest "$host:$rest_port" --parallelism "$((task_managers * slots))"
  --environment_type EXTERNAL --environment_config "localhost:${POOL_PORT:-50000}")
# shellcheck source=engines/cluster.sh
. "$(dirname "$0")/engines/cluster.sh"

case $role in
all | manager | worker) ;;
*) fail "ROLE=$role: must be manager, worker or all" ;;
esac

# The jars are on the class path of Flink itself. Otherwise each job loads them again, and a TaskManager runs out of
# metaspace after a few jobs.
class_path="$jars/*"

configure() {
  local bind=$host
  if [ "$role" = manager ]; then bind=0.0.0.0; fi # a JobManager sends itself the files of a job by localhost
  mkdir -p "$state/conf" "$state/tmp"
  cat >"$state/conf/config.yaml" <<EOF
jobmanager.rpc.address: $manager
jobmanager.rpc.port: $rpc_port
jobmanager.bind-host: $bind
jobmanager.memory.process.size: 768m
rest.address: $manager
rest.bind-address: $host
rest.port: $rest_port
taskmanager.host: $host
taskmanager.bind-host: $host
taskmanager.memory.process.size: ${MEMORY:-1g}
taskmanager.memory.managed.fraction: 0.2
taskmanager.numberOfTaskSlots: $slots
# A small job has tasks on all machines, too.
cluster.evenly-spread-out-slots: true
# The shuffles of a job are many and small.
taskmanager.network.sort-shuffle.min-buffers: 64
io.tmp.dirs: $state/tmp
classloader.resolve-order: parent-first
# Without this a job fails when a worker or a TaskManager dies. The death of a TaskManager costs several attempts,
# until it is noticed.
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 20
restart-strategy.fixed-delay.delay: 2 s
heartbeat.interval: 2000
heartbeat.timeout: 10000
EOF
}

# flink KIND NAME CLASS ARG...: launch a process of Flink, with the memory settings that Flink itself computes for a
# JobManager (JM) or a TaskManager (TM).
flink() {
  local kind=$1 name=$2 class=$3 settings jvm dynamic
  shift 3
  settings=$(java -cp "$class_path" org.apache.flink.runtime.util.bash.BashJavaUtils \
    "GET_${kind}_RESOURCE_PARAMS" --configDir "$state/conf" 2>/dev/null | sed -n 's/^BASH_JAVA_UTILS_EXEC_RESULT://p') ||
    fail "Flink cannot compute the memory of $name"
  read -ra jvm <<<"$(sed -n 1p <<<"$settings")"
  read -ra dynamic <<<"$(sed -n 2p <<<"$settings")"
  launch "$name" java -Dmirrorbeam=flink "${jvm[@]}" -cp "$class_path" "$class" --configDir "$state/conf" "$@" "${dynamic[@]}"
}

task_manager() {
  local id=task-manager-$1
  if [ "$role" = worker ]; then id+=@$host; fi # another machine has one of this number, too
  flink TM "task-manager-$1" org.apache.flink.runtime.taskexecutor.TaskManagerRunner -D "taskmanager.resource-id=$id"
}

# keep: launch each TaskManager that has died again, until the script ends it. It stands for what starts TaskManagers on a cluster.
keep() {
  trap 'exit 0' TERM
  while sleep 1; do
    for number in $(seq "$task_managers"); do
      if ! alive "task-manager-$number"; then
        echo "task-manager-$number has died, and is started again"
        task_manager "$number"
      fi
    done
  done
}

# joined FILE...: their names, with colons between them.
joined() {
  local IFS=:
  echo "$*"
}

launch_all() {
  configure
  if [ "$role" != worker ]; then manage; fi
  if [ "$role" != manager ]; then
    for number in $(seq "$task_managers"); do task_manager "$number"; done
    launch keeper bash "$0" keep mirrorbeam
  fi
  if [ "$role" != worker ]; then await job-manager "$rest_port" "$host"; fi
}

# manage: launch the JobManager and the job server.
manage() {
  flink JM job-manager org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --executionMode cluster
  # The job server sends its class path to Flink with each job, which has all of it. So the class loader of Java itself
  # gets what is not of Beam or Flink, and is not sent.
  local sent others
  sent=$(joined "$jars"/beam-!(vendor-*).jar "$jars"/flink-!(shaded-*|rpc-akka-*).jar)
  others=$(joined "$jars"/!(beam-!(vendor-*)|flink-!(shaded-*)).jar)
  launch job-server java -Dmirrorbeam=flink -Xmx512m -Xbootclasspath/a:"$others" -cp "$sent" org.apache.beam.runners.flink.FlinkJobServerDriver \
    --flink-master "$host:$rest_port" --job-host "$host" --job-port "$job_port" --artifact-port 0 --expansion-port -1 \
    --artifacts-dir "$state/artifacts"
}

if [ "${1:-}" = keep ]; then keep; else main "$@"; fi
