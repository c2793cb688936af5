package modules

import (
	"crypto/sha1"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// mysqlUserArgs are the arguments of mysql_user.
type mysqlUserArgs struct {
	Name           string      `arg:"name,required,aliases=user" doc:"the user"`
	Password       *string     `arg:"password,nolog" doc:"its password"`
	Encrypted      bool        `arg:"encrypted" doc:"the password is a hash of mysql_native_password"`
	Host           string      `arg:"host,default=localhost" doc:"the host part of the user"`
	HostAll        bool        `arg:"host_all" doc:"change the user for all hosts that it is known for"`
	State          string      `arg:"state,default=present,choices=absent|present" doc:"whether the user shall be there"`
	Priv           any         `arg:"priv,type=raw" doc:"privileges: db.table:PRIV,PRIV/db.table:PRIV, or a dict"`
	Append         bool        `arg:"append_privs" doc:"keep the privileges that are there"`
	Subtract       bool        `arg:"subtract_privs" doc:"take the privileges away"`
	TLS            *value.Dict `arg:"tls_requires" doc:"what a connection needs: SSL, X509, or SUBJECT, ISSUER, CIPHER"`
	UpdatePassword string      `arg:"update_password,default=always,choices=always|on_create|on_new_username" doc:"when the password is set"`
	SQLLogBin      bool        `arg:"sql_log_bin,default=yes" doc:"whether the statements go to the binary log"`
	Plugin         *string     `arg:"plugin" doc:"the plugin that authenticates the user"`
	PluginHash     *string     `arg:"plugin_hash_string,nolog" doc:"its hash for the user"`
	PluginAuth     *string     `arg:"plugin_auth_string,nolog" doc:"its secret for the user, or the PAM service"`
	Limits         *value.Dict `arg:"resource_limits" doc:"limits such as MAX_QUERIES_PER_HOUR"`
	ForceContext   bool        `arg:"force_context" doc:"be connected to the database mysql"`
	SessionVars    *value.Dict `arg:"session_vars" doc:"variables set at the beginning"`
	ColumnCase     *bool       `arg:"column_case_sensitive" doc:"yes: names of columns in other case are others"`
	mysqlLogin
}

// Rules relates the arguments.
func (mysqlUserArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"append_privs", "subtract_privs"}}}
}

func mysqlUser() Module {
	return Define("mysql_user", "Create, change and drop MySQL users and their privileges", runMySQLUser).
		In("community.mysql")
}

func runMySQLUser(c *Call, args *mysqlUserArgs) (*Result, error) {
	u := &mysqlAccount{mysqlUserArgs: args, password: NewResult(false)}
	var err error
	if u.privs, err = args.privileges(); err != nil {
		return nil, err
	}
	if u.server, err = c.mysql(&args.mysqlLogin); err != nil {
		return nil, err
	}
	defer u.server.close()
	u.server.first = args.session()
	hosts, err := u.hosts()
	if err != nil {
		return nil, err
	}
	return u.bring(hosts)
}

// session are the statements that begin each session.
func (a *mysqlUserArgs) session() []string {
	var first []string
	if a.ForceContext {
		first = append(first, "USE mysql")
	}
	if !a.SQLLogBin {
		first = append(first, "SET SQL_LOG_BIN=0")
	}
	if a.SessionVars != nil {
		for name, v := range a.SessionVars.All() {
			first = append(first, fmt.Sprintf("SET SESSION %s = %s", mysqlName(value.Str(name)), mysqlText(value.Str(v))))
		}
	}
	return first
}

// mysqlAccount is one user of a server, for one host or all.
type mysqlAccount struct {
	*mysqlUserArgs
	server   *mysql
	privs    []mysqlPrivs
	password *Result
	msg      string
	changed  bool
	renewed  any // password_changed
}

// hosts lists the hosts that the user is known for, of those that are meant.
func (u *mysqlAccount) hosts() ([]string, error) {
	rows, err := u.server.query("SELECT host FROM mysql.user WHERE user = " + mysqlText(u.Name) + " ORDER BY host DESC")
	if err != nil {
		return nil, Failf("%s", err)
	}
	var hosts []string
	for _, row := range rows {
		if u.HostAll || row[0] == strings.ToLower(u.Host) || row[0] == u.Host {
			hosts = append(hosts, row[0])
		}
	}
	return hosts, nil
}

// account is the user as statements name it.
func (u *mysqlAccount) account(host string) string { return mysqlText(u.Name) + "@" + mysqlText(host) }

func (u *mysqlAccount) bring(hosts []string) (*Result, error) {
	u.renewed = false
	var err error
	switch {
	case u.State == "absent" && len(hosts) == 0:
		u.msg = "User doesn't exist"
	case u.State == "absent":
		err = u.drop(hosts)
	case len(hosts) == 0 && u.HostAll:
		return nil, Failf("host_all parameter cannot be used when adding a user")
	case len(hosts) == 0:
		err = u.create()
	default:
		u.msg = "User unchanged"
		for _, host := range hosts {
			if err = u.modify(host); err != nil {
				break
			}
		}
	}
	if err == nil && u.State == "present" {
		err = u.limit(hosts)
	}
	if refused, ok := err.(*sqlError); ok {
		return nil, Failf("%s", refused.msg)
	}
	if err != nil {
		return nil, err
	}
	return NewResult(u.changed).With("user", u.Name).With("msg", u.msg).With("password_changed", u.renewed), nil
}

func (u *mysqlAccount) drop(hosts []string) error {
	u.changed, u.msg = true, "User deleted"
	for _, host := range hosts {
		if err := u.server.do("DROP USER " + u.account(host)); err != nil {
			return err
		}
	}
	return nil
}

func (u *mysqlAccount) create() error {
	u.changed, u.msg, u.renewed = true, "User added", true
	if u.server.Check {
		u.renewed = nil
		return nil
	}
	identified := u.identified()
	if u.UpdatePassword == "on_new_username" {
		kept, err := u.kept()
		if err != nil {
			return err
		}
		if kept != "" {
			identified, u.renewed = kept, false
		}
	}
	words := "CREATE USER " + u.account(u.Host)
	if identified != "" {
		words += " IDENTIFIED " + identified
	}
	if err := u.server.do(words + u.requires(u.TLS)); err != nil {
		return err
	}
	for _, p := range u.privs {
		if err := u.grant(u.Host, p.object, p.privs, p.option); err != nil {
			return err
		}
	}
	return nil
}

// kept is how the user is identified for its other hosts, when that is the same
// everywhere.
func (u *mysqlAccount) kept() (string, error) {
	rows, err := u.server.query("SELECT DISTINCT plugin, authentication_string FROM mysql.user WHERE user = " + mysqlText(u.Name))
	if err != nil || len(rows) != 1 {
		return "", err
	}
	return u.withHash(rows[0][0], rows[0][1]), nil
}

// withHash names a plugin and what it keeps of the user.
func (u *mysqlAccount) withHash(plugin, hash string) string {
	return "WITH " + mysqlName(plugin) + " AS " + mysqlText(hash)
}

// identified is what stands after IDENTIFIED, or "".
func (u *mysqlAccount) identified() string {
	switch {
	case u.Password != nil && u.Plugin == nil:
		return u.withHash("mysql_native_password", u.hash())
	case u.Plugin == nil:
		return ""
	case u.PluginHash != nil:
		return u.withHash(*u.Plugin, *u.PluginHash)
	case u.PluginAuth == nil:
		return "WITH " + mysqlName(*u.Plugin)
	case !u.server.mariadb:
		return "WITH " + mysqlName(*u.Plugin) + " BY " + mysqlText(*u.PluginAuth)
	case *u.Plugin == "pam":
		return "WITH " + mysqlName(*u.Plugin) + " USING " + mysqlText(*u.PluginAuth)
	}
	return "VIA " + mysqlName(*u.Plugin) + " USING PASSWORD(" + mysqlText(*u.PluginAuth) + ")"
}

// hash is the password as mysql_native_password keeps it: SHA-1 twice.
func (u *mysqlAccount) hash() string {
	if u.Encrypted || *u.Password == "" {
		return *u.Password
	}
	once := sha1.Sum([]byte(*u.Password))
	return fmt.Sprintf("*%X", sha1.Sum(once[:]))
}

// requires is the REQUIRE clause.
func (u *mysqlAccount) requires(tls *value.Dict) string {
	if tls == nil || tls.Len() == 0 {
		return ""
	}
	var words []string
	for name, v := range tls.All() {
		word := strings.ToUpper(value.Str(name))
		if word == "SSL" || word == "X509" {
			return " REQUIRE " + word
		}
		words = append(words, word+" "+mysqlText(value.Str(v)))
	}
	slices.Sort(words)
	return " REQUIRE " + strings.Join(words, " AND ")
}

func (u *mysqlAccount) modify(host string) error {
	for _, step := range []func(string) error{u.modifyPassword, u.modifyPlugin, u.modifyPrivileges, u.modifyTLS} {
		if err := step(host); err != nil {
			return err
		}
	}
	return nil
}

func (u *mysqlAccount) modifyPassword(host string) error {
	if u.Password == nil || u.Plugin != nil || u.UpdatePassword != "always" {
		return nil
	}
	rows, err := u.server.query("SELECT authentication_string FROM mysql.user WHERE user = " + mysqlText(u.Name) + " AND host = " + mysqlText(host))
	if err != nil || len(rows) == 1 && rows[0][0] == u.hash() {
		return err
	}
	u.changed, u.renewed, u.msg = true, true, "Password updated"
	if !u.server.Check {
		u.msg = "Password updated (new style)"
	}
	return u.server.do("ALTER USER " + u.account(host) + " IDENTIFIED " + u.withHash("mysql_native_password", u.hash()))
}

func (u *mysqlAccount) modifyPlugin(host string) error {
	if u.Plugin == nil {
		return nil
	}
	rows, err := u.server.query("SELECT plugin, authentication_string FROM mysql.user WHERE user = " + mysqlText(u.Name) + " AND host = " + mysqlText(host))
	if err != nil || len(rows) != 1 {
		return err
	}
	same := rows[0][0] == *u.Plugin && (u.PluginHash == nil || rows[0][1] == *u.PluginHash) &&
		(u.PluginAuth == nil || rows[0][1] == *u.PluginAuth)
	if same || u.UpdatePassword != "always" {
		return nil
	}
	u.changed, u.renewed = true, true
	return u.server.do("ALTER USER " + u.account(host) + " IDENTIFIED " + u.identified())
}

func (u *mysqlAccount) modifyTLS(host string) error {
	if u.TLS == nil {
		return nil
	}
	rows, err := u.server.query("SELECT ssl_type, x509_issuer, x509_subject, ssl_cipher FROM mysql.user WHERE user = " +
		mysqlText(u.Name) + " AND host = " + mysqlText(host))
	if err != nil || len(rows) != 1 {
		return err
	}
	now := value.DictOf()
	switch rows[0][0] {
	case "ANY":
		now.Set("SSL", nil)
	case "X509":
		now.Set("X509", nil)
	default:
		for i, name := range []string{"ISSUER", "SUBJECT", "CIPHER"} {
			if rows[0][i+1] != "" {
				now.Set(name, rows[0][i+1])
			}
		}
	}
	want := u.requires(u.TLS)
	if u.requires(now) == want {
		return nil
	}
	if want == "" {
		want = " REQUIRE NONE"
	}
	u.changed, u.msg = true, "TLS requires updated"
	return u.server.do("ALTER USER " + u.account(host) + want)
}

// limit sets the resource limits that differ.
func (u *mysqlAccount) limit(hosts []string) error {
	if u.Limits == nil || u.server.Check && len(hosts) == 0 {
		return nil
	}
	if len(hosts) == 0 {
		hosts = []string{u.Host}
	}
	columns := map[string]string{"MAX_QUERIES_PER_HOUR": "max_questions", "MAX_UPDATES_PER_HOUR": "max_updates", "MAX_CONNECTIONS_PER_HOUR": "max_connections",
		"MAX_USER_CONNECTIONS": "max_user_connections", "MAX_STATEMENT_TIME": "max_statement_time"}
	var differs, words []string
	for name, v := range u.Limits.All() {
		column, ok := columns[value.Str(name)]
		number := regexp.MustCompile(`^\d+(\.\d+)?$`).FindString(value.Str(v))
		if !ok || number == "" {
			return Failf("resource_limits: %s is not supported", value.Str(name))
		}
		differs = append(differs, column+" <> "+number)
		words = append(words, value.Str(name)+" "+number)
	}
	for _, host := range hosts {
		rows, err := u.server.query("SELECT " + strings.Join(differs, " OR ") + " FROM mysql.user WHERE user = " + mysqlText(u.Name) + " AND host = " + mysqlText(host))
		if err != nil {
			return err
		}
		if len(rows) != 1 || rows[0][0] == "0" {
			continue
		}
		u.changed = true
		if err := u.server.do("ALTER USER " + u.account(host) + " WITH " + strings.Join(words, " ")); err != nil {
			return err
		}
	}
	return nil
}
