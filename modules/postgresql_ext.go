package modules

import (
	"play/modules/value"
)

// postgresqlExtArgs are the arguments of postgresql_ext.
type postgresqlExtArgs struct {
	DB      string  `arg:"db,required,aliases=login_db" doc:"the database"`
	Ext     string  `arg:"ext,required,aliases=name" doc:"the extension"`
	Schema  *string `arg:"schema" doc:"the schema to put it into"`
	State   string  `arg:"state,default=present,choices=absent|present" doc:"whether it shall be there"`
	Cascade bool    `arg:"cascade,default=no" doc:"install what it needs; drop what needs it"`
	Version *string `arg:"version" doc:"its version; latest: the newest"`
	postgresLogin
}

func postgresqlExt() Module {
	return Define("postgresql_ext", "Add and remove extensions of PostgreSQL databases", runPostgresqlExt).In("community.postgresql", "community.general")
}

// pgExtension is one run of postgresql_ext.
type pgExtension struct {
	*postgresqlExtArgs
	*postgres
	queries *value.List
}

func runPostgresqlExt(c *Call, args *postgresqlExtArgs) (*Result, error) {
	if !args.Trust {
		if err := pgTrusted(args.Ext, deref(args.Schema), deref(args.Version), deref(args.Role)); err != nil {
			return nil, err
		}
	}
	p, err := c.postgres(&args.postgresLogin, args.DB)
	if err != nil {
		return nil, err
	}
	defer p.close()
	e := &pgExtension{args, p, value.NewList()}
	changed, err := e.act()
	if _, refused := err.(*sqlError); refused {
		return nil, Failf("Management of PostgreSQL extension failed: %v", err)
	}
	if err != nil {
		return nil, err
	}
	out := NewResult(changed).With("db", args.DB).With("ext", args.Ext).With("queries", e.queries)
	if args.Version != nil && *args.Version != "" && args.State == "absent" {
		out.warn("Parameter version is ignored when state=absent")
	}
	return out, nil
}

func (e *pgExtension) act() (changed bool, err error) {
	rows, err := e.query("SELECT extversion FROM pg_catalog.pg_extension WHERE extname = " + pgText(e.Ext))
	if err != nil {
		return false, err
	}
	wanted := deref(e.Version)
	switch {
	case e.State == "absent" && len(rows) == 0:
		return false, nil
	case e.State == "absent":
		return true, e.do("DROP EXTENSION "+pgName(e.Ext), e.Cascade)
	case len(rows) == 0:
		return true, e.create(wanted)
	case wanted == "" || rows[0][0] == wanted:
		return false, nil
	}
	return true, e.update(rows[0][0], wanted)
}

// do runs a statement that changes something, unless in check mode.
func (e *pgExtension) do(statement string, cascade bool) error {
	if cascade {
		statement += " CASCADE"
	}
	if e.Check {
		return nil
	}
	e.queries.Append(statement)
	_, err := e.query(statement)
	return err
}

func (e *pgExtension) create(version string) error {
	rows, err := e.query("SELECT version FROM pg_available_extension_versions WHERE name = " + pgText(e.Ext))
	if err != nil {
		return err
	}
	if version == "" && len(rows) == 0 {
		return Failf("Extension %s is not available", e.Ext)
	}
	available := false
	for _, row := range rows {
		available = available || row[0] == version
	}
	if version != "" && version != "latest" && !available {
		return Failf("Passed version '%s' is not available", version)
	}
	statement := "CREATE EXTENSION " + pgName(e.Ext)
	if deref(e.Schema) != "" {
		statement += " WITH SCHEMA " + pgName(*e.Schema)
	}
	if available {
		statement += " VERSION " + pgText(version)
	}
	return e.do(statement, e.Cascade)
}

func (e *pgExtension) update(now, version string) error {
	statement := "ALTER EXTENSION " + pgName(e.Ext) + " UPDATE"
	if version != "latest" {
		rows, err := e.query("SELECT 1 FROM pg_extension_update_paths(" + pgText(e.Ext) + ") WHERE source = " + pgText(now) + " AND target = " + pgText(version))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return Failf("Passed version '%s' has no valid update path from the currently installed version '%s' or the passed version is not available", version, now)
		}
		statement += " TO " + pgText(version)
	}
	return e.do(statement, false)
}
