package contract

import (
	"os"
	"testing"
)

// NoSkip is the environment variable under which a machine must have all that
// tests need; continuous integration sets it.
const NoSkip = "PLAY_NO_SKIP"

// Need skips the test, with the reason, on a machine that lacks what it needs;
// where nothing may be skipped it fails the test.
func Need(t testing.TB, have bool, lack string) {
	t.Helper()
	if have {
		return
	}
	if os.Getenv(NoSkip) != "" {
		t.Fatalf("%s, and %s forbids to skip", lack, NoSkip)
	}
	t.Skip(lack)
}

// NeedFile needs a file, such as a program at its usual place.
func NeedFile(t testing.TB, path, lack string) {
	t.Helper()
	_, err := os.Stat(path)
	Need(t, err == nil, lack)
}
