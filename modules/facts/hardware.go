package facts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"play/modules/value"
)

// hardware has processors, memory, firmware, disks and mounts.
func hardware(ctx context.Context, h *Host) (*value.Dict, []string, error) {
	d := value.NewDict()
	d.Update(processors(h))
	d.Update(memory(h))
	d.Update(firmware(ctx, h))
	d.Update(devices(ctx, h))
	if up, _, ok := strings.Cut(h.read("/proc/uptime"), " "); ok {
		if f, err := strconv.ParseFloat(up, 64); err == nil {
			d.Set("uptime_seconds", int(f))
		}
	}
	d.Set("lvm", lvm(ctx, h))
	mounts, warnings := mounts(ctx, h)
	d.Set("mounts", mounts)
	return d, warnings, nil
}

// memory is in MiB, cut off as Ansible does.
func memory(h *Host) *value.Dict {
	mb := map[string]int{}
	for _, line := range h.lines("/proc/meminfo") {
		key, val, _ := strings.Cut(line, ":")
		if kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(val), " kB")); err == nil {
			mb[key] = kb / 1024
		}
	}
	if len(mb) == 0 {
		return value.NewDict()
	}
	noCacheFree := mb["MemFree"] + mb["Cached"] + mb["Buffers"]
	real := value.DictOf("total", mb["MemTotal"], "used", mb["MemTotal"]-mb["MemFree"], "free", mb["MemFree"])
	noCache := value.DictOf("free", noCacheFree, "used", mb["MemTotal"]-noCacheFree)
	swap := value.DictOf("total", mb["SwapTotal"], "free", mb["SwapFree"], "used", mb["SwapTotal"]-mb["SwapFree"], "cached", mb["SwapCached"])
	return value.DictOf("memtotal_mb", mb["MemTotal"], "memfree_mb", mb["MemFree"], "swaptotal_mb", mb["SwapTotal"],
		"swapfree_mb", mb["SwapFree"], "memory_mb", value.DictOf("real", real, "nocache", noCache, "swap", swap))
}

// humanBytes spells a size as "1.50 GB".
func humanBytes(n float64) string {
	for i, unit := range []string{"YB", "ZB", "EB", "PB", "TB", "GB", "MB", "KB"} {
		limit := 1.0
		for range 8 - i {
			limit *= 1024
		}
		if n >= limit {
			return fmt.Sprintf("%.2f %s", n/limit, unit)
		}
	}
	return fmt.Sprintf("%.2f Bytes", n)
}

// lvm lists volume groups, logical and physical volumes, where the tools are
// and the user is root.
func lvm(ctx context.Context, h *Host) any {
	if h.UID != 0 || h.Root != "" || !h.exists("/sbin/vgs") && !h.exists("/usr/sbin/vgs") {
		return "N/A"
	}
	table := func(program string, keys []string, columns ...string) *value.Dict {
		d := value.NewDict()
		out := h.ask(ctx, program, "--noheadings", "--nosuffix", "--units", "g", "--separator", ",", "-o", strings.Join(columns, ","))
		for line := range strings.Lines(out) {
			fields := strings.Split(strings.TrimSpace(line), ",")
			if len(fields) < len(columns) {
				continue
			}
			entry := value.NewDict()
			for i, k := range keys {
				entry.Set(k, fields[i+1])
			}
			d.Set(fields[0], entry)
		}
		return d
	}
	groups := table("vgs", []string{"num_pvs", "num_lvs", "size_g", "free_g"}, "vg_name", "pv_count", "lv_count", "vg_size", "vg_free")
	volumes := table("lvs", []string{"vg", "size_g"}, "lv_name", "vg_name", "lv_size")
	physical := table("pvs", []string{"vg", "size_g", "free_g"}, "pv_name", "vg_name", "pv_size", "pv_free")
	return value.DictOf("lvs", volumes, "vgs", groups, "pvs", physical)
}
