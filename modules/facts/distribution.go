package facts

import (
	"regexp"
	"runtime"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// release is what a distribution's own files say.
type release struct {
	name, version, codename string
	file, variety           string
	minor                   string
	searched                string // the text by which the file was known; "": none
	unparsed                bool   // the file says nothing but the name
}

// distribution names the system and its version.
func distribution(h *Host) *value.Dict {
	if runtime.GOOS != "linux" {
		return unixDistribution()
	}
	r := h.release()
	major, _, _ := strings.Cut(r.version, ".")
	d := value.DictOf("distribution", r.name, "distribution_release", r.codename,
		"distribution_version", r.version, "distribution_major_version", major)
	if r.file != "" {
		d.Set("distribution_file_path", r.file)
		d.Set("distribution_file_variety", r.variety)
		if !r.unparsed {
			d.Set("distribution_file_parsed", true)
		}
	}
	if r.searched != "" {
		d.Set("distribution_file_search_string", r.searched)
	}
	if r.minor != "" {
		d.Set("distribution_minor_version", r.minor)
	}
	d.Set("os_family", family(r.name))
	return d
}

func unixDistribution() *value.Dict {
	system, _, kernel, _, _ := uname()
	version, _, _ := strings.Cut(kernel, "-")
	name, fam := system, system
	if system == "Darwin" {
		name = "MacOSX"
	}
	major, _, _ := strings.Cut(version, ".")
	return value.DictOf("distribution", name, "distribution_release", kernel, "distribution_version", version,
		"distribution_major_version", major, "os_family", fam)
}

// osRelease reads the KEY=value file that all current distributions have.
func (h *Host) osRelease() (file string, fields map[string]string) {
	for _, file := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		lines := h.lines(file)
		if lines == nil {
			continue
		}
		fields := map[string]string{}
		for _, line := range lines {
			key, val, ok := strings.Cut(line, "=")
			if words, err := shellquote.Split(val); ok && err == nil && len(words) > 0 {
				fields[key] = words[0]
			}
		}
		return file, fields
	}
	return "", map[string]string{}
}

// release finds out the distribution: by files that only one family has, then
// by os-release.
func (h *Host) release() release {
	file, osr := h.osRelease()
	for _, f := range []struct {
		file string
		read func(h *Host, text string, osr map[string]string) (release, bool)
	}{
		{"/etc/altlinux-release", altRelease}, {"/etc/oracle-release", oracleRelease},
		{"/etc/centos-release", streamRelease}, {"/etc/redhat-release", redhatRelease},
		{"/etc/alpine-release", alpineRelease}, {"/etc/arch-release", archRelease},
	} {
		if !h.exists(f.file) {
			continue
		}
		if r, ok := f.read(h, h.read(f.file), osr); ok {
			r.file = f.file
			return r
		}
	}
	return h.fromOSRelease(file, osr)
}

// fromOSRelease reads what most distributions say of themselves.
func (h *Host) fromOSRelease(file string, osr map[string]string) release {
	r := release{name: osr["NAME"], version: orNA(osr["VERSION_ID"]), codename: orNA(osr["VERSION_CODENAME"]), file: file, variety: "NA"}
	switch id := osr["ID"]; {
	case id == "debian" || id == "raspbian":
		r.debian(h, osr)
	case id == "pop":
		r.name = "Pop!_OS"
	case id == "ubuntu" || strings.Contains(osr["ID_LIKE"], "debian"):
		r.name, r.variety = debianName(osr), "Debian"
	case strings.Contains(id+osr["ID_LIKE"], "suse"):
		r.suse(osr)
	case id == "amzn":
		r.name, r.variety, r.minor = "Amazon", "Amazon", "NA"
	case id == "flatcar":
		r.name, r.variety = "Flatcar", "Flatcar"
	case r.name == "":
		return release{name: "Linux", version: "NA", codename: "NA"}
	}
	return r
}

func orNA(s string) string {
	if s == "" {
		return "n/a"
	}
	return s
}

// debian takes the point release from a file of its own.
func (r *release) debian(h *Host, osr map[string]string) {
	r.name, r.variety = "Debian", "Debian"
	v := h.read("/etc/debian_version")
	if v == "" || v[0] < '0' || v[0] > '9' {
		return
	}
	if osr["ID"] == "debian" {
		r.version = v
	}
	if _, minor, ok := strings.Cut(v, "."); ok {
		r.minor = minor
	}
}

func debianName(osr map[string]string) string {
	names := map[string]string{
		"ubuntu": "Ubuntu", "linuxmint": "Linux Mint", "pop": "Pop!_OS", "deepin": "Deepin", "uos": "Uos", "cumulus-linux": "Cumulus Linux",
		"neon": "KDE neon", "parrot": "Parrot", "elementary": "elementary OS", "devuan": "Devuan", "zorin": "Zorin OS",
		"kali": "Kali",
	}
	if n, ok := names[osr["ID"]]; ok {
		return n
	}
	return osr["NAME"]
}

func (r *release) suse(osr map[string]string) {
	r.variety, r.codename = "SUSE", ""
	switch id := osr["ID"]; {
	case id == "opensuse-tumbleweed":
		r.name = "openSUSE Tumbleweed"
	case strings.HasPrefix(id, "opensuse-leap"):
		r.name = "openSUSE Leap"
	case id == "sled":
		r.name = "SLED"
	case strings.HasPrefix(id, "sles_sap") || strings.Contains(osr["NAME"], "SAP"):
		r.name = "SLES_SAP"
	case strings.HasPrefix(id, "sle"):
		r.name = "SLES"
	}
	if _, minor, ok := strings.Cut(r.version, "."); ok {
		r.codename = minor
	}
}

func redhatRelease(_ *Host, text string, osr map[string]string) (release, bool) {
	r := release{variety: "RedHat"}
	r.name, _, _ = strings.Cut(text, " ")
	if strings.HasPrefix(text, "Red Hat") {
		r.name, r.searched = "RedHat", "Red Hat"
	}
	r.version, r.codename = numberAndCode(text)
	if r.version == "" {
		r.version = orNA(osr["VERSION_ID"])
	}
	if parts := strings.Split(r.version, "."); r.name == "CentOS" && len(parts) > 2 {
		r.version = parts[0] + "." + parts[1]
	}
	if r.name == "Fedora" {
		r.codename = ""
	}
	return r, true
}

// streamRelease knows CentOS Stream only.
func streamRelease(_ *Host, text string, _ map[string]string) (release, bool) {
	r := release{name: "CentOS", variety: "CentOS", codename: "Stream"}
	r.version, _ = numberAndCode(text)
	return r, strings.Contains(text, "CentOS Stream")
}

// numberAndCode reads "… release 8.7 (Ootpa)".
func numberAndCode(text string) (version, code string) {
	if m := regexp.MustCompile(`(\d+(?:\.\d+)*)`).FindString(text); m != "" {
		version = m
	}
	if m := regexp.MustCompile(`\(([^)]*)\)`).FindStringSubmatch(text); m != nil {
		code = m[1]
	}
	return version, code
}

func oracleRelease(_ *Host, text string, _ map[string]string) (release, bool) {
	r := release{name: "OracleLinux", variety: "OracleLinux", searched: "Oracle Linux", codename: "n/a"}
	r.version, _ = numberAndCode(text)
	return r, strings.Contains(text, "Oracle Linux")
}

func altRelease(_ *Host, text string, _ map[string]string) (release, bool) {
	r := release{name: "Altlinux", variety: "Altlinux"}
	r.version, r.codename = numberAndCode(text)
	return r, strings.Contains(text, "ALT")
}

func alpineRelease(_ *Host, text string, _ map[string]string) (release, bool) {
	return release{name: "Alpine", variety: "Alpine", version: text, codename: "n/a"}, text != ""
}

func archRelease(*Host, string, map[string]string) (release, bool) {
	return release{name: "Archlinux", variety: "Archlinux", version: "n/a", codename: "n/a", unparsed: true}, true
}

// family groups distributions that are managed alike.
func family(name string) string {
	for _, f := range []struct{ family, names string }{
		{"RedHat", "RedHat,RHEL,Fedora,CentOS,Scientific,SLC,Ascendos,CloudLinux,PSBM,OracleLinux,OVS,OEL,Amazon,Amzn,Virtuozzo,XenServer,Alibaba,EulerOS,openEuler,AlmaLinux,Rocky,TencentOS,EuroLinux,Kylin Linux Advanced Server,MIRACLE"},
		{"Debian", "Debian,Ubuntu,Raspbian,Neon,KDE neon,Linux Mint,SteamOS,Devuan,Kali,Cumulus Linux,Pop!_OS,Parrot,Pardus GNU/Linux,Uos,Deepin,OSMC"},
		{"Suse", "SuSE,SLES,SLED,openSUSE,openSUSE Tumbleweed,SLES_SAP,SUSE_LINUX,openSUSE Leap,ALP-Dolomite,SL-Micro,openSUSE MicroOS"},
		{"Archlinux", "Archlinux,Antergos,Manjaro"}, {"Mandrake", "Mandrake,Mandriva"}, {"Solaris", "Solaris,Nexenta,OmniOS,OpenIndiana,SmartOS"},
		{"Slackware", "Slackware"}, {"Altlinux", "Altlinux"}, {"SMGL", "SMGL"}, {"Gentoo", "Gentoo,Funtoo"}, {"Alpine", "Alpine"},
		{"AIX", "AIX"}, {"HP-UX", "HPUX"}, {"Darwin", "MacOSX"}, {"FreeBSD", "FreeBSD,TrueOS"}, {"ClearLinux", "Clear Linux OS,Clear Linux Mix"},
		{"DragonFly", "DragonflyBSD,DragonFlyBSD,Gentoo/DragonflyBSD,Gentoo/DragonFlyBSD"}, {"NetBSD", "NetBSD"},
	} {
		for _, n := range strings.Split(f.names, ",") {
			if n == name {
				return f.family
			}
		}
	}
	return name
}
