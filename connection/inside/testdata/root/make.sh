#!/bin/sh
# make.sh FOLDER PACKAGE... [FILE.deb...]
#
# Makes a root file system of Debian packages that this machine has: those named,
# the essential ones and what they depend on, with their files and dpkg's state,
# users and groups as a fresh system has them, and nothing else of the machine. Of
# a package's file, the content alone is added. It needs no network and mounts
# nothing.
set -eu
export LC_ALL=C
root=$1
shift
packages= debs=
for p; do case $p in *.deb) debs="$debs $p" ;; *) packages="$packages $p" ;; esac; done
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64"
for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done

# The closure: of alternatives, the first that is installed.
dpkg-query -W -f '${db:Status-Status}\t${Package}\t${Provides}\t${Pre-Depends},${Depends}\t${Essential}\n' >"$root/.packages"
awk -F '\t' -v wanted="$packages" '
  function name(s) { gsub(/\(.*|:.*|^ +| +$/, "", s); gsub(/ /, "", s); return s }
  $1 == "installed" {
    depends[$2] = $4; real[$2] = $2
    if ($5 == "yes") wanted = wanted " " $2
    n = split($3, given, ","); for (i = 1; i <= n; i++) if (!(name(given[i]) in provided)) provided[name(given[i])] = $2
  }
  END {
    last = split(wanted, queue, " ")
    for (at = 1; at <= last; at++) {
      p = queue[at]
      if (p in seen) continue
      if (!(p in real)) { print "not installed: " p > "/dev/stderr"; exit 3 }
      seen[p] = 1; print p
      n = split(depends[p], d, ",")
      for (i = 1; i <= n; i++) {
        m = split(d[i], alt, "|")
        for (j = 1; j <= m; j++) {
          a = name(alt[j])
          if (a == "") break
          if (a in real) { queue[++last] = a; break }
          if (a in provided) { queue[++last] = provided[a]; break }
        }
      }
    }
  }' "$root/.packages" >"$root/.closure"

# Their files.
xargs dpkg-query -L <"$root/.closure" | grep '^/' | sort -u |
  grep -Ev '^/(\.|bin|sbin|lib|lib32|lib64|libx32)$|^/usr/share/(doc|man|locale|info|lintian|bug)/' |
  sed 's|^/||' >"$root/.files"
tar -C / --no-recursion --ignore-failed-read -cf - -T "$root/.files" 2>/dev/null | tar -C "$root" -xf - || [ -e "$root/usr/bin/dpkg" ]

for p in $debs; do dpkg-deb --fsys-tarfile "$p" | tar -C "$root" --keep-directory-symlink -xf -; done

# What dpkg knows of them.
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/alternatives" "$root/var/lib/dpkg/parts" "$root/var/lib/dpkg/triggers"
awk -v list="$root/.closure" 'BEGIN { while ((getline p < list) > 0) keep[p] = 1; RS = ""; FS = "\n" }
  { split($1, f, ": "); if (f[2] in keep) print $0 "\n" }' /var/lib/dpkg/status >"$root/var/lib/dpkg/status"
while read -r package; do
  cp -a /var/lib/dpkg/info/"$package".* /var/lib/dpkg/info/"$package":* "$root/var/lib/dpkg/info/" 2>/dev/null || :
done <"$root/.closure"
rm -f "$root"/var/lib/dpkg/info/*.postinst "$root"/var/lib/dpkg/info/*.triggers
touch "$root/var/lib/dpkg/available"
cp -a /var/lib/dpkg/info/format "$root/var/lib/dpkg/info/"
[ ! -e /var/lib/dpkg/arch ] || cp -a /var/lib/dpkg/arch "$root/var/lib/dpkg/"

# What the packages' own scripts would have made.
mkdir -p "$root/dev" "$root/proc" "$root/root" "$root/home" "$root/run" "$root/tmp" "$root/var/log/apt" "$root/var/cache/debconf" \
  "$root/var/lib/apt/lists/partial" "$root/var/cache/apt/archives/partial" "$root/etc/apt/apt.conf.d" "$root/etc/apt/sources.list.d"
chmod 1777 "$root/tmp"
chmod 700 "$root/root"
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
sed 's/^\([^:]*\):.*/\1:*:19000:0:99999:7:::/' "$root/etc/passwd" >"$root/etc/shadow"
sed 's/^\([^:]*\):.*/\1:*::/' "$root/etc/group" >"$root/etc/gshadow"
chmod 640 "$root/etc/shadow" "$root/etc/gshadow"
[ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"
[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
rm "$root/.packages" "$root/.files"
chroot "$root" /sbin/ldconfig
