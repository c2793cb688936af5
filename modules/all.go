package modules

// All lists every native module, sorted by name.
func All() []Module {
	return []Module{
		checksums(),
		foreignModule(),
		acl(),
		alternatives(),
		apk(),
		apt(),
		aptKey(),
		aptRepository(),
		assemble(),
		asyncStatus(),
		authorizedKey(),
		blockinfile(),
		capabilities(),
		command(),
		copyFile(),
		cron(),
		crypttab(),
		deb822Repository(),
		debconf(),
		dnf(),
		dockerContainer(),
		dockerImage(),
		dockerNetwork(),
		dpkgDivert(),
		dpkgSelections(),
		fetch(),
		file(),
		filesystem(),
		find(),
		firewalld(),
		gem(),
		getURL(),
		getent(),
		git(),
		group(),
		hostname(),
		htpasswd(),
		iniFile(),
		iptables(),
		knownHosts(),
		lineinfile(),
		localeGen(),
		makeModule(),
		modprobe(),
		mount(),
		npm(),
		packageModule(),
		packageFacts(),
		pacman(),
		pamLimits(),
		ping(),
		pip(),
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
		supervisorctl(),
		sysctl(),
		systemd(),
		systemdService(),
		sysvinit(),
		tempfile(),
		timezone(),
		ufw(),
		unarchive(),
		uri(),
		user(),
		waitFor(),
		yum(),
		yumRepository(),
		zypper(),
	}
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
