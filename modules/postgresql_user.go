package modules

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"play/modules/value"
)

// postgresqlUserArgs are the arguments of postgresql_user.
type postgresqlUserArgs struct {
	Name       string   `arg:"name,required,aliases=user" doc:"the role"`
	Password   *string  `arg:"password,nolog" doc:"its password, plain or as the server keeps it; empty: none"`
	Database   string   `arg:"db,aliases=login_db" doc:"the database to be connected to, and that priv is about"`
	FailOnUser bool     `arg:"fail_on_user,default=yes,aliases=fail_on_role" doc:"fail when the role cannot be dropped"`
	Priv       *string  `arg:"priv" doc:"privileges: PRIV/TABLE:PRIV,PRIV"`
	Flags      string   `arg:"role_attr_flags" doc:"attributes with commas between, such as CREATEDB,NOLOGIN"`
	Encrypted  bool     `arg:"encrypted,default=yes" doc:"the server keeps the password hashed (it always does since version 10)"`
	Expires    *string  `arg:"expires" doc:"when the password ends; infinity: never"`
	NoPassword bool     `arg:"no_password_changes" doc:"leave the password alone"`
	Limit      *int     `arg:"conn_limit" doc:"how many connections the role may have"`
	Groups     []string `arg:"groups" doc:"roles that it shall be a member of"`
	Comment    *string  `arg:"comment" doc:"a comment on the role"`
	State      string   `arg:"state,default=present,choices=absent|present" doc:"whether the role shall be there"`
	postgresLogin
}

func postgresqlUser() Module {
	return Define("postgresql_user", "Create, change and drop PostgreSQL roles", runPostgresqlUser).In("community.postgresql", "community.general")
}

func runPostgresqlUser(c *Call, args *postgresqlUserArgs) (*Result, error) {
	if !args.Trust {
		if err := pgTrusted(args.Name, deref(args.Password), deref(args.Priv), args.Flags, deref(args.Expires), deref(args.Comment), deref(args.Role)); err != nil {
			return nil, err
		}
	}
	u := &postgresqlRole{postgresqlUserArgs: args, result: NewResult(false).With("user", args.Name)}
	if err := u.prepare(); err != nil {
		return nil, err
	}
	database := args.Database
	if database == "" {
		database = "postgres"
	}
	var err error
	if u.server, err = c.postgres(&args.postgresLogin, database); err != nil {
		return nil, err
	}
	defer u.server.close()
	if err := u.bring(); err != nil {
		return nil, err
	}
	u.deprecate()
	return u.result.Changed(u.changed).With("queries", stringList(u.queries)), nil
}

type postgresqlRole struct {
	*postgresqlUserArgs
	server  *postgres
	result  *Result
	flags   []string
	privs   []pgGrant
	queries []string // shown: a password stands as its placeholder
	changed bool
}

// prepare reads the flags and the privileges.
func (u *postgresqlRole) prepare() error {
	for _, flag := range strings.Split(strings.ToUpper(u.Flags), ",") {
		flag = strings.TrimSpace(flag)
		if flag == "" {
			continue
		}
		if _, ok := pgFlags()[strings.TrimPrefix(flag, "NO")]; !ok {
			return Failf("Invalid role_attr_flags specified: %s", flag)
		}
		u.flags = append(u.flags, flag)
	}
	if u.Priv == nil {
		return nil
	}
	if u.Database == "" {
		return Failf("privileges require a database to be specified")
	}
	var err error
	u.privs, err = pgGrants(*u.Priv, u.Database)
	return err
}

// pgFlags maps a role's flags to the columns of pg_roles.
func pgFlags() map[string]string {
	return map[string]string{"SUPERUSER": "rolsuper", "CREATEROLE": "rolcreaterole", "CREATEDB": "rolcreatedb", "INHERIT": "rolinherit",
		"LOGIN": "rolcanlogin", "REPLICATION": "rolreplication", "BYPASSRLS": "rolbypassrls"}
}

// pgGrant is what shall be granted on one object.
type pgGrant struct {
	kind, object string // DATABASE or TABLE
	privs        []string
}

// pgGrants reads PRIV/PRIV/TABLE:PRIV,PRIV.
func pgGrants(text, database string) ([]pgGrant, error) {
	onDatabase := []string{"CREATE", "CONNECT", "TEMPORARY", "TEMP"}
	onTable := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}
	var grants []pgGrant
	for _, token := range strings.Split(text, "/") {
		g, valid, names := pgGrant{kind: "DATABASE", object: database}, onDatabase, token
		if object, list, ok := strings.Cut(token, ":"); ok {
			g.kind, g.object, valid, names = "TABLE", object, onTable, list
		}
		for _, name := range strings.Split(names, ",") {
			g.privs = append(g.privs, strings.ToUpper(strings.TrimSpace(name)))
		}
		if slices.Equal(g.privs, []string{"ALL"}) {
			g.privs = slices.DeleteFunc(slices.Clone(valid), func(p string) bool { return p == "TEMP" })
		}
		for _, p := range g.privs {
			if !slices.Contains(valid, p) {
				return nil, Failf("Invalid privs specified for %s: %s", strings.ToLower(g.kind), p)
			}
		}
		grants = append(grants, g)
	}
	return grants, nil
}

func (u *postgresqlRole) bring() error {
	rows, err := u.server.query("SELECT 1 FROM pg_roles WHERE rolname = " + pgText(u.Name))
	if err != nil {
		return err
	}
	switch there := len(rows) > 0; {
	case u.State == "absent" && !there:
		return nil
	case u.State == "absent":
		return u.drop()
	case there:
		err = u.alter()
	default:
		err = u.create()
	}
	if err != nil || u.server.Check && !u.changed {
		return err
	}
	for _, step := range []func() error{u.grant, u.join, u.remark} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (u *postgresqlRole) drop() error {
	u.changed = true
	u.result.Set("user_removed", true)
	if u.server.Check {
		return nil
	}
	for _, g := range u.privs {
		if err := u.execute("REVOKE %s ON %s %s FROM %s", strings.Join(g.privs, ", "), g.kind, pgName(g.object), pgName(u.Name)); err != nil {
			return err
		}
	}
	err := u.execute("DROP USER %s", pgName(u.Name))
	if err == nil {
		return nil
	}
	if u.FailOnUser {
		return Failf("Unable to remove user")
	}
	u.changed = false
	u.result.Set("user_removed", false)
	return nil
}

// execute runs a statement and notes it.
func (u *postgresqlRole) execute(format string, args ...any) error {
	statement := fmt.Sprintf(format, args...)
	u.queries = append(u.queries, statement)
	u.changed = true
	if u.server.Check {
		return nil
	}
	_, err := u.server.query(statement)
	return err
}

// define runs CREATE USER or ALTER USER; what is shown has placeholders.
func (u *postgresqlRole) define(words []string, doing string) error {
	shown := strings.Join(words, " ")
	u.queries = append(u.queries, shown)
	u.changed = true
	if u.server.Check {
		return nil
	}
	_, err := u.server.query(strings.NewReplacer("%(password)s", pgText(deref(u.Password)), "%(expires)s", pgText(deref(u.Expires))).Replace(shown))
	if refused, ok := err.(*sqlError); ok {
		return Failf("Unable to %s user with given requirement due to : %s", doing, refused.msg)
	}
	return err
}

func (u *postgresqlRole) create() error {
	words := []string{"CREATE USER " + pgName(u.Name)}
	if u.Password != nil && *u.Password != "" {
		words = append(words, "WITH "+u.crypt(), "PASSWORD %(password)s")
	}
	if u.Expires != nil {
		words = append(words, "VALID UNTIL %(expires)s")
	}
	if u.Limit != nil {
		words = append(words, "CONNECTION LIMIT "+strconv.Itoa(*u.Limit))
	}
	return u.define(append(words, strings.Join(u.flags, " ")), "add")
}

// crypt is the word before PASSWORD. PostgreSQL 10 and later know no other.
func (u *postgresqlRole) crypt() string { return "ENCRYPTED" }

func (u *postgresqlRole) alter() error {
	password, err := u.passwordDiffers()
	if err != nil {
		return err
	}
	rest, err := u.restDiffers()
	if err != nil || !password && !rest {
		return err
	}
	words := []string{"ALTER USER " + pgName(u.Name)}
	switch flags := strings.Join(u.flags, " "); {
	case password && *u.Password == "":
		words = append(words, "WITH PASSWORD NULL", flags)
	case password:
		words = append(words, "WITH "+u.crypt(), "PASSWORD %(password)s", flags)
	case flags != "":
		words = append(words, "WITH "+flags)
	}
	if u.Expires != nil {
		words = append(words, "VALID UNTIL %(expires)s")
	}
	if u.Limit != nil {
		words = append(words, "CONNECTION LIMIT "+strconv.Itoa(*u.Limit))
	}
	return u.define(words, "alter")
}

// restDiffers compares flags, end and limit with what the server has.
func (u *postgresqlRole) restDiffers() (bool, error) {
	var differs []string
	for _, flag := range u.flags {
		column, on := strings.TrimPrefix(flag, "NO"), !strings.HasPrefix(flag, "NO")
		differs = append(differs, fmt.Sprintf("%s <> %t", pgFlags()[column], on))
	}
	if u.Expires != nil {
		differs = append(differs, "rolvaliduntil IS DISTINCT FROM "+pgText(*u.Expires)+"::timestamptz")
	}
	if u.Limit != nil {
		differs = append(differs, fmt.Sprintf("rolconnlimit <> %d", *u.Limit))
	}
	if len(differs) == 0 {
		return false, nil
	}
	rows, err := u.server.query("SELECT " + strings.Join(differs, " OR ") + " FROM pg_roles WHERE rolname = " + pgText(u.Name))
	return len(rows) == 1 && rows[0][0] == "t", err
}

// passwordDiffers compares the password with the verifier that the server keeps.
// Who may not read that is taken to have a new one.
func (u *postgresqlRole) passwordDiffers() (bool, error) {
	if u.Password == nil || u.NoPassword {
		return false, nil
	}
	rows, err := u.server.query("SELECT rolpassword FROM pg_authid WHERE rolname = " + pgText(u.Name))
	if _, refused := err.(*sqlError); refused {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	kept := ""
	if len(rows) == 1 {
		kept = rows[0][0]
	}
	return !pgVerify(kept, *u.Password, u.Name), nil
}

// pgVerify tells whether a password is the one of which the server keeps a
// verifier: MD5 of password and name, or SCRAM-SHA-256 (RFC 5803).
func pgVerify(kept, password, name string) bool {
	if kept == password {
		return true
	}
	if rest, ok := strings.CutPrefix(kept, "SCRAM-SHA-256$"); ok {
		return scramVerify(rest, password)
	}
	sum := md5.Sum([]byte(password + name))
	return password != "" && kept == "md5"+hex.EncodeToString(sum[:])
}

// scramVerify reads ITERATIONS:SALT$STORED:SERVER and derives the server's key.
func scramVerify(kept, password string) bool {
	params, keys, _ := strings.Cut(kept, "$")
	rounds, salt64, _ := strings.Cut(params, ":")
	_, server64, _ := strings.Cut(keys, ":")
	iterations, err := strconv.Atoi(rounds)
	salt, err2 := base64.StdEncoding.DecodeString(salt64)
	server, err3 := base64.StdEncoding.DecodeString(server64)
	const most = 10_000_000
	if err != nil || err2 != nil || err3 != nil || iterations < 1 || iterations > most {
		return false
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, salted)
	mac.Write([]byte("Server Key"))
	return hmac.Equal(mac.Sum(nil), server)
}

// grant gives the privileges that are lacking.
func (u *postgresqlRole) grant() error {
	for _, g := range u.privs {
		var lacking []string
		for _, p := range g.privs {
			rows, err := u.server.query(fmt.Sprintf("SELECT has_%s_privilege(%s, %s, %s)", strings.ToLower(g.kind), pgText(u.Name), pgText(g.object), pgText(p)))
			if err != nil {
				return err
			}
			if rows[0][0] != "t" {
				lacking = append(lacking, p)
			}
		}
		if len(lacking) == 0 {
			continue
		}
		if err := u.execute("GRANT %s ON %s %s TO %s", strings.Join(lacking, ", "), g.kind, pgName(g.object), pgName(u.Name)); err != nil {
			return err
		}
	}
	return nil
}

// join makes the role a member of the groups.
func (u *postgresqlRole) join() error {
	for _, group := range u.Groups {
		rows, err := u.server.query(`SELECT 1 FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid JOIN pg_roles r ON r.oid = m.member
 WHERE g.rolname = ` + pgText(group) + " AND r.rolname = " + pgText(u.Name))
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			continue
		}
		if err := u.execute("GRANT %s TO %s", pgName(group), pgName(u.Name)); err != nil {
			return err
		}
	}
	return nil
}

// remark sets the role's comment.
func (u *postgresqlRole) remark() error {
	if u.Comment == nil {
		return nil
	}
	rows, err := u.server.query("SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = " + pgText(u.Name))
	if err != nil || len(rows) == 1 && rows[0][0] == *u.Comment {
		return err
	}
	return u.execute("COMMENT ON ROLE %s IS %s", pgName(u.Name), pgText(*u.Comment))
}

// deprecate notes the options that the collection wants to drop.
func (u *postgresqlRole) deprecate() {
	notes := value.NewList()
	for _, o := range []struct {
		given bool
		name  string
	}{{u.Priv != nil, "priv"}, {len(u.Groups) > 0, "groups"}} {
		if o.given {
			notes.Items = append(notes.Items, value.DictOf("msg", fmt.Sprintf("Param '%s' is deprecated. See the module docs for more information", o.name),
				"version", "3.0.0", "collection_name", "community.postgreql"))
		}
	}
	if len(notes.Items) > 0 {
		u.result.Set("deprecations", notes)
	}
}
