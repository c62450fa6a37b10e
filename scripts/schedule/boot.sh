#!/usr/bin/env bash
# Boots a Debian with its systemd in a container, installs a package of runjob there, and starts the unit: a good run, what may
# pass, and what does not.
#
#   scripts/schedule/boot.sh dist/runjob_VERSION_amd64.deb
#
# Needs root, debootstrap, systemd-nspawn and 400 MB in TMPDIR. SYSTEM names a folder with a Debian that is there already.
set -euo pipefail
deb=$(realpath "${1:?names the package}")
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo 'not root: the unit was not started' && exit; }
for program in debootstrap systemd-nspawn; do
  command -v "$program" >/dev/null || { echo "no $program: the unit was not started"; exit; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
system=$scratch/system
if [ -n "${SYSTEM:-}" ]; then
  cp -a "$SYSTEM" "$system"
else
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$system" http://deb.debian.org/debian >"$scratch/log" 2>&1 ||
    { tail "$scratch/log" && exit 1; }
fi
mkdir -p "$system/srv/crawl"
cp "$here/../../examples/fables/crawl.warc.gz" "$system/srv/crawl"
cp "$deb" "$system/root/runjob.deb"
printf '#!/bin/sh\n{ echo "$@"; cat; } >>/root/mails\n' >"$system/usr/local/bin/mail"
cat >"$system/root/try.sh" <<'EOF'
dropin=/etc/systemd/system/runjob.service.d
mkdir -p $dropin
state() { systemctl show runjob.service -p ActiveState -p NRestarts -p ExecMainStatus | sort | tr '\n' ' '; }
# try NAME LINE...: starts the unit with other lines, and waits for its end.
try() {
  name=$1
  shift
  printf '%s\n' '[Service]' RestartSec=1s "$@" >$dropin/try.conf
  : >/root/mails
  systemctl daemon-reload
  systemctl reset-failed runjob.service
  systemctl start --no-block runjob.service
  for _ in $(seq 120); do
    sleep 1
    case $(state) in ActiveState=activating*) ;; *) break ;; esac
  done
  sleep 2
  echo "$name: $(state)mails $(grep -c 'has failed' /root/mails) with a reason $(grep 'runjob: ' /root/mails | wc -l | sed 's/[1-9].*/yes/')"
}
{
  dpkg --install /root/runjob.deb >/root/log 2>&1 || cat /root/log
  try good
  try passing Environment=STORAGE_EMULATOR_HOST=127.0.0.1:1 ExecStart= 'ExecStart=runjob run --input gs://crawl/pages --output /srv/runjob/out --overwrite --storage-timeout 1s'
  try final ExecStart= 'ExecStart=runjob run --input /srv/nowhere --output /srv/runjob/out --overwrite'
  ls /srv/runjob/out/_SUCCESS
} >/root/seen 2>/dev/null
systemctl poweroff
EOF
printf '%s\n' '[Unit]' After=multi-user.target '[Service]' Type=oneshot 'ExecStart=/bin/bash /root/try.sh' >"$system/etc/systemd/system/try.service"
mkdir -p "$system/etc/systemd/system/multi-user.target.wants"
ln -s ../try.service "$system/etc/systemd/system/multi-user.target.wants/try.service"
chmod +x "$system/usr/local/bin/mail"
timeout 300 systemd-nspawn --register=no --keep-unit --directory "$system" --boot >"$scratch/log" 2>&1 || true
cat "$system/root/seen"
# Five further tries and then one mail; no further try of what does not pass, and a mail at once.
diff - "$system/root/seen" <<'EOF'
good: ActiveState=inactive ExecMainStatus=0 NRestarts=0 mails 0 with a reason 0
passing: ActiveState=failed ExecMainStatus=75 NRestarts=6 mails 1 with a reason yes
final: ActiveState=failed ExecMainStatus=3 NRestarts=0 mails 1 with a reason yes
/srv/runjob/out/_SUCCESS
EOF
