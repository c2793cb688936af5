package modules

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/value"
)

// postgresLogin are the arguments by which a module reaches PostgreSQL. The
// statements go through psql; a password goes by a file that only its user can
// read, never by a command line or the environment.
type postgresLogin struct {
	LoginHost     string      `arg:"login_host,aliases=host" doc:"the server's host; empty: a Unix socket"`
	LoginSocket   string      `arg:"login_unix_socket,aliases=unix_socket" doc:"the folder of the server's Unix socket"`
	LoginUser     string      `arg:"login_user,default=postgres,aliases=login" doc:"the role to log in as"`
	LoginPassword string      `arg:"login_password,nolog" doc:"its password"`
	LoginPort     int         `arg:"port,default=5432,aliases=login_port" doc:"the server's port"`
	SSLMode       string      `arg:"ssl_mode,default=prefer,choices=allow|disable|prefer|require|verify-ca|verify-full" doc:"how the connection is secured"`
	CACert        *string     `arg:"ca_cert,aliases=ssl_rootcert" doc:"file of certificate authorities"`
	Cert          *string     `arg:"ssl_cert,type=path" doc:"file of the client's certificate"`
	Key           *string     `arg:"ssl_key,type=path" doc:"file of its key"`
	Role          *string     `arg:"session_role" doc:"the role to switch to after logging in"`
	Params        *value.Dict `arg:"connect_params" doc:"further parameters of the connection, by libpq's names"`
	Trust         bool        `arg:"trust_input,default=yes" doc:"no: refuse names that look like statements"`
}

// postgres runs statements in one database.
type postgres struct {
	*Call
	login    *postgresLogin
	database string
	passfile string
}

// postgres checks the arguments and that the database can be reached.
func (c *Call) postgres(login *postgresLogin, database string) (*postgres, error) {
	p := &postgres{Call: c, login: login, database: database}
	if login.LoginPassword != "" {
		p.passfile = filepath.Join(c.TmpDir, "pgpass")
		line := "*:*:*:*:" + strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(login.LoginPassword) + "\n"
		if err := os.WriteFile(p.passfile, []byte(line), 0o600); err != nil {
			return nil, err
		}
	}
	if _, err := p.query("SELECT 1"); err != nil {
		return nil, err
	}
	return p, nil
}

// close removes the password's file.
func (p *postgres) close() {
	if p.passfile != "" {
		_ = os.Remove(p.passfile) // it lies in the agent's private folder, which goes with the agent
	}
}

// variables are libpq's, for psql and its relatives.
func (p *postgres) variables() []string {
	l := p.login
	host := l.LoginHost
	if l.LoginSocket != "" && (host == "" || host == "localhost") {
		host = l.LoginSocket
	}
	env := append(withLocaleC(p.Env), "PGUSER="+l.LoginUser, "PGPORT="+strconv.Itoa(l.LoginPort), "PGSSLMODE="+l.SSLMode, "PGAPPNAME=play")
	for name, text := range map[string]string{"PGHOST": host, "PGPASSFILE": p.passfile, "PGSSLROOTCERT": deref(l.CACert),
		"PGSSLCERT": deref(l.Cert), "PGSSLKEY": deref(l.Key)} {
		if text != "" {
			env = append(env, name+"="+text)
		}
	}
	return env
}

// conninfo names the database and what libpq is told beyond the variables.
func (p *postgres) conninfo() string {
	quote := func(text string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'" }
	words := []string{"dbname=" + quote(p.database)}
	if p.login.Params != nil {
		for name, v := range p.login.Params.All() {
			words = append(words, fmt.Sprintf("%v=%s", name, quote(value.Str(v))))
		}
	}
	return strings.Join(words, " ")
}

// sqlError is a statement that the server refused, with the server's words.
type sqlError struct{ msg string }

func (e *sqlError) Error() string { return e.msg }

// query runs one statement and returns its rows as text; NULL is "".
func (p *postgres) query(statement string) ([][]string, error) {
	const column, row = "\x1f", "\x1e"
	var text strings.Builder
	if p.login.Role != nil {
		fmt.Fprintf(&text, "SET ROLE %s;\n", pgName(*p.login.Role))
	}
	text.WriteString(statement + "\n;\n")
	c := *p.Call
	c.Env = p.variables()
	out, err := c.toolStdin(text.String(), "psql", "-X", "-q", "-A", "-t", "-w", "-F", column, "-R", row, "-v", "ON_ERROR_STOP=1", "-d", p.conninfo())
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, pgError(out.errOut)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(out.out, "\n"), row) {
		if line != "" {
			rows = append(rows, strings.Split(line, column))
		}
	}
	return rows, nil
}

// pgError makes an error of what psql wrote.
func pgError(text string) error {
	if why, ok := strings.CutPrefix(text, "psql: error: "); ok {
		return Failf("unable to connect to database: %s", why)
	}
	text = strings.TrimPrefix(text, "psql:<stdin>:1: ")
	return &sqlError{strings.TrimPrefix(text, "ERROR:  ")}
}

// pgName quotes an identifier as the collection does: what has a dot or a quote
// inside is the caller's to quote.
func pgName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// pgText quotes a string constant.
func pgText(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
