package modules

import "sort"

// Plain lists the modules of every agent, sorted by name. What they need of
// HTTP, for the arguments that Downloads names, the full agent alone has.
func Plain() []Module {
	return []Module{
		checksums(),
		foreignModule(),
		acl(),
		alternatives(),
		apache2Module(),
		apk(),
		apt(),
		aptKey(),
		aptRepository(),
		archive(),
		assemble(),
		asyncStatus(),
		authorizedKey(),
		blockinfile(),
		capabilities(),
		command(),
		composer(),
		copyFile(),
		cron(),
		crypttab(),
		deb822Repository(),
		debconf(),
		dnf(),
		dpkgDivert(),
		dpkgSelections(),
		expect(),
		fetch(),
		file(),
		filesystem(),
		find(),
		firewalld(),
		gem(),
		getent(),
		git(),
		gitConfig(),
		group(),
		hostname(),
		htpasswd(),
		iniFile(),
		iptables(),
		knownHosts(),
		lineinfile(),
		localeGen(),
		lvg(),
		lvol(),
		makeModule(),
		modprobe(),
		mount(),
		mysqlDB(),
		mysqlUser(),
		npm(),
		packageModule(),
		packageFacts(),
		pacman(),
		pamLimits(),
		parted(),
		ping(),
		pip(),
		postgresqlDB(),
		postgresqlUser(),
		replace(),
		rpmKey(),
		script(),
		seboolean(),
		selinux(),
		selinuxPermissive(),
		service(),
		serviceFacts(),
		setup(),
		shell(),
		slurp(),
		stat(),
		subversion(),
		supervisorctl(),
		synchronize(),
		sysctl(),
		systemd(),
		systemdService(),
		sysvinit(),
		tempfile(),
		timezone(),
		ufw(),
		unarchive(),
		user(),
		waitFor(),
		xmlModule(),
		yum(),
		yumRepository(),
		zypper(),
		zypperRepository(),
	}
}

// Large lists the modules that the full agent alone has, sorted by name: they
// link TLS, certificates or Docker's interface, which most hosts never need.
func Large() []Module {
	return []Module{
		dockerComposeV2(),
		dockerContainer(),
		dockerContainerExec(),
		dockerContainerInfo(),
		dockerHostInfo(),
		dockerImage(),
		dockerImageBuild(),
		dockerImageInfo(),
		dockerImagePull(),
		dockerLoginModule(),
		dockerNetwork(),
		dockerNetworkInfo(),
		dockerPrune(),
		dockerVolume(),
		dockerVolumeInfo(),
		getURL(),
		opensslCSR(),
		opensslCSRInfo(),
		opensslCSRPipe(),
		opensslPrivateKey(),
		opensslPrivateKeyInfo(),
		opensslPublicKey(),
		uri(),
		x509Certificate(),
		x509CertificateInfo(),
		x509CertificatePipe(),
	}
}

// All lists every native module, sorted by name.
func All() []Module {
	list := Plain()
	for _, m := range Large() {
		m.large = true
		list = append(list, m)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name }) // a generic sort would add an instance for this struct
	return list
}

// Table maps names to modules. It panics when two modules have the same name,
// or the list is not sorted, which is a defect of the list.
func Table(list []Module) map[string]Module {
	table := make(map[string]Module, len(list))
	for i, m := range list {
		if i > 0 && list[i-1].Name >= m.Name {
			panic("modules: the list is not sorted or has a name twice: " + m.Name)
		}
		table[m.Name] = m
	}
	return table
}
