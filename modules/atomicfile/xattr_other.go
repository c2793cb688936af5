//go:build !linux

package atomicfile

// copyXattrs does nothing where the attributes' interface differs.
func copyXattrs(string, string) {}
