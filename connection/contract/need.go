package contract

import (
	"os"
	"os/exec"
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

// NeedMounts skips the test where a process cannot have mounts of its own: the
// tests run as somebody else than root, or in a container that forbids them.
func NeedMounts(t testing.TB) {
	t.Helper()
	out, err := exec.Command("unshare", "-m", "/bin/sh", "-c", "mount -t tmpfs none /mnt && mount --bind /mnt /mnt").CombinedOutput()
	if err != nil {
		t.Skipf("this machine lets nobody mount (CAP_SYS_ADMIN): %v: %s", err, out)
	}
}
