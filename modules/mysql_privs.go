package modules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"play/modules/value"
)

// mysqlPrivs are privileges on one object: names in upper case, sorted, with the
// grant option apart.
type mysqlPrivs struct {
	object string // db.table, quoted; a FUNCTION or PROCEDURE in front
	privs  []string
	option bool
}

// privileges reads the option priv: a text "db.t:PRIV,PRIV/db.t:PRIV" or a dict.
func (a *mysqlUserArgs) privileges() ([]mysqlPrivs, error) {
	var pairs [][2]string
	switch priv := a.Priv.(type) {
	case nil:
		return nil, nil
	case *value.Dict:
		for object, privs := range priv.All() {
			pairs = append(pairs, [2]string{value.Str(object), value.Str(privs)})
		}
	case string:
		for _, item := range strings.Split(strings.TrimSpace(priv), "/") {
			colon := strings.LastIndexByte(item, ':')
			if colon < 0 {
				return nil, Failf("invalid privileges %q: each is of the form db.table:PRIV,PRIV", item)
			}
			pairs = append(pairs, [2]string{strings.TrimSpace(item[:colon]), item[colon+1:]})
		}
	default:
		return nil, Failf("priv is neither a text nor a dict")
	}
	var all []mysqlPrivs
	for _, pair := range pairs {
		p := splitPrivs(pair[1])
		p.object = quoteObject(pair[0])
		all = slices.DeleteFunc(all, func(old mysqlPrivs) bool { return old.object == p.object })
		all = append(all, p)
	}
	anywhere := slices.ContainsFunc(all, func(p mysqlPrivs) bool { return p.object == "*.*" })
	if !anywhere && !a.Subtract {
		all = append(all, mysqlPrivs{object: "*.*", privs: []string{"USAGE"}})
	}
	return all, nil
}

// quoteObject quotes the parts of db.table that are no *.
func quoteObject(object string) string {
	kind := ""
	for _, word := range []string{"FUNCTION ", "PROCEDURE ", "function ", "procedure "} {
		if rest, ok := strings.CutPrefix(object, word); ok {
			kind, object = strings.ToUpper(word), rest
		}
	}
	database, table := object, "*"
	if found := regexp.MustCompile("^(`(?:[^`]|``)*`|[^.]*)\\.(.*)$").FindStringSubmatch(object); found != nil {
		database, table = found[1], found[2]
	}
	quote := func(part string) string {
		if part == "*" || strings.HasPrefix(part, "`") {
			return part
		}
		return mysqlName(part)
	}
	return kind + quote(database) + "." + quote(table)
}

// splitPrivs splits at commas outside parentheses.
func splitPrivs(text string) mysqlPrivs {
	var p mysqlPrivs
	for _, word := range regexp.MustCompile(`[^,(]+(?:\([^)]*\))?`).FindAllString(text, -1) {
		word = strings.TrimSpace(word)
		name, columns, ok := strings.Cut(word, "(")
		name = strings.ToUpper(strings.TrimSpace(name))
		switch {
		case name == "" || name == ")":
			continue
		case name == "GRANT" || name == "WITH GRANT OPTION":
			p.option = true
			continue
		case name == "ALL PRIVILEGES":
			name = "ALL"
		}
		if ok {
			name += "(" + strings.Join(sortedColumns(columns), ",") + ")"
		}
		p.privs = append(p.privs, name)
	}
	slices.Sort(p.privs)
	p.privs = slices.Compact(p.privs)
	return p
}

func sortedColumns(text string) []string {
	var names []string
	for _, name := range strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ")"), ",") {
		names = append(names, strings.Trim(strings.TrimSpace(name), "`"))
	}
	slices.Sort(names)
	return names
}

// privilegesNow reads what SHOW GRANTS says of the user.
func (u *mysqlAccount) privilegesNow(host string) ([]mysqlPrivs, error) {
	rows, err := u.server.query("SHOW GRANTS FOR " + u.account(host))
	if err != nil {
		return nil, err
	}
	var all []mysqlPrivs
	form := regexp.MustCompile("^GRANT (.+) ON ((?:FUNCTION |PROCEDURE )?(?:`(?:[^`]|``)*`|\\*)\\.(?:`(?:[^`]|``)*`|\\*)) TO (?:['`].*['`]@['`].*?['`])(.*)$")
	for _, row := range rows {
		found := form.FindStringSubmatch(row[0])
		if found == nil {
			continue // a role, or a proxy: neither is a privilege on an object
		}
		p := splitPrivs(found[1])
		p.object, p.option = found[2], strings.Contains(found[3], "WITH GRANT OPTION")
		all = append(all, p)
	}
	return all, nil
}

// modifyPrivileges brings the user's privileges to what is asked for.
func (u *mysqlAccount) modifyPrivileges(host string) error {
	if u.Priv == nil {
		return nil
	}
	now, err := u.privilegesNow(host)
	if err != nil {
		return err
	}
	if !u.Append && !u.Subtract {
		if err := u.revokeOthers(host, now); err != nil {
			return err
		}
	}
	for _, want := range u.privs {
		i := slices.IndexFunc(now, func(p mysqlPrivs) bool { return p.object == want.object })
		switch {
		case i >= 0:
			err = u.adjust(host, now[i], want)
		case !u.Subtract:
			u.changed, u.msg = true, "New privileges granted"
			err = u.grant(host, want.object, want.privs, want.option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// revokeOthers takes away what is there on objects that are not asked for.
func (u *mysqlAccount) revokeOthers(host string, now []mysqlPrivs) error {
	for _, p := range now {
		asked := slices.ContainsFunc(u.privs, func(want mysqlPrivs) bool { return want.object == p.object })
		if asked || slices.Equal(p.privs, []string{"USAGE"}) && !p.option {
			continue
		}
		u.changed, u.msg = true, "Privileges updated"
		if err := u.revoke(host, p.object, p.privs, p.option); err != nil {
			return err
		}
	}
	return nil
}

// adjust changes the privileges on one object.
func (u *mysqlAccount) adjust(host string, now, want mysqlPrivs) error {
	plain := func(privs []string) []string {
		return slices.DeleteFunc(slices.Clone(privs), func(p string) bool { return p == "USAGE" })
	}
	old, goal := plain(now.privs), plain(want.privs)
	grant := u.without(goal, old)
	revoke := u.without(old, goal)
	grantOption, revokeOption := want.option && !now.option, now.option && !want.option
	switch {
	case u.Append:
		revoke, revokeOption = nil, false
	case u.Subtract:
		revoke = u.without(goal, u.without(goal, old))
		grant, grantOption, revokeOption = nil, false, want.option && now.option
	}
	if slices.Contains(old, "ALL") && !u.Subtract && slices.Contains(goal, "ALL") {
		grant, revoke = nil, nil
	}
	if len(grant)+len(revoke) == 0 && !grantOption && !revokeOption {
		return nil
	}
	u.changed = true
	u.msg = fmt.Sprintf("Privileges updated: granted %s, revoked %s", shownPrivs(grant, grantOption), shownPrivs(revoke, revokeOption))
	if len(revoke) > 0 || revokeOption {
		if err := u.revoke(host, now.object, revoke, revokeOption); err != nil {
			return err
		}
	}
	if len(grant) > 0 || grantOption {
		return u.grant(host, now.object, grant, grantOption)
	}
	return nil
}

// without returns the privileges of all that some has not. Names of columns are
// the same in either case, as the servers take them, unless told otherwise.
func (u *mysqlAccount) without(all, some []string) []string {
	same := strings.EqualFold
	if u.ColumnCase != nil && *u.ColumnCase {
		same = func(a, b string) bool { return a == b }
	}
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool {
		return slices.ContainsFunc(some, func(q string) bool { return same(p, q) })
	})
}

func shownPrivs(privs []string, option bool) string {
	if option {
		privs = append(slices.Clone(privs), "GRANT")
	}
	return value.Repr(stringList(privs))
}

func (u *mysqlAccount) grant(host, object string, privs []string, option bool) error {
	if len(privs) == 0 {
		privs = []string{"USAGE"}
	}
	tail := ""
	if option {
		tail = " WITH GRANT OPTION"
	}
	words := "GRANT " + strings.Join(privs, ",") + " ON " + object + " TO "
	err := u.server.do(words + u.account(host) + tail)
	if refused, ok := err.(*sqlError); ok {
		return Failf("Error granting privileges, invalid priv string: %s , params: (%s, %s), query: %s%%s@%%s%s , exception: %s.",
			strings.Join(privs, ","), value.Repr(u.Name), value.Repr(host), words, tail, refused.msg)
	}
	return err
}

func (u *mysqlAccount) revoke(host, object string, privs []string, option bool) error {
	if option {
		if err := u.server.do("REVOKE GRANT OPTION ON " + object + " FROM " + u.account(host)); err != nil {
			return err
		}
	}
	if len(privs) == 0 {
		return nil
	}
	return u.server.do("REVOKE " + strings.Join(privs, ",") + " ON " + object + " FROM " + u.account(host))
}
