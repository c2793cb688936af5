package facts

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/value"
)

// mountWait bounds the question how full a file system is: a dead network file
// system never answers.
const mountWait = 3 * time.Second

// mounts lists the file systems that are on a device or on the network.
func mounts(ctx context.Context, h *Host) (*value.List, []string) {
	list := value.NewList()
	var warnings []string
	bound := h.bindMounts()
	for _, line := range h.mountLines() {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		for i := range fields {
			fields[i] = unescapeMount(fields[i])
		}
		device, mount, kind, options := fields[0], fields[1], fields[2], fields[3]
		if kind == "none" || !strings.HasPrefix(device, "/") && !strings.HasPrefix(device, "\\") && !strings.Contains(device, ":/") {
			continue
		}
		if bound[mount] && !strings.Contains(","+options+",", ",bind,") {
			options += ",bind"
		}
		d := value.DictOf("mount", mount, "device", device, "fstype", kind, "options", options)
		size, err := h.mountSize(ctx, mount)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("cannot ask how full %q is: %v", mount, err))
			d.Set("note", err.Error())
		}
		d.Update(size)
		d.Set("uuid", h.mountUUID(device))
		list.Append(d)
	}
	return list, warnings
}

func (h *Host) mountLines() []string {
	if lines := h.lines("/etc/mtab"); lines != nil {
		return lines
	}
	return h.lines("/proc/mounts")
}

// unescapeMount replaces the octal escapes of /proc/mounts.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// bindMounts are the mount points that show a part of a file system.
func (h *Host) bindMounts() map[string]bool {
	found := map[string]bool{}
	for _, line := range h.lines("/proc/self/mountinfo") {
		fields := strings.Fields(line)
		if len(fields) > 5 && fields[3] != "/" && strings.HasPrefix(fields[3], "/") && !strings.Contains(line, " - nsfs ") {
			found[unescapeMount(fields[4])] = true
		}
	}
	return found
}

// mountSize asks in a goroutine of its own, which stays behind when the file
// system hangs.
func (h *Host) mountSize(ctx context.Context, mount string) (*value.Dict, error) {
	type answer struct {
		d   *value.Dict
		err error
	}
	done := make(chan answer, 1)
	go func() {
		d, err := statFS(h.path(mount))
		done <- answer{d, err}
	}()
	select {
	case a := <-done:
		return a.d, a.err
	case <-time.After(mountWait):
		return nil, fmt.Errorf("no answer within %s", mountWait)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func statFS(path string) (*value.Dict, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return nil, err
	}
	block := int(st.Bsize)
	total, avail := int(st.Blocks), int(st.Bavail)
	inodes, free := int(st.Files), int(st.Ffree)
	return value.DictOf("size_total", total*fragment(&st), "size_available", avail*fragment(&st), "block_size", block,
		"block_total", total, "block_available", avail, "block_used", total-avail,
		"inode_total", inodes, "inode_available", free, "inode_used", inodes-free), nil
}
