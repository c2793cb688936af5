package facts

import (
	"context"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"play/modules/value"
)

// chroot tells whether the root folder is not the system's own.
func chroot(h *Host) *value.Dict {
	if _, ok := os.LookupEnv("debian_chroot"); ok {
		return value.DictOf("is_chroot", true)
	}
	var mine, init unix.Stat_t
	if err := unix.Stat(h.path("/"), &mine); err != nil {
		return value.DictOf("is_chroot", nil)
	}
	if err := unix.Stat(h.path("/proc/1/root/."), &init); err == nil {
		return value.DictOf("is_chroot", mine.Ino != init.Ino || mine.Dev != init.Dev)
	}
	// Without a look at process 1 the number of the root folder has to tell.
	return value.DictOf("is_chroot", mine.Ino != rootInode(h))
}

func rootInode(h *Host) uint64 {
	for _, line := range h.lines("/proc/mounts") {
		fields := strings.Fields(line)
		if len(fields) > 2 && fields[1] == "/" {
			switch fields[2] {
			case "btrfs":
				return 256
			case "xfs":
				return 128
			}
		}
	}
	return 2
}

func loadAverage(h *Host) *value.Dict {
	fields := strings.Fields(h.read("/proc/loadavg"))
	if len(fields) < 3 {
		return value.NewDict()
	}
	d := value.NewDict()
	for i, name := range []string{"1m", "5m", "15m"} {
		f, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return value.NewDict()
		}
		d.Set(name, f)
	}
	return value.DictOf("loadavg", d)
}

func iscsi(h *Host) *value.Dict {
	for _, line := range h.lines("/etc/iscsi/initiatorname.iscsi") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "InitiatorName="); ok {
			return value.DictOf("iscsi_iqn", name)
		}
	}
	return value.DictOf("iscsi_iqn", "")
}

func nvme(h *Host) *value.Dict {
	for _, line := range h.lines("/etc/nvme/hostnqn") {
		if strings.HasPrefix(line, "nqn.") {
			return value.DictOf("hostnqn", strings.TrimSpace(line))
		}
	}
	return value.DictOf("hostnqn", "")
}

func fibreChannel(h *Host) *value.Dict {
	names := value.NewList()
	for _, host := range h.list("/sys/class/fc_host") {
		if name := h.read("/sys/class/fc_host/" + host + "/port_name"); name != "" {
			names.Append(strings.TrimPrefix(name, "0x"))
		}
	}
	return value.DictOf("fibre_channel_wwn", names)
}

// facter and ohai add what these programs know, where they are installed.
func facter(ctx context.Context, h *Host) *value.Dict {
	return programFacts(ctx, h, "facter_", "facter", "--puppet", "--json")
}

func ohai(ctx context.Context, h *Host) *value.Dict { return programFacts(ctx, h, "ohai_", "ohai") }

func programFacts(ctx context.Context, h *Host, prefix string, argv ...string) *value.Dict {
	v, err := value.DecodeJSON([]byte(h.ask(ctx, argv...)))
	found, ok := v.(*value.Dict)
	d := value.NewDict()
	if err != nil || !ok {
		return d
	}
	for k, item := range found.All() {
		d.Set(prefix+value.Str(k), item)
	}
	return d
}
