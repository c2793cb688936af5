package jinja

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"play/engine/crypthash"
	"play/modules/value"
)

// secretLookups make passwords and other random texts.
func secretLookups() []Builtin {
	const params = "*terms, **options"
	return []Builtin{
		{Name: "password", Params: params, Doc: "a random password, kept in a file", Fn: perTerm(lookupPassword)},
		{Name: "passwordstore", Params: params, Doc: "passwords of the pass program", Fn: perTerm(lookupPasswordstore)},
		{Name: "random_pet", Params: params, Doc: "a random name of two words", Fn: lookupRandomPet},
		{Name: "random_string", Params: params, Doc: "a random text", Fn: lookupRandomString},
	}
}

// passwordSpec is what a term of the password lookup asks for.
type passwordSpec struct {
	path, encrypt, ident string
	length               int
	chars                []string
	seed                 any
}

func readPasswordSpec(c *Call, term string) (passwordSpec, error) {
	p := passwordSpec{length: 20, chars: []string{"ascii_letters", "digits", ".,:-_"}}
	options := value.NewDict()
	words := splitWords(term)
	for len(words) > 0 {
		last := words[len(words)-1]
		k, v, ok := strings.Cut(last, "=")
		if !ok || len(words) == 1 || strings.Contains(k, "/") {
			break
		}
		options.Set(k, v)
		words = words[:len(words)-1]
	}
	p.path = strings.Join(words, " ")
	options.Update(c.Kwargs)
	for k, v := range options.All() {
		if err := p.set(value.Str(k), v); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *passwordSpec) set(name string, v any) error {
	switch name {
	case "length":
		n, ok := value.ParseInt(value.Str(v), 10)
		if p.length, _ = n.(int); !ok || p.length < 0 || p.length > 1<<20 {
			return fmt.Errorf("cannot make a password of length %s", value.Repr(v))
		}
	case "chars":
		if items, ok := v.(*value.List); ok {
			p.chars = nil
			for _, item := range items.Items {
				p.chars = append(p.chars, value.Str(item))
			}
			return nil
		}
		p.chars = splitChars(value.Str(v))
	case "encrypt":
		p.encrypt = ""
		if s := value.Str(v); v != nil && s != "" && v != false && s != "False" {
			p.encrypt = s
		}
	case "ident":
		p.ident = value.Str(v)
	case "seed":
		p.seed = v
	default:
		return fmt.Errorf("Unrecognized parameter(s) given to password lookup: %s", name)
	}
	return nil
}

// splitChars splits at commas; two commas stand for the character.
func splitChars(s string) []string {
	var out []string
	if strings.Contains(s, ",,") {
		out = append(out, ",")
	}
	for _, part := range strings.Split(strings.ReplaceAll(s, ",,", ","), ",") {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

// charClass spells out the classes of Python's string module.
func charClass(name string) string {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	switch name {
	case "ascii_letters":
		return lower + upper
	case "ascii_lowercase":
		return lower
	case "ascii_uppercase":
		return upper
	case "digits":
		return digits
	case "hexdigits":
		return digits + "abcdefABCDEF"
	case "octdigits":
		return "01234567"
	case "punctuation":
		return punctuation
	case "whitespace":
		return " \t\n\r\v\f"
	case "printable":
		return digits + lower + upper + punctuation + " \t\n\r\v\f"
	}
	return name
}

func (p *passwordSpec) generate() (string, error) {
	pool := ""
	for _, name := range p.chars {
		pool += charClass(name)
	}
	chars := []rune(strings.NewReplacer(`"`, "", "'", "").Replace(pool))
	if len(chars) == 0 {
		return "", errors.New("cannot make a password out of no characters")
	}
	pick := systemBelow
	if p.seed != nil {
		pick = newRandom(p.seed).below
	}
	out := make([]rune, p.length)
	for i := range out {
		out[i] = chars[pick(len(chars))]
	}
	return string(out), nil
}

func lookupPassword(c *Call, term any) (any, error) {
	p, err := readPasswordSpec(c, value.Str(term))
	if err != nil {
		return nil, err
	}
	path := expandUser(p.path)
	if !filepath.IsAbs(path) {
		if c.Ctx.Files == nil {
			return nil, fmt.Errorf("cannot keep a password in %q: the name is not absolute", path)
		}
		path = filepath.Join(c.Ctx.Files.Dir(), path)
	}
	if err := c.Ctx.mayRead(path, c.FromHost); err != nil {
		return nil, err
	}
	password, salt, err := p.kept(path)
	if err != nil {
		return nil, err
	}
	if p.encrypt == "" {
		return password, nil
	}
	return HashPassword(password, p.encrypt, salt, 0, 0, p.ident)
}

// kept returns the file's password and salt, and makes and writes what is not
// there yet.
func (p *passwordSpec) kept(path string) (password, salt string, err error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) || path == "/dev/null" {
		data = nil
	}
	content := strings.TrimRight(string(data), "\r\n")
	password, salt, _ = strings.Cut(content, " salt=")
	salt, _, _ = strings.Cut(salt, " ident=")
	changed := false
	if content == "" {
		if password, err = p.generate(); err != nil {
			return "", "", err
		}
		changed = true
	}
	if p.encrypt != "" && salt == "" {
		m, ok := crypthash.Find(p.encrypt)
		if !ok {
			return "", "", fmt.Errorf("passlib does not support '%s' algorithm", p.encrypt)
		}
		salt = m.NewSalt(systemBelow)
		changed = true
	}
	if !changed || path == "/dev/null" {
		return password, salt, nil
	}
	content = password
	if salt != "" {
		content += " salt=" + salt
	}
	if p.ident != "" {
		content += " ident=" + p.ident
	}
	return password, salt, writeSecret(path, content+"\n")
}

// writeSecret writes a file that only its owner can read, by rename.
func writeSecret(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot keep the password: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".password-")
	if err != nil {
		return fmt.Errorf("cannot keep the password: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the password: %w", err)
	}
	return nil
}

// lookupPasswordstore asks the pass program: "path subkey=name".
func lookupPasswordstore(c *Call, term any) (any, error) {
	words := splitWords(value.Str(term))
	if len(words) == 0 {
		return nil, errors.New("The passwordstore plugin needs the path of a password")
	}
	subkey := lookupText(c, "subkey", "password")
	for _, word := range words[1:] {
		if v, ok := strings.CutPrefix(word, "subkey="); ok {
			subkey = v
		}
	}
	out, err := shell(c, "pass show -- "+shellQuote(words[0]), "passwordstore")
	if err != nil {
		if missing := lookupText(c, "missing", "error"); missing == "empty" {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read %q from the password store: %w", words[0], err)
	}
	if lookupFlag(c, "returnall", false) {
		return strings.TrimRight(out, "\n"), nil
	}
	lines := splitLines(out)
	if subkey == "password" {
		if len(lines) == 0 {
			return "", nil
		}
		return lines[0], nil
	}
	for _, line := range lines[min(1, len(lines)):] {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == subkey {
			return strings.TrimSpace(v), nil
		}
	}
	return nil, nil
}

func lookupRandomString(c *Call) (any, error) {
	n := func(name string, fallback int) int {
		v, ok := value.ParseInt(lookupText(c, name, fmt.Sprint(fallback)), 10)
		i, _ := v.(int)
		if !ok || i < 0 {
			return fallback
		}
		return i
	}
	length := n("length", 8)
	classes := []struct {
		name, chars string
		minimum     int
	}{
		{"lower", charClass("ascii_lowercase"), n("min_lower", 0)},
		{"upper", charClass("ascii_uppercase"), n("min_upper", 0)},
		{"numbers", charClass("digits"), n("min_numeric", 0)},
		{"special", lookupText(c, "override_special", charClass("punctuation")), n("min_special", 0)},
	}
	pool, out, total := "", []any{}, length
	for _, class := range classes {
		total = max(total, class.minimum)
	}
	if total > 1<<20 {
		return nil, errors.New("cannot make a random text of that length")
	}
	for _, class := range classes {
		if lookupFlag(c, class.name, true) {
			pool += class.chars
		}
		for range class.minimum {
			out = append(out, pickChar(class.chars))
		}
	}
	if all := lookupText(c, "override_all", ""); all != "" {
		pool = all
	}
	if lookupFlag(c, "ignore_similar_chars", false) {
		similar := lookupText(c, "similar_chars", "il1LoO0")
		pool = strings.Join(strings.FieldsFunc(pool, func(r rune) bool { return strings.ContainsRune(similar, r) }), "")
	}
	if pool == "" {
		return nil, errors.New("Available characters cannot be None, please change constraints")
	}
	for len(out) < length {
		out = append(out, pickChar(pool))
	}
	newRandom(nil).shuffle(out)
	text := ""
	for _, char := range out {
		text += value.Str(char)
	}
	if lookupFlag(c, "base64", false) {
		return value.NewList(base64.StdEncoding.EncodeToString([]byte(text))), nil
	}
	return value.NewList(text), nil
}

func pickChar(pool string) string {
	chars := []rune(pool)
	if len(chars) == 0 {
		return ""
	}
	return string(chars[systemBelow(len(chars))])
}

func lookupRandomPet(c *Call) (any, error) {
	adverbs := strings.Fields("calmly barely boldly firmly gladly kindly mostly newly openly quickly rarely simply truly vastly warmly wholly")
	adjectives := strings.Fields("able brave calm clever cool eager fair fine free glad good keen kind live loyal neat noble proud quick rare sharp smart solid sweet warm wise")
	animals := strings.Fields("ant bat bear bee boar cat clam cod cow crab crow deer dog dove duck eel elk emu ewe fawn fish fox frog gnat goat hare hawk hen ibex kite lamb lark lion lynx mink mole moth mule newt owl ox pig pug ram rat seal shad swan toad trout vole wolf wren yak")
	n, _ := value.ParseInt(lookupText(c, "words", "2"), 10)
	count, ok := n.(int)
	if !ok || count < 1 || count > 1000 {
		return nil, errors.New("cannot make a name of so many words")
	}
	var words []string
	for range count - 2 {
		words = append(words, adverbs[systemBelow(len(adverbs))])
	}
	if count > 1 {
		words = append(words, adjectives[systemBelow(len(adjectives))])
	}
	words = append(words, animals[systemBelow(len(animals))])
	if prefix := lookupText(c, "prefix", ""); prefix != "" {
		words = append([]string{prefix}, words...)
	}
	return value.NewList(strings.Join(words, lookupText(c, "separator", "-"))), nil
}
