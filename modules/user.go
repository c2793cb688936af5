package modules

import (
	"fmt"
	"strings"

	"play/modules/perm"
	"play/modules/value"
)

// userArgs are the arguments of user.
type userArgs struct {
	State              string   `arg:"state,default=present,choices=absent|present" doc:"whether the account shall exist"`
	Name               string   `arg:"name,required,aliases=user" doc:"the account"`
	UID                *int     `arg:"uid" doc:"its number"`
	NonUnique          bool     `arg:"non_unique,default=no" doc:"with uid: let the number be another account's too"`
	Group              *string  `arg:"group" doc:"primary group"`
	Groups             []string `arg:"groups" doc:"further groups; an empty list leaves all"`
	Comment            *string  `arg:"comment" doc:"full name or description (GECOS)"`
	Home               *string  `arg:"home,type=path" doc:"home folder"`
	Shell              *string  `arg:"shell,type=path" doc:"login shell"`
	Password           *string  `arg:"password,nolog" doc:"the encrypted password"`
	LoginClass         *string  `arg:"login_class" doc:"login class; without effect on Linux"`
	PasswordExpireMax  *int     `arg:"password_expire_max" doc:"days after which the password must be changed"`
	PasswordExpireMin  *int     `arg:"password_expire_min" doc:"days before which the password cannot be changed"`
	PasswordExpireWarn *int     `arg:"password_expire_warn,hidden" doc:"days of warning before a password expires"`
	Hidden             *bool    `arg:"hidden" doc:"macOS: keep it out of the login window"`
	SEUser             *string  `arg:"seuser" doc:"SELinux user"`
	Force              bool     `arg:"force,default=no" doc:"with state=absent: remove although in use"`
	Remove             bool     `arg:"remove,default=no" doc:"with state=absent: remove its folders too"`
	CreateHome         bool     `arg:"create_home,default=yes,aliases=createhome" doc:"make a missing home folder"`
	Skeleton           *string  `arg:"skeleton" doc:"folder whose content a new home folder gets"`
	System             bool     `arg:"system,default=no" doc:"make it a system account"`
	MoveHome           bool     `arg:"move_home,default=no" doc:"move the old home folder to the new place"`
	Append             bool     `arg:"append,default=no" doc:"keep it in its other groups"`
	GenerateSSHKey     bool     `arg:"generate_ssh_key" doc:"make an SSH key pair unless there is one"`
	SSHKeyBits         int      `arg:"ssh_key_bits,default=0" doc:"size of a new key; 0: the tool's default"`
	SSHKeyType         string   `arg:"ssh_key_type,default=rsa" doc:"kind of a new key"`
	SSHKeyFile         *string  `arg:"ssh_key_file,type=path" doc:"private key, relative to the home folder"`
	SSHKeyComment      *string  `arg:"ssh_key_comment" doc:"comment in a new key"`
	SSHKeyPassphrase   *string  `arg:"ssh_key_passphrase,nolog" doc:"passphrase of a new key"`
	UpdatePassword     string   `arg:"update_password,default=always,choices=always|on_create" doc:"whether to change the password of an account that exists"`
	Expires            *float64 `arg:"expires" doc:"when the account expires, in seconds since 1970; below 0: never"`
	PasswordLock       *bool    `arg:"password_lock" doc:"lock or unlock the password"`
	Local              bool     `arg:"local" doc:"use the libuser tools, which look at the local files only"`
	Profile            *string  `arg:"profile" doc:"Solaris: profiles"`
	Authorization      *string  `arg:"authorization" doc:"Solaris: authorizations"`
	Role               *string  `arg:"role" doc:"Solaris: roles"`
	Umask              *string  `arg:"umask" doc:"umask for a new home folder"`
}

func user() Module {
	return Define("user", "Manage accounts", runUser)
}

// account is one account on its way to the wanted state.
type account struct {
	call *Call
	*userArgs
	entry       []string // its passwd fields; nil: it does not exist
	outs, errs  string
	ran         bool // a tool was run, or would have been
	groupsGiven bool
}

// Indexes of the fields of a passwd entry.
const (
	passwdUID = iota + 2
	passwdGID
	passwdGecos
	passwdHome
	passwdShell
)

func runUser(c *Call, args *userArgs) (*Result, error) {
	a := &account{call: c, userArgs: args, groupsGiven: args.Groups != nil, entry: perm.Entry(args.Name)}
	out := &Result{value.DictOf("name", args.Name, "state", args.State)}
	a.warnings(out)
	if args.State == "absent" {
		return a.absent(out)
	}
	if a.entry == nil {
		return a.present(out)
	}
	return a.update(out)
}

func (a *account) warnings(out *Result) {
	if a.Append && !a.groupsGiven {
		out.warn("'append' is set, but no 'groups' are specified. Use 'groups' for appending new groups." +
			"This will change to an error in Ansible 2.14.")
	}
	if a.Password != nil && unhashed(*a.Password) {
		out.warn("The input password appears not to have been hashed. The 'password' argument must be encrypted for this module to work properly.")
	}
}

// unhashed tells whether a password is surely no crypt string: neither one of
// the marks for "none", nor of the form or size of a hash.
func unhashed(password string) bool {
	if strings.Trim(password, "*!") == "" && len(password) <= 2 && password != "" {
		return false
	}
	password = strings.TrimLeft(password, "!")
	if strings.ContainsAny(password, ":*!") {
		return true
	}
	parts := strings.Split(password, "$")
	if len(parts) < 3 {
		return len(password) != 13
	}
	sizes := map[string]int{"1": 22, "5": 43, "6": 86}
	hash := parts[len(parts)-1]
	if strings.Trim(hash, "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return true
	}
	size, known := sizes[parts[1]]
	return known && len(hash) != size
}

func (a *account) absent(out *Result) (*Result, error) {
	if a.entry == nil {
		return out.Changed(false), nil
	}
	if a.call.Check {
		return NewResult(true), nil
	}
	argv := []string{a.program("userdel")}
	if a.Force && !a.Local {
		argv = append(argv, "-f")
	}
	if a.Remove {
		argv = append(argv, "-r")
	}
	if err := a.run(append(argv, a.Name)); err != nil {
		return nil, err
	}
	return a.shown(out.With("force", a.Force).With("remove", a.Remove).Changed(true)), nil
}

// program is the tool's name, or that of its namesake for local accounts.
func (a *account) program(name string) string {
	if a.Local {
		return "l" + name
	}
	return name
}

// run runs one of the account tools and keeps what it says.
func (a *account) run(argv []string) error {
	a.ran = true
	if a.call.Check {
		return nil
	}
	out, err := a.call.tool(argv...)
	if err != nil {
		return err
	}
	if out.failed() {
		return &Failure{Msg: out.errOut, With: value.DictOf("name", a.Name, "rc", out.rc)}
	}
	a.outs += out.out
	a.errs += out.errOut
	return nil
}

// shown adds what the tools said.
func (a *account) shown(out *Result) *Result {
	if a.outs != "" {
		out.Set("stdout", a.outs)
	}
	if a.errs != "" {
		out.Set("stderr", a.errs)
	}
	return out
}

func (a *account) present(out *Result) (*Result, error) {
	if err := a.checkGroups(); err != nil {
		return nil, err
	}
	if a.call.Check {
		return NewResult(true), nil
	}
	if err := a.create(); err != nil {
		return nil, err
	}
	out.With("system", a.System).With("create_home", a.CreateHome)
	a.entry = perm.Entry(a.Name)
	return a.finish(out)
}

func (a *account) update(out *Result) (*Result, error) {
	if err := a.checkGroups(); err != nil {
		return nil, err
	}
	if err := a.modify(); err != nil {
		return nil, err
	}
	out.With("append", a.Append).With("move_home", a.MoveHome)
	return a.finish(out)
}

// finish sees to the home folder and the key, and reports the account.
func (a *account) finish(out *Result) (*Result, error) {
	if a.Password != nil {
		out.Set("password", "NOT_LOGGING_PASSWORD")
	}
	a.shown(out.Changed(a.ran))
	if a.entry == nil {
		return out, nil
	}
	if a.ran && !a.call.Check {
		a.entry = perm.Entry(a.Name)
	}
	if len(a.entry) < 7 {
		return out, nil
	}
	uid, gid := a.number(passwdUID), a.number(passwdGID)
	out.With("uid", uid).With("group", gid).With("comment", a.entry[passwdGecos]).
		With("home", a.entry[passwdHome]).With("shell", a.entry[passwdShell])
	if a.groupsGiven {
		out.Set("groups", strings.Join(a.Groups, ","))
	}
	if err := a.makeHome(out); err != nil {
		return nil, err
	}
	if !a.GenerateSSHKey {
		return out, nil
	}
	return out, a.makeKey(out)
}

func (a *account) number(field int) any {
	n, ok := value.ParseInt(a.entry[field], 10)
	if !ok {
		return nil
	}
	return n
}

// checkGroups fails for a group that does not exist.
func (a *account) checkGroups() error {
	a.Groups = nonEmpty(a.Groups)
	names := a.Groups
	if a.Group != nil {
		names = append([]string{*a.Group}, names...)
	}
	for _, g := range names {
		if _, ok := groupID(g); !ok {
			return Failf("Group %s does not exist", g)
		}
	}
	return nil
}

// nonEmpty trims the items of a list and drops the empty ones.
func nonEmpty(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// groupID finds a group that exists, by name or by number.
func groupID(name string) (int, bool) {
	gid, ok := perm.GroupID(name)
	if !ok {
		return 0, false
	}
	if fmt.Sprint(gid) == name {
		_, ok = perm.GroupName(gid)
	}
	return gid, ok
}
