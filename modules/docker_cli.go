//go:build !plain

package modules

import (
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// dockerCLIArgs are the arguments shared by the modules that run the docker
// program.
type dockerCLIArgs struct {
	DockerCLI     string  `arg:"docker_cli,type=path" doc:"the docker program"`
	DockerHost    *string `arg:"docker_host,env=DOCKER_HOST,aliases=docker_url" doc:"the engine: unix://PATH or tcp://HOST:PORT"`
	CLIContext    *string `arg:"cli_context" doc:"the context of the program that names the engine"`
	TLSHostname   *string `arg:"tls_hostname,env=DOCKER_TLS_HOSTNAME" doc:"the name that the engine's certificate must have"`
	APIVersion    string  `arg:"api_version,default=auto,env=DOCKER_API_VERSION,aliases=docker_api_version" doc:"the version of the API"`
	CACert        *string `arg:"ca_path,type=path,aliases=ca_cert|tls_ca_cert|cacert_path" doc:"PEM file with the engine's authority"`
	ClientCert    *string `arg:"client_cert,type=path,aliases=tls_client_cert|cert_path" doc:"PEM file with the client's certificate"`
	ClientKey     *string `arg:"client_key,type=path,aliases=tls_client_key|key_path" doc:"PEM file with the client's key"`
	TLS           bool    `arg:"tls,default=no,env=DOCKER_TLS" doc:"use TLS without checking the engine"`
	ValidateCerts bool    `arg:"validate_certs,default=no,env=DOCKER_TLS_VERIFY,aliases=tls_verify" doc:"use TLS and check the engine"`
}

// dockerCLIRules are the rules of the shared arguments.
func dockerCLIRules() argspec.Rules {
	return argspec.Rules{RequiredTogether: [][]string{{"client_cert", "client_key"}}, MutuallyExclusive: [][]string{{"docker_host", "cli_context"}}}
}

// argv is the program with the options that name the engine.
func (a *dockerCLIArgs) argv() []string {
	argv := []string{"docker"}
	if a.DockerCLI != "" {
		argv[0] = a.DockerCLI
	}
	add := func(option string, text *string) {
		if text != nil {
			argv = append(argv, option, *text)
		}
	}
	add("--host", a.DockerHost)
	if a.ValidateCerts {
		argv = append(argv, "--tlsverify")
		add("--tlscacert", a.CACert)
	} else if a.TLS {
		argv = append(argv, "--tls")
	}
	add("--tlscert", a.ClientCert)
	add("--tlskey", a.ClientKey)
	add("--context", a.CLIContext)
	return argv
}

// jsonDicts reads output that is a list of objects, or an object on each line.
func jsonDicts(text string) *value.List {
	out := value.NewList()
	if v, err := value.DecodeJSON([]byte(text)); err == nil {
		if l, ok := v.(*value.List); ok {
			return l
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if v, err := value.DecodeJSON([]byte(line)); err == nil {
			out.Append(v)
		}
	}
	return out
}

// cliImage inspects an image with the program; one that does not exist is nil.
func (c *Call) cliImage(a *dockerCLIArgs, name string) (*value.Dict, error) {
	out, err := c.tool(append(a.argv(), "image", "inspect", name)...)
	if err != nil || out.failed() {
		return nil, err
	}
	found := dictItems(jsonDicts(out.out))
	if len(found) == 0 {
		return nil, nil
	}
	return found[0], nil
}
