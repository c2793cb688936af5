package start

import (
	"fmt"
	"strings"

	"play/connection"
)

// The scripts below are one line each and hold no single quote, backslash or
// exclamation mark, so that sh, csh and fish all pass them on unchanged as one
// single-quoted word. Every answer is a line that begins with a random marker,
// since a login shell's profile may print anything before.
//
//	<marker> S                     the agent's own bytes follow
//	<marker> R <reason>            a folder was passed over
//	<marker> N <index> <os> <arch> <folder>   the agent is missing; it may go there
//	<marker> X <os> <arch>         no folder is left

// prelude sets M (marker), U (uid), P ("Linux x86_64"), N (the agent's file
// name: the folder may be shared by machines of several kinds) and the
// candidate folders as $@. HOME and the run-time folder count only where they are
// the user's own: after su or sudo they may still be those of another.
const prelude = `M=%s; U=$(id -u); P=$(uname -sm); N="%s-${P%% *}-${P#* }"; ` +
	`say() { echo "$M $*"; }; ` +
	`H=; [ -O "$HOME" ] && H="$HOME"; R=; [ -O "$XDG_RUNTIME_DIR" ] && R="$XDG_RUNTIME_DIR"; ` +
	`set -- %s "${H:+$H/.cache/play}" "${R:+$R/play}" "/var/tmp/play-$U" "/tmp/play-$U"; `

// present starts the agent when a candidate folder has it.
const present = `for d in "$@"; do f="$d/$N"; ` +
	`if [ -x "$f" ] && [ -O "$f" ] && [ -O "$d" ]; then ` +
	`if [ -L "$d" ] || [ -L "$f" ]; then continue; fi; ` +
	`say S; exec "$f" %s; fi; done; `

// choose finds the first folder that can take the agent: absolute, the user's
// own, no symbolic link, closed to others, writable, and allowing execution (a
// file without an interpreter line is run by the shell itself, but only after
// the kernel was ready to execute it).
const choose = `umask 077; i=0; for d in "$@"; do i=$((i+1)); ` +
	`case "%s" in *" $i "*) continue;; esac; ` +
	`case "$d" in /*) ;; *) continue;; esac; ` +
	`if [ -L "$d" ]; then say R "$d is a symbolic link"; continue; fi; ` +
	`e=$(mkdir -p "$d" 2>&1) || { say R "$e"; continue; }; ` +
	`[ -O "$d" ] || { say R "$d belongs to another user"; continue; }; ` +
	`chmod 0700 "$d" 2>/dev/null; ` +
	`case "$(ls -ld "$d")" in drwx------*) ;; *) say R "$d is open to other users"; continue;; esac; ` +
	`t="$d/.try-$M"; e=$({ echo : >"$t" && chmod 0700 "$t"; } 2>&1) || { rm -f "$t"; say R "$d: $e"; rmdir "$d" 2>/dev/null; continue; }; ` +
	`e=$("$t" 2>&1) || { rm -f "$t"; say R "$d does not allow execution: $e"; rmdir "$d" 2>/dev/null; continue; }; ` +
	`rm -f "$t"; say N "$i" "$P" "$d"; exit 0; done; say X "$P"`

// findScript starts the agent or answers where it can go. skip are the indexes
// of folders that have failed; fresh passes over a copy that is there.
func findScript(marker string, c *config, skip []int, fresh bool) string {
	skipped := " "
	for _, i := range skip {
		skipped += fmt.Sprintf("%d ", i)
	}
	script := fmt.Sprintf(prelude, marker, "agent-"+c.agents.ID(), c.remoteTmp)
	if c.ready != "" && !fresh {
		script = fmt.Sprintf(`if [ -x %s ]; then echo "%s S"; exec %s; fi; `, c.ready, marker, c.ready+" "+c.readyArgs) + script
	}
	if !fresh {
		script += fmt.Sprintf(present, c.args)
	}
	return script + fmt.Sprintf(choose, skipped)
}

// receiveScript writes its input to a new file, or leaves nothing.
func receiveScript(path string) string {
	return fmt.Sprintf(`umask 077; t=%s; cat >"$t" || { rm -f "$t"; rmdir "${t%%/*}" 2>/dev/null; exit 1; }`, connection.Quote(path))
}

// finish checks the uploaded file by size and, where the host has a tool for
// it, by hash; puts it in place under its name; clears away what other versions
// and broken uploads left long ago; and starts it.
const finish = `M=%s; d=%s; t="$d/%s"; P=$(uname -sm); f="$d/%s-${P%% *}-${P#* }"; ` +
	`bad() { rm -f "$t"; rmdir "$d" 2>/dev/null; echo "$M R $*"; exit 1; }; ` +
	`s=$(wc -c <"$t") || bad "the file uploaded to $d is not there"; ` +
	`[ "$s" -eq %d ] || bad "$d took only $s of %d bytes"; ` +
	`h=$( (sha256sum "$t" || shasum -a 256 "$t" || sha256 -q "$t" || openssl dgst -sha256 -r "$t") 2>/dev/null ); ` +
	`case "${h%%%% *}" in ""|%s) ;; *) bad "the file uploaded to $d is damaged";; esac; ` +
	`e=$(chmod 0700 "$t" 2>&1 && mv -f "$t" "$f" 2>&1) || bad "$e"; ` +
	`find "$d" -name "agent-*" -mtime +30 -exec rm -f {} + 2>/dev/null; ` +
	`find "$d" -name ".up-*" -mtime +1 -exec rm -f {} + 2>/dev/null; ` +
	`echo "$M S"; exec "$f" %s`

func finishScript(marker, dir, temp string, c *config, b Binary) string {
	return fmt.Sprintf(finish, marker, connection.Quote(dir), temp, "agent-"+c.agents.ID(), b.Size, b.Size, b.Hash, c.args)
}

// remoteFolder turns the operator's folder into shell words: the agent gets a
// folder of its own in it.
func remoteFolder(dir string) (string, error) {
	home, rest := "", dir
	for _, prefix := range []string{"~/", "$HOME/"} {
		if r, ok := strings.CutPrefix(dir, prefix); ok {
			home, rest = "$H/", r
		}
	}
	switch {
	case dir == "":
		return "", nil
	case strings.ContainsAny(rest, "'\\!\"$`\n\r"):
		return "", fmt.Errorf("cannot use the remote folder %q: it has a character that shells treat specially", dir)
	case home != "":
		return `"${H:+$H/` + rest + `/play-$U}"`, nil
	}
	return `"` + rest + `/play-$U"`, nil
}
