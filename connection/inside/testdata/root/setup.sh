# Run in the root before the steps: packages of an archive in it, and apt's settings.
set -eu
mkdir -p /srv/repo /srv/build
add() { # add NAME VERSION DEPENDS
  dir=/srv/build/$1
  rm -rf "$dir"
  mkdir -p "$dir/DEBIAN" "$dir/usr/share/$1"
  echo "$2" >"$dir/usr/share/$1/version"
  { echo "Package: $1"; echo "Version: $2"; echo "Architecture: all"; echo "Maintainer: Nobody <nobody@example.org>"
    [ -z "$3" ] || echo "Depends: $3"; echo "Description: a package for tests"; } >"$dir/DEBIAN/control"
  file=/srv/repo/$1_$2.deb
  dpkg-deb -Znone --root-owner-group -b "$dir" "$file" >/dev/null
  { dpkg-deb -f "$file"; echo "Filename: ./$1_$2.deb"; echo "Size: $(wc -c <"$file")"
    echo "SHA256: $(sha256sum "$file" | cut -d' ' -f1)"; echo; } >>/srv/repo/Packages
}
add play-library 1.0 ''
add play-hello 1.0 play-library
add play-hello 2.0 play-library
add play-other 1.0 ''
add play-broken 1.0 play-nowhere
cp /srv/repo/play-other_1.0.deb /srv/other.deb
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv/repo ./' >/etc/apt/sources.list
echo 'APT::Sandbox::User "root"; Acquire::Languages "none";' >/etc/apt/apt.conf.d/99play
mkdir -p /opt/one /opt/two
for n in one two; do printf '#!/bin/sh\necho %s\n' $n >/opt/$n/tool; chmod 755 /opt/$n/tool; done
grep -q '^crontab:' /etc/group || groupadd --system --gid 990 crontab
mkdir -p /var/spool/cron/crontabs /etc/cron.d
chgrp crontab /var/spool/cron/crontabs
chmod 1730 /var/spool/cron/crontabs
[ -e /etc/locale.gen ] || sed 's/^/# /' /usr/share/i18n/SUPPORTED >/etc/locale.gen
cat >/etc/init.d/playd <<'END'
#!/bin/sh
### BEGIN INIT INFO
# Provides: playd
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
# Short-Description: a service for tests
### END INIT INFO
case $1 in
start) : >/run/playd ;;
stop) rm -f /run/playd ;;
restart | reload) echo "$1" >/run/playd ;;
status) if [ -e /run/playd ]; then echo playd is running; else echo playd is stopped; exit 3; fi ;;
esac
END
chmod 755 /etc/init.d/playd
printf '# fs\nUUID=1 / ext4 errors=remount-ro 0 1\n' >/etc/fstab
printf 'vm.swappiness = 60\n' >/etc/sysctl.d/50-play.conf
mkdir -p /etc/security
printf '#* soft core 0\n# End of file\n' >/etc/security/limits.conf
echo Etc/UTC >/etc/timezone
ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime
mkdir -p -m 700 /root/.ssh
