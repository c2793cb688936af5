package fleet

import (
	"fmt"
	"os"
	"path/filepath"

	"play/connection"
)

// sudo stands in for the real one: it takes the usual flags, asks for the
// password as sudo -S does (three times at most), and runs the command as the
// same user, with a home folder in the other one's name.
const sudo = `#!/bin/sh
user=root prompt='[sudo] password: ' quiet= password=%s
while [ $# -gt 0 ]; do
  case "$1" in
    -p) prompt=$2; shift 2 ;;
    -u) user=$2; shift 2 ;;
    -n) quiet=1; shift ;;
    --) shift; break ;;
    -*) shift ;;
    *) break ;;
  esac
done
tries=0
while [ -n "$password" ]; do
  if [ -n "$quiet" ]; then echo "sudo: a password is required" >&2; exit 1; fi
  printf '%%s' "$prompt" >&2
  IFS= read -r line || exit 1
  echo "${FLEET_HOST:-?} asked" >> %s
  [ "$line" = "$password" ] && break
  tries=$((tries+1))
  if [ $tries -ge 3 ]; then echo "sudo: 3 incorrect password attempts" >&2; exit 1; fi
  echo "Sorry, try again." >&2
done
HOME=$FLEET_HOMES/$user USER=$user LOGNAME=$user SUDO_USER=$LOGNAME
export HOME USER LOGNAME SUDO_USER
mkdir -p "$HOME" && chmod 0700 "$HOME"
exec "$@"
`

// SudoLog is the file with one line for each password that sudo's stand-in read.
func (f *Fleet) SudoLog() string { return filepath.Join(f.Dir, "sudo.log") }

func (f *Fleet) writeSudo() error {
	bin := filepath.Join(f.Dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	script := fmt.Sprintf(sudo, connection.Quote(f.options.SudoPassword), connection.Quote(f.SudoLog()))
	if err := os.WriteFile(filepath.Join(bin, "shutdown"), []byte(shutdown), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bin, "sudo"), []byte(script), 0o700)
}
