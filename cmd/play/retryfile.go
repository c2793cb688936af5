package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/engine/source"
	"play/strategy"
)

// keepRetry writes the hosts that failed or could not be reached into a file for
// --limit (retry_files_enabled): beside the playbook, or in
// retry_files_save_path. The hint goes where results go.
func (s *session) keepRetry(book string, hosts []string) {
	if !s.opts.Settings.RetryFiles || len(hosts) == 0 {
		return
	}
	dir := s.opts.Settings.RetryPath
	if dir == "" {
		dir = filepath.Dir(book)
	}
	path, err := filepath.Abs(filepath.Join(dir, strings.TrimSuffix(filepath.Base(book), filepath.Ext(book))+".retry"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Join(hosts, "\n")+"\n"), 0o644)
	}
	if err != nil {
		s.sink.Warning(fmt.Sprintf("cannot write the retry file: %v", err), source.Pos{})
		return
	}
	s.sink.Say("\tto retry, use: --limit @" + path)
}

// retried are the hosts to try again, sorted.
func retried(r *strategy.Report) []string {
	hosts := slices.Concat(r.Failed, r.Unreachable)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
