package modules

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// aptListsTime is when the package lists were last updated: the stamp that
// update-notifier leaves, or the time of their folder.
func aptListsTime() time.Time {
	for _, path := range []string{"/var/lib/apt/periodic/update-success-stamp", "/var/lib/apt/lists"} {
		if info, err := os.Stat(path); err == nil {
			return info.ModTime()
		}
	}
	return time.Unix(0, 0)
}

// update refreshes the package lists when they are older than allowed.
func (a *aptRun) update() error {
	if age := time.Since(a.stamp); age <= time.Duration(a.CacheValidTime)*time.Second {
		return nil
	}
	if a.get.Check {
		a.updated = true
		return nil
	}
	if err := a.get.aptUpdate(a.Retries, a.RetryMaxDelay, a.LockTimeout); err != nil {
		return err
	}
	stamp := aptListsTime()
	a.updated = !stamp.Equal(a.stamp)
	a.stamp = stamp
	return nil
}

// aptUpdate runs apt-get update until it succeeds, with growing pauses; waiting
// for a lock counts on its own.
func (t *pkgTool) aptUpdate(retries, maxDelay, lockTimeout int) error {
	reason := "unknown reason"
	for try := range max(retries, 1) {
		out, err := t.aptLocked(lockTimeout, "update")
		if err != nil {
			return err
		}
		if out.RC == 0 {
			return nil
		}
		if text := aptWords(out.Stderr); text != "" {
			reason = text
		}
		if try+1 == retries {
			break
		}
		delay := min(1<<min(try, 20), maxDelay)*1000 + rand.IntN(1000)
		select {
		case <-t.Done():
			return t.Err()
		case <-time.After(time.Duration(delay) * time.Millisecond):
		}
	}
	return Failf("Failed to update apt cache: %s", reason)
}

// aptWords is what apt complains of in the form of python-apt: each thing once,
// in one line.
func aptWords(stderr string) string {
	var words []string
	for _, line := range outLines(strings.TrimSpace(stderr)) {
		for _, kind := range []string{"E:", "W:"} {
			if rest, ok := strings.CutPrefix(line, kind+" "); ok {
				line = kind + rest
			}
		}
		if !slices.Contains(words, line) {
			words = append(words, line)
		}
	}
	return strings.Join(words, ", ")
}

// aptLocked runs the program, again while another process holds apt's lock, for
// at most timeout seconds.
func (t *pkgTool) aptLocked(timeout int, args ...string) (*pkgOutcome, error) {
	end := time.Now().Add(time.Duration(timeout) * time.Second)
	for {
		out, err := t.run(args...)
		if err != nil || out.RC == 0 || !aptWasLocked(out.Stderr) || time.Now().After(end) {
			return out, err
		}
		select {
		case <-t.Done():
			return nil, t.Err()
		case <-time.After(time.Second):
		}
	}
}

func aptWasLocked(stderr string) bool {
	for _, text := range []string{"Could not get lock", "Unable to acquire the dpkg frontend lock", "Unable to lock directory"} {
		if strings.Contains(stderr, text) {
			return true
		}
	}
	return false
}
