package modules

import (
	"fmt"
	"os"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// postgresqlDBArgs are the arguments of postgresql_db.
type postgresqlDBArgs struct {
	Name        string  `arg:"name,required,aliases=db" doc:"the database"`
	State       string  `arg:"state,default=present,choices=absent|dump|present|rename|restore" doc:"what shall be of it"`
	Owner       string  `arg:"owner" doc:"the role that owns it"`
	Template    string  `arg:"template" doc:"the database to copy at creation"`
	Encoding    string  `arg:"encoding" doc:"its encoding, set at creation"`
	Collate     string  `arg:"lc_collate" doc:"its order of text, set at creation"`
	CType       string  `arg:"lc_ctype" doc:"its classes of characters, set at creation"`
	Limit       string  `arg:"conn_limit" doc:"how many connections may be open; -1 is any number"`
	Tablespace  string  `arg:"tablespace,type=path" doc:"its default tablespace"`
	Force       bool    `arg:"force" doc:"with state=absent: end the sessions that use it"`
	Target      string  `arg:"target,type=path" doc:"dump, restore: the file; rename: the new name"`
	TargetOpts  string  `arg:"target_opts" doc:"further options for pg_dump, pg_restore or psql"`
	DumpArgs    *string `arg:"dump_extra_args" doc:"further options for pg_dump"`
	Maintenance string  `arg:"maintenance_db,default=postgres" doc:"the database to be connected to meanwhile"`
	postgresLogin
}

func postgresqlDB() Module {
	return Define("postgresql_db", "Create, drop, rename, dump and restore PostgreSQL databases", runPostgresqlDB).In("community.postgresql", "community.general")
}

func runPostgresqlDB(c *Call, args *postgresqlDBArgs) (*Result, error) {
	if !args.Trust {
		if err := pgTrusted(args.Name, args.Owner, args.Template, args.Encoding, args.Collate, args.CType, args.Tablespace, args.Limit, deref(args.Role)); err != nil {
			return nil, err
		}
	}
	d := &postgresqlDatabase{postgresqlDBArgs: args}
	if args.State == "dump" || args.State == "restore" {
		return d.carry(c)
	}
	var err error
	if d.server, err = c.postgres(&args.postgresLogin, args.Maintenance); err != nil {
		return nil, err
	}
	defer d.server.close()
	changed, err := d.bring()
	if refused, ok := err.(*sqlError); ok {
		return nil, Failf("Database query failed: %s", refused.msg)
	}
	if err != nil {
		return nil, err
	}
	return NewResult(changed).With("db", args.Name).With("executed_commands", stringList(d.executed)), nil
}

// pgTrusted refuses text that could end a statement and begin another.
func pgTrusted(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, `;"`) || strings.Contains(text, "--") {
			return Failf("Passed input '%s' is potentially dangerous", text)
		}
	}
	return nil
}

type postgresqlDatabase struct {
	*postgresqlDBArgs
	server   *postgres
	executed []string
}

func (d *postgresqlDatabase) execute(statement string) error {
	if d.server.Check {
		return nil
	}
	if _, err := d.server.query(statement); err != nil {
		return err
	}
	d.executed = append(d.executed, statement)
	return nil
}

func (d *postgresqlDatabase) exists(name string) (bool, error) {
	rows, err := d.server.query("SELECT 1 FROM pg_database WHERE datname = " + pgText(name))
	return len(rows) > 0, err
}

func (d *postgresqlDatabase) bring() (bool, error) {
	there, err := d.exists(d.Name)
	if err != nil {
		return false, err
	}
	switch {
	case d.State == "rename":
		return d.rename(there)
	case d.State == "absent" && !there:
		return false, nil
	case d.State == "absent":
		statement := "DROP DATABASE " + pgName(d.Name)
		if d.Force {
			statement += " WITH (FORCE)"
		}
		return true, d.execute(statement)
	case !there:
		return true, d.execute(d.creation())
	default:
		return d.alter()
	}
}

func (d *postgresqlDatabase) rename(there bool) (bool, error) {
	done, err := d.exists(d.Target)
	switch {
	case err != nil:
		return false, err
	case there && done:
		return false, Failf("Both the source and the target databases exist.")
	case !there && !done:
		return false, Failf("The source and the target databases do not exist.")
	case done:
		return false, nil
	}
	return true, d.execute(fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", pgName(d.Name), pgName(d.Target)))
}

func (d *postgresqlDatabase) creation() string {
	words := []string{"CREATE DATABASE " + pgName(d.Name)}
	for _, o := range []struct {
		word, text string
		quote      func(string) string
	}{
		{"OWNER", d.Owner, pgName}, {"TEMPLATE", d.Template, pgName}, {"ENCODING", d.Encoding, pgText}, {"LC_COLLATE", d.Collate, pgText},
		{"LC_CTYPE", d.CType, pgText}, {"TABLESPACE", d.Tablespace, pgName}, {"CONNECTION LIMIT", d.Limit, strings.Clone},
	} {
		if o.text != "" {
			words = append(words, o.word+" "+o.quote(o.text))
		}
	}
	return strings.Join(words, " ")
}

// alter sets what can be set of a database that is there, and refuses the rest.
func (d *postgresqlDatabase) alter() (bool, error) {
	rows, err := d.server.query(`SELECT pg_catalog.pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype, datconnlimit,
 (SELECT spcname FROM pg_tablespace t WHERE t.oid = dattablespace), encoding = pg_char_to_encoding(` + pgText(d.Encoding) + `)
 FROM pg_database WHERE datname = ` + pgText(d.Name))
	if err != nil {
		return false, err
	}
	if len(rows) != 1 || len(rows[0]) != 7 {
		return false, Failf("cannot read what is known of the database %q", d.Name)
	}
	now := rows[0]
	for _, fixed := range []struct {
		what, want, have string
		same             bool
	}{
		{"database encoding", d.Encoding, "encoding: " + now[1], now[6] == "t"},
		{"LC_COLLATE", d.Collate, "LC_COLLATE: " + now[2], d.Collate == now[2]},
		{"LC_CTYPE", d.CType, "LC_CTYPE: " + now[3], d.CType == now[3]},
	} {
		if fixed.want != "" && !fixed.same {
			return false, Failf("Changing %s is not supported. Current %s", fixed.what, fixed.have)
		}
	}
	changed := false
	for _, o := range []struct{ want, have, words string }{
		{d.Owner, now[0], "OWNER TO " + pgName(d.Owner)},
		{d.Limit, now[4], "CONNECTION LIMIT " + d.Limit},
		{d.Tablespace, now[5], "SET TABLESPACE " + pgName(d.Tablespace)},
	} {
		if o.want == "" || o.want == o.have {
			continue
		}
		changed = true
		if err := d.execute("ALTER DATABASE " + pgName(d.Name) + " " + o.words); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// carry dumps or restores the database through pg_dump, psql or pg_restore.
func (d *postgresqlDatabase) carry(c *Call) (*Result, error) {
	if d.Target == "" {
		dir := c.Dir
		if dir == "" {
			dir, _ = os.Getwd()
		}
		d.Target = dir + "/" + d.Name + ".sql"
	}
	if c.Check {
		return NewResult(false).With("db", d.Name).With("executed_commands", value.NewList()), nil
	}
	p := &postgres{Call: c, login: &d.postgresLogin, database: d.Name}
	if d.LoginPassword != "" {
		var err error
		if p, err = c.postgres(&d.postgresLogin, d.Name); err != nil {
			return nil, err
		}
		defer p.close()
	}
	line, err := d.pipeline(c)
	if err != nil {
		return nil, err
	}
	sh := *c
	sh.Env = p.variables()
	out, err := sh.tool("/bin/sh", "-c", line)
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, &Failure{Msg: out.errOut, With: value.DictOf("stdout", out.out, "rc", out.rc, "cmd", line)}
	}
	return NewResult(true).With("msg", out.out).With("stderr", out.errOut).With("rc", out.rc).With("cmd", line).
		With("executed_commands", stringList([]string{line})), nil
}

// server lists the options by which the programs reach the server.
func (d *postgresqlDatabase) serverOptions() string {
	var words []string
	host := d.LoginHost
	if d.LoginSocket != "" {
		host = d.LoginSocket
	}
	if host != "" {
		words = append(words, "--host="+host)
	}
	words = append(words, fmt.Sprintf("--port=%d", d.LoginPort), "--username="+d.LoginUser)
	return shellquote.Join(words)
}

// packers are the programs for what a target's name ends in: to pack, to unpack.
func packers() map[string][2]string {
	return map[string][2]string{".gz": {"gzip", "gunzip"}, ".bz2": {"bzip2", "bunzip2"}, ".xz": {"xz", "unxz"}}
}

// pipeline is the shell's line that dumps or restores. A file has to be
// redirected and may have to be packed, and the result shows the line.
func (d *postgresqlDatabase) pipeline(c *Call) (string, error) {
	ending := d.Target[strings.LastIndexByte(d.Target, '.')+1:]
	target := shellquote.Quote(d.Target)
	packer := ""
	if pair, ok := packers()["."+ending]; ok {
		tool := pair[0]
		if d.State == "restore" {
			tool = pair[1]
		}
		path, err := c.needTool(tool)
		if err != nil {
			return "", err
		}
		packer = path
	}
	if d.State == "dump" {
		return d.dumpLine(c, ending, target, packer)
	}
	return d.restoreLine(c, ending, target, packer)
}

func (d *postgresqlDatabase) dumpLine(c *Call, ending, target, packer string) (string, error) {
	dump, err := c.needTool("pg_dump")
	if err != nil {
		return "", err
	}
	line := dump + " " + shellquote.Quote(d.Name) + " " + d.serverOptions()
	switch ending {
	case "tar":
		line += " --format=t"
	case "pgc":
		line += " --format=c"
	}
	for _, more := range []string{deref(d.DumpArgs), d.TargetOpts} {
		if more != "" {
			line += " " + more
		}
	}
	if packer != "" {
		line += " | " + packer
	}
	return line + " > " + target, nil
}

func (d *postgresqlDatabase) restoreLine(c *Call, ending, target, packer string) (string, error) {
	name, own := "psql", ""
	switch ending {
	case "sql":
		own = " --file=" + target
	case "tar":
		name, own = "pg_restore", " --format=Tar"
	case "pgc":
		name, own = "pg_restore", " --format=Custom"
	}
	program, err := c.needTool(name)
	if err != nil {
		return "", err
	}
	line := program + " --dbname=" + shellquote.Quote(d.Name) + " " + d.serverOptions() + own
	if d.TargetOpts != "" {
		line += " " + d.TargetOpts
	}
	if packer != "" {
		return packer + " < " + target + " | " + line, nil
	}
	return line + " < " + target, nil
}
