#!/usr/bin/env bash
# Runs jobs on a Spark cluster on this machine: a master, two workers, Beam's job server, and a worker pool.
#
#   scripts/spark.sh run ARG...   'runjob run ARG...' on the cluster, which is started for the job and stopped after it,
#                                 unless it runs already
#   scripts/spark.sh start        start the cluster, for many jobs
#   scripts/spark.sh stop         stop it
#
# Needs Java 11 or 17 and, for the first run, Maven, which downloads 380 MB. docs/how-to/flink-spark.md says more. Settings:
#
#   RUNJOB            the program; it is built from this tree otherwise
#   WORKERS           how many workers of Spark there are, with a core each (2)
#   MEMORY            memory of the executor in each of them (700m); the Go worker beside it has its own
#   MASTER_PORT, JOB_PORT, POOL_PORT   ports of Spark (7077), job server (8097) and worker pool (50000)
#   MIRRORBEAM_CACHE  where downloads are kept (~/.cache/mirrorbeam)
set -euo pipefail

engine=spark download='305 MB of jars, and 75 MB that Maven needs for itself'
master_port=${MASTER_PORT:-7077} job_port=${JOB_PORT:-8097}
ports=("$master_port" "$job_port")
flags=(--runner spark --endpoint "localhost:$job_port" --environment_type EXTERNAL --environment_config "localhost:${POOL_PORT:-50000}")
# shellcheck source=engines/cluster.sh
. "$(dirname "$0")/engines/cluster.sh"

# What Spark's own scripts would open to it. Java 17 asks for it.
opens=()
for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent \
  java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar; do
  opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
done

# spark NAME MEGABYTES ARG...: launch a process of Spark.
spark() {
  local name=$1 memory=$2
  shift 2
  launch "$name" java -Dmirrorbeam=spark "-Xmx${memory}m" "${opens[@]}" -cp "$jars/*" "$@"
}

launch_all() {
  # All that a worker of Spark needs of a distribution is a folder of this name with the jars.
  mkdir -p "$state/home" "$state/work"
  ln -sfn "$jars" "$state/home/jars"
  export SPARK_HOME=$state/home SPARK_SCALA_VERSION=2.12 SPARK_LOCAL_HOSTNAME=localhost SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$state
  spark master 256 org.apache.spark.deploy.master.Master --host localhost --port "$master_port" --webui-port 0
  await master "$master_port"
  for number in $(seq "${WORKERS:-2}"); do
    spark "worker-$number" 256 org.apache.spark.deploy.worker.Worker --host localhost --cores 1 --memory 4g \
      --work-dir "$state/work" --webui-port 0 "spark://localhost:$master_port"
  done
  spark job-server 512 "-Dspark.executor.memory=${MEMORY:-700m}" -Dspark.driver.host=localhost -Dspark.ui.enabled=false \
    org.apache.beam.runners.spark.SparkJobServerDriver --spark-master-url "spark://localhost:$master_port" \
    --job-host localhost --job-port "$job_port" --artifact-port 0 --expansion-port -1 --artifacts-dir "$state/artifacts"
}

main "$@"
