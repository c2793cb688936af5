package facts

import (
	"context"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"play/modules/value"
)

// The expectations were seen with ansible-core 2.14.18's setup.
func TestChoose(t *testing.T) {
	t.Parallel()
	minimal := "platform distribution lsb user env date_time dns cmdline apparmor selinux fips caps python pkg_mgr service_mgr ssh_pub_keys local"
	for _, c := range []struct{ subsets, want string }{
		{"!all", minimal}, {"min", minimal}, {"!hardware", minimal}, {"!bogus", minimal}, {"!all,!facter", minimal},
		{"!all,!min", ""}, {"!min", ""}, {"!all,!min,facter", "facter"},
		{"!all,!min,pkg_mgr", "pkg_mgr distribution"}, {"!all,!min,distribution_version", "distribution"},
		{"!all,!min,network", "network platform distribution"}, {"!all,!min,all_ipv4_addresses", "network platform distribution"},
		{"!all,!min,mounts", "hardware platform"}, {"!all,!min,service_mgr", "service_mgr platform distribution"},
		{"!all,!min,virtual", "virtual"}, {"!all,!min,chroot", "chroot"}, {"network", minimal + " network"},
	} {
		chosen, err := choose(collectors(), strings.Split(c.subsets, ","))
		if err != nil {
			t.Errorf("%s: %v", c.subsets, err)
			continue
		}
		var names []string
		for _, col := range chosen {
			names = append(names, col.name)
		}
		if want := strings.Fields(c.want); !slices.Equal(names, want) {
			t.Errorf("%s: got %v, want %v", c.subsets, names, want)
		}
	}
	_, err := choose(collectors(), []string{"!all", "bogus"})
	want := "Bad subset 'bogus' given to Ansible. gather_subset options allowed: all, all_ipv4_addresses, all_ipv6_addresses, apparmor, architecture, caps, chroot,"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	all, err := choose(collectors(), []string{"all", "!hardware"})
	if err != nil || slices.ContainsFunc(all, func(c collector) bool { return c.name == "hardware" }) || len(all) != len(collectors())-1 {
		t.Errorf("all,!hardware: %d collectors, %v", len(all), err)
	}
}

func TestSlowAndBrokenCollectorsOnlyWarn(t *testing.T) {
	t.Parallel()
	slow := collector{name: "slow", run: func(context.Context, *Host) (*value.Dict, []string, error) { select {} }}
	done := make(chan []string, 1)
	broken := collector{name: "broken", run: func(context.Context, *Host) (*value.Dict, []string, error) { panic("boom") }}
	if _, warnings := broken.guarded(context.Background(), &Host{}); len(warnings) != 1 || !strings.Contains(warnings[0], "boom") {
		t.Errorf("got %v", warnings)
	}
	go func() {
		out := gather(context.Background(), &Host{}, []collector{slow, {name: "quick", run: simple(fips)}}, 20*time.Millisecond)
		if _, ok := out.Facts.Get("fips"); !ok {
			t.Error("the quick facts are missing")
		}
		done <- out.Warnings
	}()
	select {
	case warnings := <-done:
		if len(warnings) != 1 || !strings.Contains(warnings[0], "slow") {
			t.Errorf("got %v", warnings)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("a slow collector held up the others")
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{
		"sys/class/net/br-lan/address": "02:00:00:00:00:01\n", "sys/class/net/br-lan/mtu": "1400\n", "sys/class/net/br-lan/operstate": "up\n",
		"sys/class/net/br-lan/type": "1\n", "sys/class/net/br-lan/flags": "0x1103\n", "sys/class/net/br-lan/bridge/stp_state": "1\n",
		"sys/class/net/br-lan/bridge/bridge_id": "8000.02\n", "sys/class/net/br-lan/brif/eth0": "",
		"sys/class/net/lo/address": "00:00:00:00:00:00\n", "sys/class/net/lo/operstate": "unknown\n", "sys/class/net/lo/type": "772\n",
		"sys/class/net/bonding_masters": "\n",
	})
	prefix := netip.MustParsePrefix
	d := h.network(context.Background(), []address{
		{iface: "lo", label: "lo", prefix: prefix("127.0.0.1/8")},
		{iface: "br-lan", label: "br-lan", prefix: prefix("10.1.2.3/20"), broadcast: "10.1.15.255"},
		{iface: "br-lan", label: "br-lan:1", prefix: prefix("10.9.0.1/32"), secondary: true},
		{iface: "br-lan", prefix: prefix("fe80::1/64"), scope: "link"},
	}, &route{iface: "br-lan", source: "10.1.2.3", gateway: "10.1.0.1"}, nil)
	got := plain(t, d)
	four := map[string]any{"address": "10.1.2.3", "broadcast": "10.1.15.255", "netmask": "255.255.240.0", "network": "10.1.0.0", "prefix": "20"}
	second := map[string]any{"address": "10.9.0.1", "broadcast": "", "netmask": "255.255.255.255", "network": "10.9.0.1", "prefix": "32"}
	want := map[string]any{
		"interfaces": []any{"br-lan", "lo"},
		"lo": map[string]any{"device": "lo", "active": true, "type": "loopback",
			"ipv4": map[string]any{"address": "127.0.0.1", "broadcast": "", "netmask": "255.0.0.0", "network": "127.0.0.0", "prefix": "8"}},
		"br_lan": map[string]any{"device": "br-lan", "active": true, "type": "bridge", "macaddress": "02:00:00:00:00:01", "mtu": 1400.0,
			"promisc": true, "interfaces": []any{"eth0"}, "id": "8000.02", "stp": true, "ipv4": four, "ipv4_secondaries": []any{second},
			"ipv6": []any{map[string]any{"address": "fe80::1", "prefix": "64", "scope": "link"}}},
		"all_ipv4_addresses": []any{"10.1.2.3", "10.9.0.1"}, "all_ipv6_addresses": []any{"fe80::1"}, "default_ipv6": map[string]any{},
		"default_ipv4": map[string]any{"address": "10.1.2.3", "alias": "br-lan", "broadcast": "10.1.15.255", "gateway": "10.1.0.1", "interface": "br-lan",
			"macaddress": "02:00:00:00:00:01", "mtu": 1400.0, "netmask": "255.255.240.0", "network": "10.1.0.0", "prefix": "20", "type": "bridge"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestProcessors(t *testing.T) {
	t.Parallel()
	core := func(n, socket, id string) string {
		return "processor\t: " + n + "\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\nphysical id\t: " + socket + "\nsiblings\t: 4\ncore id\t: " + id + "\ncpu cores\t: 2\n\n"
	}
	text := ""
	for i, id := range []string{"0", "1", "0", "1", "0", "1", "0", "1"} {
		text += core(string(rune('0'+i)), string(rune('0'+i/4)), id)
	}
	got := plain(t, processors(tree(t, map[string]string{"proc/cpuinfo": text})))
	for key, want := range map[string]float64{"processor_count": 2, "processor_cores": 2, "processor_threads_per_core": 2, "processor_vcpus": 8} {
		if got[key] != want {
			t.Errorf("%s: got %v, want %v", key, got[key], want)
		}
	}
	if words := got["processor"].([]any); len(words) != 24 || words[0] != "0" || words[1] != "GenuineIntel" || words[2] != "Xeon" {
		t.Errorf("processor: %v", words)
	}
}

func TestTextFacts(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{
		"etc/resolv.conf": "# c\nnameserver 1.1.1.1\nnameserver 9.9.9.9\nsearch a.example b.example\noptions ndots:2 rotate\n",
		"proc/cmdline":    "ro quiet console=tty0 console=ttyS0 x=\"a b\"\n",
		"proc/meminfo":    "MemTotal:  2048000 kB\nMemFree: 1024000 kB\nCached: 102400 kB\nBuffers: 10240 kB\nSwapTotal: 1048576 kB\nSwapFree: 524288 kB\nSwapCached: 0 kB\n",
		"proc/loadavg":    "0.50 0.25 0.10 1/200 99\n", "etc/iscsi/initiatorname.iscsi": "# x\nInitiatorName=iqn.1993-08.org:01:ab\n",
		"etc/ssh/ssh_host_rsa_key.pub": "ssh-rsa AAAA root@x\n", "etc/lsb-release": "DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_DESCRIPTION=\"Ubuntu 22.04\"\n",
	})
	d := value.NewDict()
	for _, f := range []*value.Dict{dns(h), cmdline(h), memory(h), loadAverage(h), iscsi(h), sshKeys(h), lsb(context.Background(), h)} {
		d.Update(f)
	}
	got := plain(t, d)
	want := map[string]any{
		"dns":          map[string]any{"nameservers": []any{"1.1.1.1", "9.9.9.9"}, "search": []any{"a.example", "b.example"}, "options": map[string]any{"ndots": "2", "rotate": true}},
		"cmdline":      map[string]any{"ro": true, "quiet": true, "console": "ttyS0", "x": "a b"},
		"proc_cmdline": map[string]any{"ro": true, "quiet": true, "console": []any{"tty0", "ttyS0"}, "x": "a b"},
		"memtotal_mb":  2000.0, "memfree_mb": 1000.0, "swaptotal_mb": 1024.0, "swapfree_mb": 512.0,
		"memory_mb": map[string]any{"real": map[string]any{"total": 2000.0, "used": 1000.0, "free": 1000.0},
			"nocache": map[string]any{"free": 1110.0, "used": 890.0}, "swap": map[string]any{"total": 1024.0, "free": 512.0, "used": 512.0, "cached": 0.0}},
		"loadavg": map[string]any{"1m": 0.5, "5m": 0.25, "15m": 0.1}, "iscsi_iqn": "iqn.1993-08.org:01:ab",
		"ssh_host_key_rsa_public": "AAAA", "ssh_host_key_rsa_public_keytype": "ssh-rsa",
		"lsb": map[string]any{"id": "Ubuntu", "release": "22.04", "description": "Ubuntu 22.04", "major_release": "22"},
	}
	for key, w := range want {
		if !reflect.DeepEqual(got[key], w) {
			t.Errorf("%s: got %v, want %v", key, got[key], w)
		}
	}
}

func TestDateTime(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 1, 1, 8, 5, 9, 123456000, zone)
	got := plain(t, dateTime(&Host{Now: func() time.Time { return at }}))["date_time"].(map[string]any)
	for key, want := range map[string]string{
		"weekday": "Monday", "weekday_number": "1", "weeknumber": "01", "tz": "CET", "tz_dst": "CEST", "tz_offset": "+0100", "epoch": "1704092709",
		"iso8601": "2024-01-01T07:05:09Z", "iso8601_micro": "2024-01-01T07:05:09.123456Z", "iso8601_basic": "20240101T080509123456", "time": "08:05:09",
	} {
		if got[key] != want {
			t.Errorf("%s: got %v, want %s", key, got[key], want)
		}
	}
}

func TestVirtual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		files      map[string]string
		kind, role string
	}{
		{"metal", map[string]string{"proc/cpuinfo": "model name : Xeon\n"}, "NA", "NA"},
		{"kvm guest", map[string]string{"sys/devices/virtual/dmi/id/product_name": "Standard PC\n", "sys/devices/virtual/dmi/id/sys_vendor": "QEMU\n"}, "kvm", "guest"},
		{"kvm host", map[string]string{"proc/modules": "kvm 1 2 - Live\n"}, "kvm", "host"},
		{"vmware", map[string]string{"sys/devices/virtual/dmi/id/product_name": "VMware Virtual Platform\n"}, "VMware", "guest"},
		{"docker", map[string]string{"proc/1/cgroup": "1:name=systemd:/docker/abc\n"}, "docker", "guest"},
		{"podman", map[string]string{"proc/1/environ": "A=b\x00container=podman\x00"}, "podman", "guest"},
		{"virtualbox", map[string]string{"sys/devices/virtual/dmi/id/bios_vendor": "innotek GmbH\n"}, "virtualbox", "guest"},
	} {
		got := plain(t, virtual(tree(t, c.files)))
		if got["virtualization_type"] != c.kind || got["virtualization_role"] != c.role {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestParseINI(t *testing.T) {
	t.Parallel()
	d, ok := parseINI("[General]\nOne=1\ntwo : x y\n more\n; c\n[s2]\nk=v=w\n")
	want := map[string]any{"General": map[string]any{"one": "1", "two": "x y\nmore"}, "s2": map[string]any{"k": "v=w"}}
	if !ok || !reflect.DeepEqual(plain(t, d), want) {
		t.Errorf("got %v %v", d, ok)
	}
	if _, ok := parseINI("nonsense here\n"); ok {
		t.Error("a line outside of a section is no INI")
	}
}

func TestEthtool(t *testing.T) {
	t.Parallel()
	h := &Host{Run: func(_ context.Context, argv ...string) (string, bool) {
		return map[string]string{
			"-k": "Features for eth0:\nrx-checksumming: on [fixed]\ntx-checksumming: off\n\ttx-checksum-ipv4: off [fixed]\n",
			"-T": "Time stamping parameters for eth0:\nCapabilities:\n\tsoftware-transmit (SOF_TIMESTAMPING_TX_SOFTWARE)\nPTP Hardware Clock: 3\nHardware Receive Filter Modes:\n\tnone (HWTSTAMP_FILTER_NONE)\n",
		}[argv[1]], true
	}}
	d := value.NewDict()
	h.ethtool(context.Background(), "eth0", d)
	want := "{'features': {'rx_checksumming': 'on [fixed]', 'tx_checksumming': 'off', 'tx_checksum_ipv4': 'off [fixed]'}, " +
		"'timestamping': ['tx_software'], 'hw_timestamp_filters': ['none'], 'phc_index': 3}"
	if got := value.Repr(d); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDisksAndMounts(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{
		"sys/block/sda/size": "2097152\n", "sys/block/sda/device/model": "Disk\n", "sys/block/sda/queue/scheduler": "none [mq-deadline] kyber\n",
		"sys/block/sda/queue/rotational": "0\n", "sys/block/sda/removable": "0\n", "sys/block/sda/sda1/size": "2048\n", "sys/block/sda/sda1/start": "64\n",
		"sys/block/sda/queue/logical_block_size": "4096\n", "sys/block/sda/device/vendor": "ACME\n", "sys/block/sda/sda1/holders/dm-0": "",
		"sys/block/dm-0/dm/name": "vg-root\n", "proc/mounts": "/dev/sda1 /a\\040b ext4 rw 0 0\nproc /proc proc rw 0 0\nsrv:/x /gone nfs rw 0 0\n",
		"proc/self/mountinfo": "1 2 8:1 /sub /a\\040b rw - ext4 /dev/sda1 rw\n", "a b/x": "",
	})
	all := plain(t, devices(context.Background(), h))["devices"].(map[string]any)
	sda := all["sda"].(map[string]any)
	part := sda["partitions"].(map[string]any)["sda1"].(map[string]any)
	for key, want := range map[string]any{"model": "Disk", "vendor": "ACME", "size": "1.00 GB", "scheduler_mode": "mq-deadline", "sectorsize": "4096", "sectors": "2097152", "host": ""} {
		if sda[key] != want {
			t.Errorf("sda %s: got %v, want %v", key, sda[key], want)
		}
	}
	if part["size"] != "1.00 MB" || part["start"] != "64" || part["uuid"] != nil || part["sectorsize"] != "512" || !reflect.DeepEqual(part["holders"], []any{"vg-root"}) {
		t.Errorf("sda1: %v", part)
	}
	list, warnings := mounts(context.Background(), h)
	if list.Len() != 2 || len(warnings) != 1 || !strings.Contains(warnings[0], "/gone") {
		t.Fatalf("mounts %s, warnings %v", value.Repr(list), warnings)
	}
	one := plain(t, list.Items[0].(*value.Dict))
	if one["mount"] != "/a b" || one["options"] != "rw,bind" || one["uuid"] != "N/A" || one["size_total"].(float64) <= 0 {
		t.Errorf("got %v", one)
	}
}
