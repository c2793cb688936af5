package modules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/shellquote"
)

// mysqlDBArgs are the arguments of mysql_db.
type mysqlDBArgs struct {
	Names             []string `arg:"name,required,aliases=db" doc:"the databases; all: every one, to dump or import"`
	State             string   `arg:"state,default=present,choices=absent|dump|import|present" doc:"what shall be of them"`
	Encoding          string   `arg:"encoding" doc:"the characters' encoding, of a new database, a dump or an import"`
	Collation         string   `arg:"collation" doc:"the order of text in a new database"`
	Target            *string  `arg:"target,type=path" doc:"the file to dump to or import from; .gz, .bz2 and .xz are packed"`
	SingleTransaction bool     `arg:"single_transaction" doc:"dump in one transaction"`
	Quick             bool     `arg:"quick,default=yes" doc:"dump row by row"`
	IgnoreTables      []string `arg:"ignore_tables" doc:"tables to leave out of a dump, as database.table"`
	HexBlob           bool     `arg:"hex_blob" doc:"dump binary columns in hexadecimal"`
	Force             bool     `arg:"force" doc:"go on after an error"`
	MasterData        int      `arg:"master_data,default=0,choices=0|1|2" doc:"dump where the binary log stands: 1 as a statement, 2 as a comment"`
	SkipLockTables    bool     `arg:"skip_lock_tables" doc:"dump without locks"`
	DumpArgs          *string  `arg:"dump_extra_args" doc:"further options of mysqldump"`
	UseShell          bool     `arg:"use_shell" doc:"import through a shell (it always is)"`
	UnsafePassword    bool     `arg:"unsafe_login_password" doc:"has no meaning here: passwords stand on no command line"`
	RestrictConfig    bool     `arg:"restrict_config_file" doc:"dump, import: read no option file but config_file"`
	ConfigOverrides   bool     `arg:"config_overrides_defaults" doc:"host and port of config_file count more than the defaults"`
	Chdir             *string  `arg:"chdir,type=path" doc:"the folder to dump or import in"`
	Pipefail          bool     `arg:"pipefail" doc:"dump: fail when mysqldump does, though its output is packed"`
	mysqlLogin
}

func mysqlDB() Module {
	return Define("mysql_db", "Create, drop, dump and import MySQL databases", runMySQLDB).In("community.mysql")
}

func runMySQLDB(c *Call, args *mysqlDBArgs) (*Result, error) {
	d := &mysqlDatabases{mysqlDBArgs: args, Call: c}
	if err := d.checkArgs(); err != nil {
		return nil, err
	}
	var err error
	if d.server, err = c.mysql(&args.mysqlLogin); err != nil {
		return nil, err
	}
	defer d.server.close()
	if err := d.sort(); err != nil {
		return nil, err
	}
	switch args.State {
	case "dump":
		return d.dump()
	case "import":
		return d.load()
	case "absent":
		return d.each(d.there, func(name string) string { return "DROP DATABASE " + mysqlName(name) })
	}
	return d.each(d.missing, d.creation)
}

type mysqlDatabases struct {
	*mysqlDBArgs
	*Call
	server         *mysql
	all            bool
	there, missing []string
	executed       []string
}

func (d *mysqlDatabases) checkArgs() error {
	carries := d.State == "dump" || d.State == "import"
	d.all = slices.Contains(d.Names, "all")
	switch {
	case carries && d.Target == nil:
		return Failf("with state=%s target is required", d.State)
	case d.all && !carries:
		return Failf("name is not allowed to equal 'all' unless state equals import, or dump.")
	case d.all && len(d.Names) > 1:
		return Failf("all cannot be used with other databases")
	case d.State == "import" && len(d.Names) > 1:
		return Failf("import is not supported with multiple databases")
	}
	return nil
}

// sort finds which databases are there.
func (d *mysqlDatabases) sort() error {
	if d.all {
		return nil
	}
	rows, err := d.server.query("SELECT schema_name FROM information_schema.schemata")
	if err != nil {
		return err
	}
	for _, name := range d.Names {
		if slices.ContainsFunc(rows, func(row []string) bool { return row[0] == name }) {
			d.there = append(d.there, name)
		} else {
			d.missing = append(d.missing, name)
		}
	}
	return nil
}

func (d *mysqlDatabases) creation(name string) string {
	words := "CREATE DATABASE " + mysqlName(name)
	if d.Encoding != "" {
		words += " CHARACTER SET " + mysqlText(d.Encoding)
	}
	if d.Collation != "" {
		words += " COLLATE " + mysqlText(d.Collation)
	}
	return words
}

// each runs a statement for each of the databases.
func (d *mysqlDatabases) each(names []string, statement func(string) string) (*Result, error) {
	for _, name := range names {
		if d.Check {
			break
		}
		if err := d.server.do(statement(name)); err != nil {
			return nil, Failf("error changing database: %s", err)
		}
		d.executed = append(d.executed, statement(name))
	}
	return d.report(len(names) > 0, len(names) == 0 || !d.Check), nil
}

func (d *mysqlDatabases) report(changed, executed bool) *Result {
	out := NewResult(changed).With("db", strings.Join(d.Names, " ")).With("db_list", stringList(d.Names))
	if executed {
		out.Set("executed_commands", stringList(d.executed))
	}
	return out
}

// shown are the options that tell a reader which server was meant; the programs
// themselves get them, and the password, from the option file.
func (d *mysqlDatabases) shown() []string {
	var words []string
	if d.LoginUser != nil {
		words = append(words, "--user="+*d.LoginUser)
	}
	if d.LoginPassword != nil {
		words = append(words, "--password=********")
	}
	if d.LoginSocket != nil {
		return append(words, "--socket="+*d.LoginSocket)
	}
	return append(words, "--host="+d.LoginHost, fmt.Sprintf("--port=%d", d.LoginPort))
}

func (d *mysqlDatabases) dump() (*Result, error) {
	if len(d.missing) > 0 {
		return nil, Failf("Cannot dump database(s) '%s' - not found", strings.Join(d.missing, "', '"))
	}
	if d.Check {
		return d.report(true, false), nil
	}
	program, err := d.needTool("mysqldump")
	if err != nil {
		return nil, err
	}
	packer, err := d.packer()
	if err != nil {
		return nil, err
	}
	tail := " > " + shellquote.Quote(*d.Target)
	if packer != "" {
		tail = " | " + packer + tail
	}
	return d.carry(program, d.dumpOptions()+tail, packer != "" && d.Pipefail)
}

func (d *mysqlDatabases) dumpOptions() string {
	var words []string
	if d.Force {
		words = append(words, "--force")
	}
	switch {
	case d.all:
		words = append(words, "--all-databases")
	case len(d.Names) > 1:
		words = append(append(words, "--databases"), d.Names...)
	default:
		words = append(words, d.Names[0])
	}
	if d.SkipLockTables {
		words = append(words, "--skip-lock-tables")
	}
	if d.Encoding != "" {
		words = append(words, "--default-character-set="+d.Encoding)
	}
	if d.SingleTransaction {
		words = append(words, "--single-transaction=true")
	}
	if d.Quick {
		words = append(words, "--quick")
	}
	for _, table := range d.IgnoreTables {
		words = append(words, "--ignore-table="+table)
	}
	if d.HexBlob {
		words = append(words, "--hex-blob")
	}
	if d.MasterData != 0 {
		words = append(words, fmt.Sprintf("--master-data=%d", d.MasterData))
	}
	line := shellquote.Join(words)
	if d.DumpArgs != nil {
		line += " " + *d.DumpArgs
	}
	return line
}

// packer is the program that packs the target, and unpacks it with -dc, or "".
func (d *mysqlDatabases) packer() (string, error) {
	pair, ok := packers()[filepath.Ext(*d.Target)]
	if !ok {
		return "", nil
	}
	return d.needTool(pair[0])
}

func (d *mysqlDatabases) load() (*Result, error) {
	if d.Check {
		return d.report(true, false), nil
	}
	if _, err := os.Stat(d.abs(*d.Target)); err != nil {
		return nil, Failf("target %s does not exist on the host", *d.Target)
	}
	for _, name := range d.missing {
		if err := d.server.do(d.creation(name)); err != nil {
			return nil, Failf("error creating database: %s", err)
		}
		d.executed = append(d.executed, d.creation(name))
	}
	program, err := d.needTool("mysql")
	if err != nil {
		return nil, err
	}
	packer, err := d.packer()
	if err != nil {
		return nil, err
	}
	var words []string
	if d.Force {
		words = append(words, "-f")
	}
	if d.Encoding != "" {
		words = append(words, "--default-character-set="+d.Encoding)
	}
	if !d.all {
		words = append(words, "--one-database", d.Names[0])
	}
	line := shellquote.Join(words)
	if line != "" {
		line += " "
	}
	if packer == "" {
		return d.carry(program, line+"< "+shellquote.Quote(*d.Target), false)
	}
	return d.unpack(packer, program, line)
}

// unpack imports from a packed file.
func (d *mysqlDatabases) unpack(packer, program, line string) (*Result, error) {
	from := packer + " -dc " + shellquote.Quote(*d.Target) + " | "
	d.executed = append(d.executed, strings.TrimSpace(from+program+" "+shellquote.Join(d.shown())+" "+line))
	return d.shell(from+program+" --defaults-file="+shellquote.Quote(d.server.options)+" "+line, false)
}

// carry runs mysqldump or mysql. A file has to be redirected and may have to be
// packed: the line is the shell's.
func (d *mysqlDatabases) carry(program, line string, pipefail bool) (*Result, error) {
	d.executed = append(d.executed, program+" "+shellquote.Join(d.shown())+" "+line)
	return d.shell(program+" --defaults-file="+shellquote.Quote(d.server.options)+" "+line, pipefail)
}

func (d *mysqlDatabases) shell(line string, pipefail bool) (*Result, error) {
	c := *d.Call
	if d.Chdir != nil {
		c.Dir = d.abs(*d.Chdir)
	}
	argv := []string{"/bin/sh", "-c", line}
	if pipefail {
		argv = []string{"bash", "-o", "pipefail", "-c", line}
	}
	out, err := c.tool(argv...)
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, Failf("%s", out.errOut)
	}
	return d.report(true, true).With("msg", out.out), nil
}
