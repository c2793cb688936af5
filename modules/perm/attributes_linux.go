package perm

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// flagBits are the kernel's inode flags by lsattr's letters, in lsattr's order.
func flagBits() []struct {
	letter rune
	bit    uint32
} {
	return []struct {
		letter rune
		bit    uint32
	}{
		{'s', 0x1}, {'u', 0x2}, {'S', 0x8}, {'D', 0x10000}, {'i', 0x10}, {'a', 0x20}, {'d', 0x40}, {'A', 0x80},
		{'c', 0x4}, {'B', 0x100}, {'Z', 0x100}, {'X', 0x200}, {'E', 0x800}, {'j', 0x4000}, {'I', 0x1000},
		{'t', 0x8000}, {'T', 0x20000}, {'e', 0x80000}, {'C', 0x800000}, {'x', 0x2000000}, {'F', 0x40000000},
		{'N', 0x10000000}, {'P', 0x20000000}, {'V', 0x100000},
	}
}

// Flags returns a regular file's or directory's attribute letters and version
// number. Other files and file systems without them are an error.
func Flags(path string) (letters string, version uint32, err error) {
	f, err := openForFlags(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	bits, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return "", 0, err
	}
	for _, fb := range flagBits() {
		if bits&fb.bit != 0 && fb.letter != 'Z' {
			letters += string(fb.letter)
		}
	}
	version, err = unix.IoctlGetUint32(int(f.Fd()), fsIocGetVersion)
	if err != nil {
		version = 0 // some file systems have flags and no versions
	}
	return letters, version, nil
}

// fsIocGetVersion is FS_IOC_GETVERSION of 64-bit Linux.
const fsIocGetVersion = 0x80087601

func openForFlags(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, unix.EOPNOTSUPP
	}
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
}

func setFlags(path string, op byte, letters string) error {
	f, err := openForFlags(path)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	want, err := bitsOf(letters)
	if err != nil {
		return err
	}
	switch op {
	case '+':
		want |= have
	case '-':
		want = have &^ want
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(want))
}

func bitsOf(letters string) (uint32, error) {
	var bits uint32
	for _, l := range letters {
		known := false
		for _, fb := range flagBits() {
			if fb.letter == l {
				bits |= fb.bit
				known = true
			}
		}
		if !known || !strings.ContainsRune("aAcCdDeijPsStTuFx", l) {
			return 0, fmt.Errorf("%q is no attribute that can be set", string(l))
		}
	}
	return bits, nil
}
