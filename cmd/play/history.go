package main

import (
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/history"
	"play/engine/source"
	"play/engine/vault"
)

// historyPath is the file of the history in the user's data folder; "" when
// there is no such folder.
func historyPath(h *host) string {
	if dir := h.env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "play", "history.db")
	}
	home := h.env("HOME")
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Join(home, ".local", "share", "play", "history.db")
}

// keeper keeps a run in the history, or does nothing.
type keeper struct {
	recorder *history.Recorder // nil: nothing is kept
	retain   history.Retention
	secrets  *vault.Noted // set before the run begins
}

func newKeeper(h *host, o *options, c *cli.Context, kind string) *keeper {
	k := &keeper{retain: history.Retention{Age: time.Duration(o.Settings.HistoryDays) * 24 * time.Hour, Count: o.Settings.HistoryRuns}}
	path := historyPath(h)
	if path == "" || o.Settings.NoHistory || c.Bool("no-history") {
		return k
	}
	about := history.About{Kind: kind, Version: version, Dir: h.Dir, Options: keptOptions(h, o, c.Args().Slice()),
		Mask: func(text string) string { return k.secrets.Mask(text) }}
	if u, err := user.Current(); err == nil {
		about.User = u.Username
	}
	k.recorder = history.NewRecorder(path, about)
	return k
}

// keptOptions are what the history tells of the command line.
func keptOptions(h *host, o *options, playbooks []string) history.Options {
	kept := history.Options{Limit: o.Limit, Tags: o.Tags, SkipTags: o.SkipTags, Check: o.Check, Diff: o.Diff, Inventory: o.Inventory, StartAt: o.StartAt}
	for _, p := range playbooks {
		kept.Playbooks = append(kept.Playbooks, h.path(p))
	}
	return kept
}

// with adds the recorder to what is told of the run.
func (k *keeper) with(sinks []event.Sink) []event.Sink {
	if k.recorder == nil {
		return sinks
	}
	return append(sinks, k.recorder)
}

// end ends the run in the history and returns its number, 0 if there is none. A
// history that cannot be written is a warning.
func (k *keeper) end(sink event.Sink, e history.End) int64 {
	if k.recorder == nil {
		return 0
	}
	e.Keep = k.retain
	id, err := k.recorder.Close(e)
	if err != nil {
		sink.Warning(err.Error()+"; --no-history keeps no run", source.Pos{})
	}
	return id
}
