package foreign_test

import (
	"os/exec"
	"testing"

	"play/modules/value"
)

// TestLanguages runs one module of each kind in each language that is here; the
// text begins after its shebang.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, interpreter, text, want string }{
		{"want_json", "ruby", "# WANT_JSON\nrequire 'json'\na = JSON.parse(File.read(ARGV[0]))\nputs({who: a['who'], n: a['n'] + 1}.to_json)\n", `{"who":"a 'b' $c {{ d }}","n":4,"changed":false}`},
		{"jsonargs", "ruby", "require 'json'\na = JSON.parse(DATA.read)\nputs({who: a['who']}.to_json)\n__END__\n<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>\n", `{"who":"a 'b' $c {{ d }}","changed":false}`},
		{"jsonargs", "perl", "use JSON::PP;\nlocal $/; my $a = decode_json(<DATA>);\nprint encode_json({who => $a->{who}});\n__DATA__\n<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>\n", `{"who":"a 'b' $c {{ d }}","changed":false}`},
		{"jsonargs", "python3", "import json\nVERSION = \"<<ANSIBLE_VERSION>>\"\na = json.loads(\"<<INCLUDE_ANSIBLE_MODULE_COMPLEX_ARGS>>\")\nb = json.loads('''<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>''')\n" +
			"print(json.dumps(dict(who=a['who'], same=a == b, version=VERSION, facility='syslog.LOG_USER')))\n", `{"who":"a 'b' $c {{ d }}","same":true,"version":"2.14.18","facility":"syslog.LOG_LOCAL3","changed":false}`},
		{"old", "awk", "BEGIN { while ((getline line < ARGV[1]) > 0) all = all line; print \"{\\\"length\\\": \" (length(all) > 20) \"}\"; exit }\n", `{"length":1,"changed":false}`},
		{"want_json", "node", "// WANT_JSON\nconst a = JSON.parse(require('fs').readFileSync(process.argv[2]))\nconsole.log(JSON.stringify({who: a.who, n: a.n}))\n", `{"who":"a 'b' $c {{ d }}","n":3,"changed":false}`},
		{"want_json", "tclsh", "# WANT_JSON\nset f [open [lindex $argv 0]]\nputs \"{\\\"args\\\": [read $f]}\"\n", `"who":"a 'b' $c {{ d }}","n":3`},
		{"old", "lua", "local f = io.open(arg[1]); local s = f:read('a')\nprint(string.format('{\"found\": %s}', tostring(s:find('n=3') ~= nil)))\n", `{"found":true,"changed":false}`},
	} {
		t.Run(c.kind+" "+c.interpreter, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(c.interpreter)
			if err != nil {
				t.Skipf("there is no %s here", c.interpreter)
			}
			words := []string{path}
			if c.interpreter == "awk" {
				words = append(words, "-f")
			}
			p := program(t, c.kind, "#!/usr/bin/env "+c.interpreter+"\n"+c.text, words...)
			p.Args.Set("_ansible_version", "2.14.18")
			p.Args.Set("_ansible_syslog_facility", "LOG_LOCAL3")
			p.Args.Set("_ansible_selinux_special_fs", value.NewList("nfs"))
			wants(t, result(t, p), c.want)
		})
	}
}
