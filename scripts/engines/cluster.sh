# shellcheck shell=bash
# What flink.sh and spark.sh share. They set:
#   engine      the name of the engine: a folder here has its pom.xml and SHA256SUMS
#   job_port    the port of its job server
#   ports       all ports of the cluster but the worker pool's
#   flags       flags of Beam with which 'runjob run' reaches the cluster
#   download    what is fetched for it the first time
#   launch_all  a function that launches the processes
# They may set:
#   role        all, or the part of the cluster that this machine has: manager or worker
#   host        the address of this machine in the cluster (localhost)
# All processes listen on that address alone, or on localhost, but for the job server, which takes no address. docs/how-to/flink-spark.md has their ports.

: "${engine:?}" "${download:?}" "${job_port:?}" "${ports[0]:?}" "${flags[0]:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
jars=${MIRRORBEAM_CACHE:-$HOME/.cache/mirrorbeam}/engines/$engine
state=${TMPDIR:-/tmp}/mirrorbeam-$engine-$UID
pool_port=${POOL_PORT:-50000}
role=${role:-all} host=${host:-localhost}

fail() {
  printf '%s: %s\n' "$0" "$*" >&2
  exit 1
}

# fetch: the jars of the engine, from Maven Central or the cache. They must be those of SHA256SUMS.
fetch() {
  if (cd "$jars" 2>/dev/null && sha256sum --check --quiet "$here/$engine/SHA256SUMS" >/dev/null 2>&1); then
    return
  fi
  command -v mvn >/dev/null || fail "Maven (mvn) is needed to download $engine"
  echo "downloading $engine to $jars: $download; a minute or two, and up to a quarter of an hour on a slow line or a busy machine" >&2
  rm -rf "$jars"
  mvn --quiet --batch-mode --strict-checksums --file "$here/$engine/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$jars" >&2 || fail "Maven could not download $engine"
  (cd "$jars" && sha256sum --check --quiet "$here/$engine/SHA256SUMS") >&2 || fail "the jars of $engine are not those of $here/$engine/SHA256SUMS"
}

# answers PORT [HOST]: something listens there, on this machine if no other is named.
answers() { (exec 3<>"/dev/tcp/${2:-localhost}/$1") 2>/dev/null; }

# launch NAME COMMAND...: start a process of the cluster. With 'set -m' it is a process group of its own, so a Ctrl-C of
# the user reaches the job alone, which can then end in good order.
launch() {
  local name=$1
  shift
  "$@" >"$state/$name.log" 2>&1 </dev/null &
  echo $! >"$state/$name.pid"
}

# alive NAME: the process of this name runs. The number may belong to another process by now.
alive() {
  local pid
  pid=$(cat "$state/$1.pid" 2>/dev/null) && ps -p "$pid" -o args= 2>/dev/null | grep -qE 'mirrorbeam|worker-pool'
}

# await NAME PORT [HOST]: until the process answers there.
await() {
  for _ in $(seq 240); do
    if answers "${@:2}"; then return; fi
    alive "$1" || break
    sleep 0.5
  done
  tail -n 20 "$state/$1.log" >&2
  fail "$1 does not answer at port $2"
}

# build: the program, unless RUNJOB names one. The first time, the compiler takes a minute or two.
build() {
  mkdir -p "$state"
  if [ -z "${RUNJOB:-}" ]; then
    RUNJOB=$state/runjob
    (cd "$tree" && go build -o "$RUNJOB" ./cmd/runjob)
  fi
  [ -x "$RUNJOB" ] || fail "RUNJOB: $RUNJOB is no program"
  echo "$RUNJOB" >"$state/program"
}

start() {
  command -v java >/dev/null || fail 'Java is needed: version 11 or 17'
  local port own=("$pool_port")
  case $role in
  all) own+=("${ports[@]}") ;;
  manager) own=("${ports[@]}") ;;
  esac
  for port in "${own[@]}"; do
    if answers "$port" || answers "$port" "$host"; then fail "something answers at port $port of this machine already"; fi
  done
  fetch
  if [ "$role" != manager ]; then
    launch pool "$RUNJOB" worker-pool --listen "localhost:$pool_port"
  fi
  launch_all
  if [ "$role" != manager ]; then
    await pool "$pool_port"
  fi
  if [ "$role" != worker ]; then
    await job-server "$job_port" "$host"
  fi
}

# stop: end every process of the cluster, and remove what it has written.
stop() {
  local file
  # The keeper would replace what ends.
  if alive keeper; then
    kill "$(cat "$state/keeper.pid")" 2>/dev/null || true
    while alive keeper; do sleep 0.1; done
  fi
  for file in "$state"/*.pid; do
    if alive "$(basename "$file" .pid)"; then kill "$(cat "$file")" 2>/dev/null || true; fi
  done
  for file in "$state"/*.pid; do
    for _ in $(seq 40); do
      alive "$(basename "$file" .pid)" || continue 2
      sleep 0.25
    done
    kill -KILL "$(cat "$file")" 2>/dev/null || true
  done
  rm -rf "$state"
}

# failed: stop what was started, and keep its logs.
failed() {
  if compgen -G "$state/*.log" >/dev/null; then
    rm -rf "$state-failed"
    mkdir -m 700 "$state-failed"
    cp "$state"/*.log "$state-failed"
    echo "the logs are in $state-failed" >&2
  fi
  stop
}

# run ARG...: 'runjob run ARG...' on the cluster. It returns the exit code of the job.
run() {
  local job status=0 program
  program=$(cat "$state/program")
  "$program" run "${flags[@]}" "$@" <&0 &
  job=$!
  trap 'kill -INT "$job" 2>/dev/null' INT TERM HUP
  # A signal ends the wait, and not yet the job.
  wait "$job" || status=$?
  while kill -0 "$job" 2>/dev/null; do
    status=0
    wait "$job" || status=$?
  done
  return "$status"
}

main() {
  set -m
  case ${1:-} in
  start)
    trap failed EXIT
    build
    start
    trap - EXIT
    echo "the cluster runs; its files are in $state"
    echo "use: scripts/$engine.sh run ARG..., or runjob run ${flags[*]} ARG..."
    ;;
  stop) stop ;;
  run)
    shift
    if alive job-server; then
      run "$@"
      return
    fi
    trap stop EXIT
    trap 'exit 130' INT TERM HUP
    build
    # What the job would refuse is said before anything is downloaded or started.
    "$RUNJOB" run --check "${flags[@]}" "$@" </dev/null || exit $?
    start
    run "$@"
    ;;
  *) fail 'use: run ARG..., start or stop; see the head of the script' ;;
  esac
}
