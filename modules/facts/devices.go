package facts

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/modules/value"
)

// diskLinks are the names that udev gives to disks, by device and kind.
type diskLinks map[string]map[string][]string

// devices describes the block devices.
func devices(ctx context.Context, h *Host) *value.Dict {
	links := diskLinks{}
	for kind, dir := range map[string]string{"ids": "by-id", "uuids": "by-uuid", "labels": "by-label"} {
		links[kind] = h.linksIn("/dev/disk/" + dir)
	}
	links["masters"] = h.masters()
	disks := value.NewDict()
	for _, name := range h.list("/sys/block") {
		disks.Set(name, h.disk(ctx, name, links))
	}
	shown := value.NewDict()
	for _, kind := range []string{"ids", "uuids", "labels", "masters"} {
		d := value.NewDict()
		for _, device := range sortedKeys(links[kind]) {
			d.Set(device, listOf(links[kind][device]))
		}
		shown.Set(kind, d)
	}
	return value.DictOf("devices", disks, "device_links", shown)
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// linksIn reads a folder of links: device name to the links' names.
func (h *Host) linksIn(dir string) map[string][]string {
	found := map[string][]string{}
	for _, name := range h.list(dir) {
		if device := h.linkBase(dir + "/" + name); device != "" {
			found[device] = append(found[device], name)
		}
	}
	return found
}

// masters are the devices built on a device.
func (h *Host) masters() map[string][]string {
	found := map[string][]string{}
	for _, master := range h.list("/sys/block") {
		for _, slave := range h.list("/sys/block/" + master + "/slaves") {
			found[slave] = append(found[slave], master)
		}
	}
	return found
}

func (l diskLinks) of(device string) *value.Dict {
	d := value.NewDict()
	for _, kind := range []string{"ids", "uuids", "labels", "masters"} {
		d.Set(kind, listOf(l[kind][device]))
	}
	return d
}

func (h *Host) disk(ctx context.Context, name string, links diskLinks) *value.Dict {
	dir := "/sys/block/" + name
	d := value.DictOf("virtual", 1, "links", links.of(name))
	for _, f := range []struct{ key, file string }{
		{"vendor", "/device/vendor"}, {"model", "/device/model"}, {"sas_address", "/device/sas_address"},
		{"sas_device_handle", "/device/sas_device_handle"}, {"removable", "/removable"}, {"support_discard", "/queue/discard_granularity"},
		{"rotational", "/queue/rotational"},
	} {
		d.Set(f.key, h.readOr(dir+f.file, nil))
	}
	h.serialAndWWN(d, name)
	d.Set("partitions", h.partitions(name, links))
	d.Set("scheduler_mode", bracketed(h.read(dir+"/queue/scheduler")))
	h.size(d, dir)
	d.Set("host", h.controller(ctx, dir))
	d.Set("holders", listOf(h.holders(dir)))
	return d
}

func (h *Host) size(d *value.Dict, dir string) {
	sectors := h.readOr(dir+"/size", "0").(string)
	d.Set("sectors", sectors)
	size := h.read(dir + "/queue/logical_block_size")
	if size == "" {
		size = h.readOr(dir+"/queue/hw_sector_size", "512").(string)
	}
	d.Set("sectorsize", size)
	n, _ := strconv.ParseFloat(sectors, 64)
	d.Set("size", humanBytes(n*512))
}

// serialAndWWN come from the device and from udev's names.
func (h *Host) serialAndWWN(d *value.Dict, name string) {
	if serial := h.read("/sys/block/" + name + "/device/serial"); serial != "" {
		d.Set("serial", serial)
	}
	for _, link := range h.list("/dev/disk/by-id") {
		if strings.HasPrefix(link, "wwn-") && h.linkBase("/dev/disk/by-id/"+link) == name {
			d.Set("wwn", strings.TrimPrefix(link, "wwn-"))
			return
		}
	}
}

// bracketed returns the word in brackets: the chosen one of several.
func bracketed(text string) string {
	m := regexp.MustCompile(`\[(.+?)\]`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}

func (h *Host) partitions(disk string, links diskLinks) *value.Dict {
	all := value.NewDict()
	partition := regexp.MustCompile("^" + regexp.QuoteMeta(disk) + `p?\d+$`)
	for _, name := range h.list("/sys/block/" + disk) {
		if !partition.MatchString(name) {
			continue
		}
		dir := "/sys/block/" + disk + "/" + name
		p := value.DictOf("links", links.of(name), "start", h.readOr(dir+"/start", "0"))
		h.size(p, dir)
		var uuid any
		if found := links["uuids"][name]; len(found) > 0 {
			uuid = found[0]
		}
		p.Set("uuid", uuid)
		p.Set("holders", listOf(h.holders(dir)))
		all.Set(name, p)
	}
	return all
}

// holders are the devices that use a device; device mapper ones by their name.
func (h *Host) holders(dir string) []string {
	var out []string
	for _, name := range h.list(dir + "/holders") {
		if mapped := h.read("/sys/block/" + name + "/dm/name"); strings.HasPrefix(name, "dm-") && mapped != "" {
			name = mapped
		}
		out = append(out, name)
	}
	return out
}

// controller is what lspci calls the PCI device that a disk hangs on.
func (h *Host) controller(ctx context.Context, dir string) string {
	real, err := filepath.EvalSymlinks(h.path(dir))
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`/([a-f0-9]{4}:[a-f0-9]{2}:[0|1][a-f0-9]\.[0-7])/`).FindAllStringSubmatch(real, -1)
	if len(m) == 0 {
		return ""
	}
	id := m[len(m)-1][1]
	for line := range strings.Lines(h.ask(ctx, "lspci", "-D")) {
		if rest, ok := strings.CutPrefix(line, id); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// mountUUID finds the id of a file system's device: by udev's links, else in
// udev's database.
func (h *Host) mountUUID(device string) string {
	real, err := filepath.EvalSymlinks(h.path(device))
	if err != nil {
		return "N/A"
	}
	for _, uuid := range h.list("/dev/disk/by-uuid") {
		if h.linkBase("/dev/disk/by-uuid/"+uuid) == filepath.Base(real) {
			return uuid
		}
	}
	if dev := h.read("/sys/class/block/" + filepath.Base(real) + "/dev"); dev != "" {
		for _, line := range h.lines("/run/udev/data/b" + dev) {
			if uuid, ok := strings.CutPrefix(line, "E:ID_FS_UUID="); ok {
				return uuid
			}
		}
	}
	return "N/A"
}
