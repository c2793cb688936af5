package facts

import (
	"strconv"
	"strings"

	"play/modules/value"
)

// networkInterface describes one interface from /sys/class/net.
func (h *Host) networkInterface(name string) *value.Dict {
	dir := "/sys/class/net/" + name
	d := value.DictOf("device", name)
	if mac := h.read(dir + "/address"); mac != "" && mac != "00:00:00:00:00:00" {
		d.Set("macaddress", mac)
	}
	setInt(d, "mtu", h.read(dir+"/mtu"))
	if state := h.read(dir + "/operstate"); state != "" {
		d.Set("active", state != "down")
	}
	if module := h.linkBase(dir + "/device/driver/module"); module != "" {
		d.Set("module", module)
	}
	if kind, ok := map[string]string{"1": "ether", "32": "infiniband", "512": "ppp", "772": "loopback", "65534": "tunnel"}[h.read(dir+"/type")]; ok {
		d.Set("type", kind)
	}
	h.bridge(d, dir)
	h.bond(d, dir)
	setInt(d, "speed", h.read(dir+"/speed"))
	if device := h.linkBase(dir + "/device"); device != "" {
		d.Set("pciid", device)
	}
	if flags, err := strconv.ParseInt(h.read(dir+"/flags"), 0, 64); err == nil {
		d.Set("promisc", flags&0x100 != 0)
	}
	return d
}

func setInt(d *value.Dict, key, text string) {
	if n, err := strconv.Atoi(text); err == nil {
		d.Set(key, n)
	}
}

func (h *Host) bridge(d *value.Dict, dir string) {
	if !h.exists(dir + "/bridge") {
		return
	}
	d.Set("type", "bridge")
	d.Set("interfaces", listOf(h.list(dir+"/brif")))
	if id := h.read(dir + "/bridge/bridge_id"); id != "" {
		d.Set("id", id)
	}
	if stp := h.read(dir + "/bridge/stp_state"); stp != "" {
		d.Set("stp", stp == "1")
	}
}

func (h *Host) bond(d *value.Dict, dir string) {
	if !h.exists(dir + "/bonding") {
		if mac := h.read(dir + "/bonding_slave/perm_hwaddr"); mac != "" {
			d.Set("perm_macaddress", mac)
		}
		return
	}
	d.Set("type", "bonding")
	d.Set("slaves", listOf(strings.Fields(h.read(dir+"/bonding/slaves"))))
	first := func(name string) string {
		word, _, _ := strings.Cut(h.read(dir+"/bonding/"+name), " ")
		return word
	}
	d.Set("mode", first("mode"))
	d.Set("miimon", first("miimon"))
	d.Set("lacp_rate", first("lacp_rate"))
	if primary := h.read(dir + "/bonding/primary"); primary != "" {
		d.Set("primary", primary)
		if active := h.read(dir + "/bonding/all_slaves_active"); active != "" {
			d.Set("all_slaves_active", active == "1")
		}
	}
}
