package modules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"play/modules/value"
)

// mysqlLogin are the arguments by which a module reaches MySQL or MariaDB. The
// statements go through the client mysql; what it is told about the server and the
// password stands in an option file that only its user can read.
type mysqlLogin struct {
	LoginHost     string  `arg:"login_host,default=localhost" doc:"the server's host; localhost: its Unix socket"`
	LoginPort     int     `arg:"login_port,default=3306" doc:"the server's port"`
	LoginSocket   *string `arg:"login_unix_socket" doc:"the server's Unix socket"`
	LoginUser     *string `arg:"login_user" doc:"the user to log in as"`
	LoginPassword *string `arg:"login_password,nolog" doc:"its password"`
	ConfigFile    *string `arg:"config_file,type=path,default=~/.my.cnf" doc:"an option file to begin with; empty: none"`
	Timeout       int     `arg:"connect_timeout,default=30" doc:"seconds until connecting has failed"`
	Cert          *string `arg:"client_cert,type=path,aliases=ssl_cert" doc:"file of the client's certificate"`
	Key           *string `arg:"client_key,type=path,aliases=ssl_key" doc:"file of its key"`
	CACert        *string `arg:"ca_cert,type=path,aliases=ssl_ca" doc:"file of certificate authorities"`
	CheckHostname *bool   `arg:"check_hostname" doc:"whether the server's name must be the certificate's"`
	ImplicitAdmin bool    `arg:"check_implicit_admin" doc:"try root without a password first"`
}

// mysql runs statements on a server.
type mysql struct {
	*Call
	login   *mysqlLogin
	options string   // the option file
	first   []string // statements that begin each session
	mariadb bool
}

// mysql checks that the server can be reached.
func (c *Call) mysql(login *mysqlLogin) (*mysql, error) {
	m := &mysql{Call: c, login: login, options: filepath.Join(c.TmpDir, "my.cnf")}
	if login.ImplicitAdmin && m.connect("root", "") == nil {
		return m, nil
	}
	if login.LoginUser == nil && login.LoginPassword != nil || login.LoginUser != nil && login.LoginPassword == nil && login.LoginSocket == nil && !m.hasConfig() {
		return nil, m.unreached(fmt.Sprintf("(1045, \"Access denied for user '%s'@'localhost' (using password: NO)\")", deref(login.LoginUser)))
	}
	return m, m.connect(deref(login.LoginUser), deref(login.LoginPassword))
}

// connect writes the option file and asks the server for its version.
func (m *mysql) connect(user, password string) error {
	if err := m.write(user, password); err != nil {
		return err
	}
	rows, err := m.query("SELECT VERSION()")
	if refused, ok := err.(*sqlError); ok {
		return m.unreached(refused.msg)
	}
	if err != nil {
		return err
	}
	m.mariadb = len(rows) == 1 && strings.Contains(strings.ToLower(rows[0][0]), "mariadb")
	return nil
}

func (m *mysql) unreached(why string) error {
	file := deref(m.login.ConfigFile)
	if !m.hasConfig() {
		return Failf("unable to find %s. Exception message: %s", file, why)
	}
	return Failf("unable to connect to database, check login_user and login_password are correct or %s has the credentials. Exception message: %s", file, why)
}

func (m *mysql) hasConfig() bool {
	return deref(m.login.ConfigFile) != "" && exists(*m.login.ConfigFile)
}

// write makes the option file: the user's own first, then what the arguments say.
func (m *mysql) write(user, password string) error {
	var text strings.Builder
	if m.hasConfig() {
		fmt.Fprintf(&text, "!include %s\n", *m.login.ConfigFile)
	}
	fmt.Fprintf(&text, "[mysql]\nconnect-timeout=%d\n[client]\n", m.login.Timeout)
	l := m.login
	host, port := "", ""
	if l.LoginSocket == nil && l.LoginHost != "localhost" {
		host, port = l.LoginHost, fmt.Sprint(l.LoginPort)
	}
	for _, o := range []struct{ name, text string }{{"user", user}, {"password", password}, {"socket", deref(l.LoginSocket)}, {"host", host},
		{"port", port}, {"ssl-cert", deref(l.Cert)}, {"ssl-key", deref(l.Key)}, {"ssl-ca", deref(l.CACert)}} {
		if o.text != "" {
			fmt.Fprintf(&text, "%s=\"%s\"\n", o.name, strings.ReplaceAll(o.text, `\`, `\\`))
		}
	}
	if l.CheckHostname != nil && *l.CheckHostname {
		text.WriteString("ssl-verify-server-cert\n")
	}
	return os.WriteFile(m.options, []byte(text.String()), 0o600)
}

// close removes the option file.
func (m *mysql) close() {
	_ = os.Remove(m.options) // it lies in the agent's private folder, which goes with the agent
}

// query runs one statement and returns its rows as text; NULL is "NULL".
func (m *mysql) query(statement string) ([][]string, error) {
	text := strings.Join(append(m.first, statement), ";\n") + ";\n"
	out, err := m.toolStdin(text, "mysql", "--defaults-file="+m.options, "--batch", "--skip-column-names", "--default-character-set=utf8mb4")
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, &sqlError{mysqlError(out.errOut)}
	}
	unescape := strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\0`, "\x00", `\\`, `\`)
	var rows [][]string
	for line := range strings.Lines(out.out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range fields {
			fields[i] = unescape.Replace(fields[i])
		}
		rows = append(rows, fields)
	}
	return rows, nil
}

// do runs a statement that changes something, unless in check mode.
func (m *mysql) do(statement string) error {
	if m.Check {
		return nil
	}
	_, err := m.query(statement)
	return err
}

// mysqlError brings the client's "ERROR 1045 (28000): why" into the form that the
// collection's messages have: (1045, "why").
func mysqlError(text string) string {
	found := regexp.MustCompile(`(?s)^(?:.*\n)?ERROR (\d+) \([^)]*\)(?: at line \d+)?: (.*)$`).FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return strings.TrimSpace(text)
	}
	return "(" + found[1] + ", " + value.Repr(regexp.MustCompile(` at line \d+$`).ReplaceAllString(found[2], " at line 1")) + ")"
}

// mysqlText quotes a string constant.
func mysqlText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\x1a", `\Z`).Replace(text) + "'"
}

// mysqlName quotes an identifier.
func mysqlName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
