// Package leftover sees to it that a killed agent leaves nothing behind. Flowing
// in: the process groups that run and the temporary files that are written at
// the moment. Flowing out: nothing, as long as the process lives; when it is
// killed (kill -9, out of memory), a shell that waits for the end of a pipe ends
// those groups and removes those files. It never touches what was done with:
// what a command has left running in the background stays.
package leftover

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"play/modules/procfs"
)

// watcher is the process's one watch; the zero one watches nothing.
type watcher struct {
	mu      sync.Mutex
	folder  string // removed at the end, too; "": none
	env     []string
	enabled bool
	pipe    *os.File // to the shell; nil: it was not needed yet
	last    int      // number of the last note
}

// The watch is the whole process's, as its death is.
var watch watcher

// Watch begins to keep notes for the rest of this process's life. A private
// folder of it ("": none) is removed with the rest. The shell starts with the
// first note, in env.
func Watch(folder string, env []string) {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	watch.folder, watch.env, watch.enabled = folder, env, true
}

// Prepare starts the shell, so that what is started next is noted at once.
func Prepare() {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	watch.ready()
}

// Group notes a process group that runs, led by a child of this process that
// was not waited for; done tells that it is done with.
func Group(leader int) (done func()) {
	return watch.note('g', fmt.Sprintf("%d %s", leader, procfs.Start(leader)))
}

// File notes a temporary file that is about to be created; done tells that it is done with.
func File(path string) (done func()) {
	full, err := filepath.Abs(path)
	if err != nil || strings.ContainsAny(full, "\n\x00") {
		return func() {}
	}
	return watch.note('f', full)
}

// note tells the shell of something, and what is returned tells it that this is
// over.
func (w *watcher) note(kind byte, what string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ready() {
		return func() {}
	}
	w.last++
	number := w.last
	w.tell(fmt.Sprintf("%c %d %s;\n", kind, number, what))
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.tell(fmt.Sprintf("- %d\n", number))
	}
}

// ready starts the shell where that was not done yet; false: nothing is watched.
func (w *watcher) ready() bool {
	if w.enabled && w.pipe == nil {
		w.enabled = w.start() // without a shell this host has to do without
	}
	return w.enabled
}

// tellWithin bounds the wait for a shell that does not read.
const tellWithin = 5 * time.Second

// tell writes one line; a shell that is gone is told nothing more.
func (w *watcher) tell(line string) {
	if !w.enabled {
		return
	}
	_ = w.pipe.SetWriteDeadline(time.Now().Add(tellWithin)) // pipes have deadlines
	if _, err := w.pipe.WriteString(line); err != nil {
		w.enabled = false
	}
}

// start starts the shell, in a session of its own: what ends this process's
// group or terminal must not end it, too.
func (w *watcher) start() bool {
	in, out, err := os.Pipe()
	if err != nil {
		return false
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", script, "play-agent-watch", w.folder)
	cmd.Env, cmd.Dir, cmd.Stdin = w.env, "/", in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		out.Close()
		return false
	}
	go func() { _ = cmd.Wait() }() // it ends after us, or was killed
	w.pipe = out
	return true
}

// script keeps the notes ("g NUMBER GROUP START;", "f NUMBER PATH;", "- NUMBER")
// in variables until its input ends. A group whose leader's number belongs to
// a process of another start is another group.
const script = `folder=$1 all=" "
while read -r kind number what; do
  case $kind in
    -) all="${all%%" $number "*} ${all#*" $number "}"; unset "note$number" ;;
    *) all="$all$number "; eval "note$number=\"\$kind \${what%;}\"" ;;
  esac
done
is_ours() {
  [ -n "$2" ] && read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  start=$2
  set -- ${stat##*)}
  [ "${20}" = "$start" ]
}
send() {
  signal=$1 some=
  for number in $all; do
    eval "note=\$note$number"
    case $note in g*) set -- $note; is_ours "$2" "$3" && kill "-$signal" "-$2" 2>/dev/null && some=yes ;; esac
  done
  [ "$some" ]
}
for number in $all; do
  eval "note=\$note$number"
  case $note in f*) rm -f -- "${note#f }" ;; esac
done
if send TERM; then
  sleep 1
  send 0 && sleep 1
  send KILL
fi
[ -z "$folder" ] || rm -rf -- "$folder"
`
