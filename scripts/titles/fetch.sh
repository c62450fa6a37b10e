#!/bin/sh
# Fetches catalogs of user-interface strings in several languages from Debian into a folder:
#
#     scripts/titles/fetch.sh catalogs
#
# They are the messages of LibreOffice (all languages but Burmese) and of GTK, GLib and others. It needs apt-get and dpkg.
set -eu
mkdir -p "$1"
cd "$1"
apt-get download -q libreoffice-l10n-ja libreoffice-l10n-th libreoffice-l10n-km libreoffice-l10n-zh-cn libreoffice-l10n-de \
	libgtk-3-common libgtk-4-common libglib2.0-data evolution-common evolution-data-server-common gimp-data inkscape \
	libc-l10n iso-codes vlc-l10n gnome-control-center-data nautilus-data epiphany-browser-data totem-common gnumeric-common \
	apt dpkg bash-completion git
for package in *.deb; do
	dpkg -x "$package" "${package%%_*}"
	rm "$package"
done
