package modules

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// day is the unit of the shadow file.
const day = 24 * time.Hour

// create makes the account.
func (a *account) create() error {
	argv := []string{a.program("useradd")}
	add := func(words ...string) { argv = append(argv, words...) }
	if a.UID != nil {
		add("-u", strconv.Itoa(*a.UID))
		if a.NonUnique {
			add("-o")
		}
	}
	if a.Group != nil {
		add("-g", *a.Group)
	} else if _, ok := groupID(a.Name); ok {
		add(a.groupOfName()...)
	}
	if len(a.Groups) > 0 && !a.Local {
		add("-G", strings.Join(a.Groups, ","))
	}
	if a.Comment != nil {
		add("-c", *a.Comment)
	}
	if a.Home != nil {
		add("-d", *a.Home)
	}
	if a.Shell != nil {
		add("-s", *a.Shell)
	}
	if a.Expires != nil && !a.Local {
		add("-e", expiryDate(*a.Expires))
	}
	if a.Password != nil {
		add("-p", a.wantedPassword())
	}
	add(a.homeWords()...)
	if a.System {
		add("-r")
	}
	if err := a.run(append(argv, a.Name)); err != nil || !a.Local {
		return err
	}
	return a.finishLocal()
}

// groupOfName are the words for an account whose name is a group's already: it
// joins that group on distributions that would make one of that name.
func (a *account) groupOfName() []string {
	switch {
	case exists("/etc/redhat-release"):
		return []string{"-n"}
	case exists("/etc/SuSE-release"):
		return nil
	}
	return []string{"-N"}
}

func (a *account) homeWords() []string {
	switch {
	case !a.CreateHome:
		return []string{"-M"}
	case a.Local:
		return nil
	}
	words := []string{"-m"}
	if a.Skeleton != nil {
		words = append(words, "-k", *a.Skeleton)
	}
	if a.Umask != nil {
		words = append(words, "-K", "UMASK="+*a.Umask)
	}
	return words
}

// wantedPassword is the password field to set; a lock is a mark in front.
func (a *account) wantedPassword() string {
	if a.PasswordLock != nil && *a.PasswordLock {
		return "!" + *a.Password
	}
	return *a.Password
}

// finishLocal does what the tools for local accounts have no switches for.
func (a *account) finishLocal() error {
	if a.Expires != nil {
		if err := a.run([]string{"lchage", "-E", expiryDays(*a.Expires), a.Name}); err != nil {
			return err
		}
	}
	for _, g := range a.Groups {
		if err := a.run([]string{"lgroupmod", "-M", a.Name, g}); err != nil {
			return err
		}
	}
	return nil
}

// expiryDate is the date that an account expires on, as the tools want it; no
// date is never.
func expiryDate(seconds float64) string {
	if seconds < 0 {
		return ""
	}
	return time.Unix(int64(seconds), 0).UTC().Format(time.DateOnly)
}

func expiryDays(seconds float64) string {
	if seconds < 0 {
		return "-1"
	}
	return strconv.Itoa(int(seconds) / int(day/time.Second))
}

// modify changes what differs of an account that exists.
func (a *account) modify() error {
	argv := []string{a.program("usermod")}
	argv = append(argv, a.identityWords()...)
	argv = append(argv, a.groupWords()...)
	for _, f := range []struct {
		wanted *string
		field  int
		option string
	}{{a.Comment, passwdGecos, "-c"}, {a.Home, passwdHome, "-d"}, {a.Shell, passwdShell, "-s"}} {
		if f.wanted == nil || *f.wanted == a.entry[f.field] {
			continue
		}
		argv = append(argv, f.option, *f.wanted)
		if f.option == "-d" && a.MoveHome {
			argv = append(argv, "-m")
		}
	}
	shadow := shadowEntry(a.Name)
	argv = append(argv, a.expiryWords(shadow)...)
	argv = append(argv, a.passwordWords(shadow)...)
	if len(argv) > 1 {
		if err := a.run(append(argv, a.Name)); err != nil {
			return err
		}
	}
	if err := a.modifyLocal(shadow); err != nil {
		return err
	}
	return a.modifyAges(shadow)
}

func (a *account) identityWords() []string {
	var words []string
	if a.UID != nil && strconv.Itoa(*a.UID) != a.entry[passwdUID] {
		words = append(words, "-u", strconv.Itoa(*a.UID))
		if a.NonUnique {
			words = append(words, "-o")
		}
	}
	if a.Group != nil {
		if gid, _ := groupID(*a.Group); strconv.Itoa(gid) != a.entry[passwdGID] {
			words = append(words, "-g", strconv.Itoa(gid))
		}
	}
	return words
}

// groupWords are the words that put the account into its further groups.
func (a *account) groupWords() []string {
	if a.Local || !a.groupsGiven || !a.groupsDiffer() {
		return nil
	}
	words := []string{"-G", strings.Join(a.Groups, ",")}
	if a.Append {
		words = append([]string{"-a"}, words...)
	}
	return words
}

func (a *account) groupsDiffer() bool {
	current := memberOf(a.Name)
	for _, g := range a.Groups {
		if !slices.Contains(current, groupName(g)) {
			return true
		}
	}
	if a.Append {
		return false
	}
	wanted := make([]string, len(a.Groups))
	for i, g := range a.Groups {
		wanted[i] = groupName(g)
	}
	for _, g := range current {
		if gid, _ := groupID(g); !slices.Contains(wanted, g) && strconv.Itoa(gid) != a.entry[passwdGID] {
			return true
		}
	}
	return false
}

// groupName is the name of a group given by name or number.
func groupName(group string) string {
	for _, fields := range groupEntries() {
		if fields[0] == group || fields[2] == group {
			return fields[0]
		}
	}
	return group
}

// memberOf lists the groups that name an account as a member.
func memberOf(name string) []string {
	var groups []string
	for _, fields := range groupEntries() {
		if slices.Contains(strings.Split(fields[3], ","), name) {
			groups = append(groups, fields[0])
		}
	}
	return groups
}

// groupEntries reads the fields of each local group.
func groupEntries() [][]string { return colonFile("/etc/group", 4) }

// colonFile reads a file of lines whose fields are separated by colons, and
// drops lines with fewer fields.
func colonFile(path string, fields int) [][]string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var entries [][]string
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimRight(line, "\r\n"), ":"); len(f) >= fields {
			entries = append(entries, f)
		}
	}
	return entries
}

// Indexes of the fields of a shadow entry.
const (
	shadowPassword = 1
	shadowMin      = 3
	shadowMax      = 4
	shadowWarn     = 5
	shadowExpires  = 7
)

// shadowEntry returns the shadow fields of an account; they are empty where
// the file cannot be read or does not name it.
func shadowEntry(name string) []string {
	for _, fields := range colonFile("/etc/shadow", shadowExpires+1) {
		if fields[0] == name {
			return fields
		}
	}
	return make([]string, shadowExpires+1)
}

func (a *account) expiryWords(shadow []string) []string {
	if a.Expires == nil || a.Local || !a.expiryDiffers(shadow) {
		return nil
	}
	return []string{"-e", expiryDate(*a.Expires)}
}

func (a *account) expiryDiffers(shadow []string) bool {
	current := shadow[shadowExpires]
	if *a.Expires < 0 {
		return current != "" && current != "-1"
	}
	return current != expiryDays(*a.Expires)
}

func (a *account) passwordWords(shadow []string) []string {
	old := shadow[shadowPassword]
	if a.Password != nil && a.UpdatePassword == "always" && strings.TrimLeft(old, "!") != strings.TrimLeft(*a.Password, "!") {
		return []string{"-p", a.wantedPassword()}
	}
	switch locked := strings.HasPrefix(old, "!"); {
	case a.PasswordLock == nil || *a.PasswordLock == locked:
		return nil
	case *a.PasswordLock:
		return []string{"-L"}
	}
	return []string{"-U"}
}

// modifyLocal puts a local account into its groups and sets its expiry.
func (a *account) modifyLocal(shadow []string) error {
	if !a.Local {
		return nil
	}
	if a.Expires != nil && a.expiryDiffers(shadow) {
		if err := a.run([]string{"lchage", "-E", expiryDays(*a.Expires), a.Name}); err != nil {
			return err
		}
	}
	if !a.groupsGiven || !a.groupsDiffer() {
		return nil
	}
	current := memberOf(a.Name)
	for _, g := range a.Groups {
		if slices.Contains(current, groupName(g)) {
			continue
		}
		if err := a.run([]string{"lgroupmod", "-M", a.Name, g}); err != nil {
			return err
		}
	}
	return a.leaveLocal(current)
}

func (a *account) leaveLocal(current []string) error {
	if a.Append {
		return nil
	}
	for _, g := range current {
		if slices.ContainsFunc(a.Groups, func(w string) bool { return groupName(w) == g }) {
			continue
		}
		if err := a.run([]string{"lgroupmod", "-m", a.Name, g}); err != nil {
			return err
		}
	}
	return nil
}

// modifyAges sets how long a password lasts.
func (a *account) modifyAges(shadow []string) error {
	argv := []string{a.program("chage")}
	for _, age := range []struct {
		wanted *int
		field  int
		option string
	}{{a.PasswordExpireMin, shadowMin, "-m"}, {a.PasswordExpireMax, shadowMax, "-M"}, {a.PasswordExpireWarn, shadowWarn, "-W"}} {
		if age.wanted != nil && strconv.Itoa(*age.wanted) != shadow[age.field] {
			argv = append(argv, age.option, strconv.Itoa(*age.wanted))
		}
	}
	if len(argv) == 1 {
		return nil
	}
	return a.run(append(argv, a.Name))
}
