package wrap

// Secret is a path that is hidden by default, because whoever reads it can act
// as its owner elsewhere, or learns what the owner did.
type Secret struct {
	// Path is absolute, or begins with "~/" for a home. Its last part may hold
	// one "*". What begins with ~/.config/, ~/.local/share/, ~/.local/state/ or
	// ~/.cache/ is also looked for where XDG_CONFIG_HOME and its like point.
	Path string
	Why  string
	// Root is true where only a caller who is uid 0 could read it anyway: it
	// is looked for then only.
	Root bool
	// File is true where the name is normally a file. A file is hidden by its
	// name in the folder, never by a mount on itself (that mount
	// falls off when the host renames a new file over it).
	File bool
	// Folder is true where the row counts only for a real folder: /var/run is
	// hidden where it is not the usual link to /run.
	Folder bool
}

// Secrets is what is hidden by default. A spec opens a row by naming it in
// filesystem.read or write.
//
// Decided against, each because hiding it stops what sandboxes are used for:
//   - ~/.claude, ~/.claude.json, ~/.codex, ~/.gemini: the agents' own keys and
//     sessions are the agents' state. An agent without them cannot reach its
//     model, and it holds the key in its memory anyway;
//   - ~/.gitconfig, ~/.config/git/config: who commits, aliases, signing; tokens
//     in a URL there are the exception (~/.git-credentials is the place);
//   - ~/.ssh/known_hosts and ~/.ssh/config: public, but ~/.ssh is one mount;
//     name them in read where they are needed;
//   - ~/.cache, ~/.npm, ~/.m2/repository, ~/.cargo/registry: caches of builds;
//   - ~/.config/Code, ~/.vscode-server: settings; tokens there are sealed by the
//     keyring, which is hidden;
//   - ~/snap as a whole: command-line tools keep their data there; browsers and
//     password stores in it are rows of their own. ~/.var/app (Flatpak) holds
//     desktop programs only and is hidden whole.
//
// Rows are in the order of their bytes; Probe relies on it.
func Secrets() []Secret { return secrets[:] }

var secrets = [...]Secret{
	{Path: "/boot", Why: "kernel images and initial file systems, which may hold disk keys", Root: true},
	{Path: "/etc/NetworkManager/system-connections", Why: "passwords of wireless networks and VPNs", Root: true},
	{Path: "/etc/cni/net.d", Why: "keys of a cluster's network", Root: true},
	{Path: "/etc/crypttab", Why: "where keys of disks are", Root: true, File: true},
	{Path: "/etc/docker/key.json", Why: "identity of the Docker daemon", Root: true, File: true},
	{Path: "/etc/gshadow", Why: "passwords of groups", Root: true, File: true},
	{Path: "/etc/gshadow-", Why: "its backup", Root: true, File: true},
	{Path: "/etc/krb5.keytab", Why: "the machine's Kerberos keys", Root: true, File: true},
	{Path: "/etc/kubernetes", Why: "the cluster's keys and administrator's configuration", Root: true},
	{Path: "/etc/letsencrypt", Why: "private keys of TLS certificates and of the account", Root: true},
	{Path: "/etc/luks-keys", Why: "keys of disks", Root: true},
	{Path: "/etc/openvpn", Why: "keys of VPNs", Root: true},
	{Path: "/etc/pki/entitlement", Why: "keys of the distribution's subscription", Root: true},
	{Path: "/etc/pki/tls/private", Why: "private keys of TLS certificates", Root: true},
	{Path: "/etc/rancher", Why: "the cluster's keys (k3s, rke2)", Root: true},
	{Path: "/etc/security/opasswd", Why: "old passwords", Root: true, File: true},
	{Path: "/etc/shadow", Why: "passwords", Root: true, File: true},
	{Path: "/etc/shadow-", Why: "its backup", Root: true, File: true},
	{Path: "/etc/ssh/ssh_host_*_key", Why: "the machine's SSH identity", Root: true, File: true},
	{Path: "/etc/ssl/private", Why: "private keys of TLS certificates", Root: true},
	{Path: "/etc/sudoers", Why: "who may become whom", Root: true, File: true},
	{Path: "/etc/sudoers.d", Why: "the same", Root: true},
	{Path: "/etc/swanctl/private", Why: "keys of VPNs", Root: true},
	{Path: "/etc/wireguard", Why: "keys of VPNs", Root: true},
	{Path: "/var/backups", Why: "backups of the password files", Root: true},
	{Path: "/var/lib/containerd", Why: "files of containers, their secrets among them", Root: true},
	{Path: "/var/lib/containers", Why: "the same, of podman", Root: true},
	{Path: "/var/lib/docker", Why: "files and volumes of containers, their secrets among them", Root: true},
	{Path: "/var/lib/etcd", Why: "the cluster's database", Root: true},
	{Path: "/var/lib/fprint", Why: "fingerprints", Root: true},
	{Path: "/var/lib/incus/unix.socket", Why: "its group is root of the host", File: true},
	{Path: "/var/lib/kubelet", Why: "tokens and volumes of pods", Root: true},
	{Path: "/var/lib/lxd/unix.socket", Why: "its group is root of the host", File: true},
	{Path: "/var/lib/private", Why: "state of services with users of their own", Root: true},
	{Path: "/var/lib/rancher", Why: "the cluster's keys and database", Root: true},
	{Path: "/var/lib/sss/db", Why: "cached passwords of a directory", Root: true},
	{Path: "/var/lib/sss/secrets", Why: "secrets of a directory's clients", Root: true},
	{Path: "/var/lib/systemd/credential.secret", Why: "the key that seals services' credentials", Root: true, File: true},
	{Path: "/var/run", Why: "sockets of the host's services, where it is not the link to /run", Folder: true},
	{Path: "/var/snap/lxd/common/lxd/unix.socket", Why: "its group is root of the host", File: true},
	{Path: "/var/spool/cron", Why: "what runs for whom, with its arguments", Root: true},
	{Path: "/var/spool/mail", Why: "mail", Root: true},
	{Path: "~/.1password", Why: "socket and state of a password store"},
	{Path: "~/.ICEauthority", Why: "key of the desktop session", File: true},
	{Path: "~/.Xauthority", Why: "key of the X display: keys typed and pictures of the screen", File: true},
	{Path: "~/.aliyun", Why: "cloud keys"},
	{Path: "~/.ansible_vault_pass", Why: "password of vaults", File: true},
	{Path: "~/.authinfo", Why: "passwords by host, Emacs", File: true},
	{Path: "~/.authinfo.gpg", Why: "the same", File: true},
	{Path: "~/.aws", Why: "cloud keys"},
	{Path: "~/.azure", Why: "cloud tokens"},
	{Path: "~/.bash_history", Why: "shell history: passwords typed as arguments", File: true},
	{Path: "~/.bitcoin", Why: "wallet"},
	{Path: "~/.bitmonero", Why: "wallet"},
	{Path: "~/.boto", Why: "cloud keys", File: true},
	{Path: "~/.bundle/config", Why: "tokens of gem servers", File: true},
	{Path: "~/.cargo/credentials", Why: "token of crates.io", File: true},
	{Path: "~/.cargo/credentials.toml", Why: "token of crates.io", File: true},
	{Path: "~/.circleci", Why: "token of the CI service"},
	{Path: "~/.colima", Why: "sockets of a container machine"},
	{Path: "~/.composer/auth.json", Why: "tokens of package servers", File: true},
	{Path: "~/.config/1Password", Why: "password store"},
	{Path: "~/.config/Bitwarden", Why: "password store"},
	{Path: "~/.config/Bitwarden CLI", Why: "password store"},
	{Path: "~/.config/BraveSoftware", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/Element", Why: "messages and keys of a messenger"},
	{Path: "~/.config/KeePass", Why: "password store"},
	{Path: "~/.config/Signal", Why: "messages and keys of a messenger"},
	{Path: "~/.config/Slack", Why: "session of a messenger"},
	{Path: "~/.config/Yubico", Why: "keys of second factors"},
	{Path: "~/.config/age", Why: "private keys"},
	{Path: "~/.config/chromium", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/composer/auth.json", Why: "tokens of package servers", File: true},
	{Path: "~/.config/configstore", Why: "tokens of npm command-line tools (firebase, snyk)"},
	{Path: "~/.config/containers/auth.json", Why: "tokens of image registries", File: true},
	{Path: "~/.config/discord", Why: "session of a messenger"},
	{Path: "~/.config/doctl", Why: "cloud token"},
	{Path: "~/.config/fly", Why: "cloud token"},
	{Path: "~/.config/gcloud", Why: "cloud tokens"},
	{Path: "~/.config/gh", Why: "token of GitHub"},
	{Path: "~/.config/git/credentials", Why: "passwords by host, git", File: true},
	{Path: "~/.config/github-copilot", Why: "token of GitHub"},
	{Path: "~/.config/glab-cli", Why: "token of GitLab"},
	{Path: "~/.config/google-chrome", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/google-chrome-beta", Why: "the same"},
	{Path: "~/.config/google-chrome-unstable", Why: "the same"},
	{Path: "~/.config/hcloud", Why: "cloud token"},
	{Path: "~/.config/heroku", Why: "cloud token"},
	{Path: "~/.config/hub", Why: "token of GitHub", File: true},
	{Path: "~/.config/keepassxc", Why: "password store"},
	{Path: "~/.config/linode-cli", Why: "cloud token", File: true},
	{Path: "~/.config/microsoft-edge", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/ngrok", Why: "token: a tunnel into this machine"},
	{Path: "~/.config/oci", Why: "cloud keys"},
	{Path: "~/.config/op", Why: "password store"},
	{Path: "~/.config/opera", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/pip", Why: "passwords of package servers"},
	{Path: "~/.config/pulumi", Why: "cloud token"},
	{Path: "~/.config/rclone", Why: "keys of storage services"},
	{Path: "~/.config/s3cfg", Why: "cloud keys", File: true},
	{Path: "~/.config/scw", Why: "cloud keys"},
	{Path: "~/.config/sops", Why: "private keys"},
	{Path: "~/.config/tea", Why: "token of Gitea"},
	{Path: "~/.config/vivaldi", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.config/wrangler", Why: "cloud token"},
	{Path: "~/.config/yarn/.npmrc", Why: "token of npm", File: true},
	{Path: "~/.databrickscfg", Why: "cloud token", File: true},
	{Path: "~/.dbshell", Why: "history of a database shell", File: true},
	{Path: "~/.dbus", Why: "key of the desktop session"},
	{Path: "~/.docker", Why: "tokens of image registries, keys and the socket of a daemon"},
	{Path: "~/.electrum", Why: "wallet"},
	{Path: "~/.electrum-ltc", Why: "wallet"},
	{Path: "~/.ethereum", Why: "wallet"},
	{Path: "~/.fly", Why: "cloud token"},
	{Path: "~/.gem/credentials", Why: "token of rubygems.org", File: true},
	{Path: "~/.git-credential-cache", Why: "socket that answers with passwords, git"},
	{Path: "~/.git-credentials", Why: "passwords by host, git", File: true},
	{Path: "~/.gnome2/keyrings", Why: "keyring"},
	{Path: "~/.gnupg", Why: "private keys and the socket of their agent"},
	{Path: "~/.gradle/gradle.properties", Why: "passwords of package servers", File: true},
	{Path: "~/.histfile", Why: "shell history", File: true},
	{Path: "~/.irb_history", Why: "history of an interpreter", File: true},
	{Path: "~/.irssi", Why: "passwords and messages"},
	{Path: "~/.kube", Why: "keys of clusters"},
	{Path: "~/.lesshst", Why: "what was searched for in less", File: true},
	{Path: "~/.lima", Why: "keys and sockets of virtual machines"},
	{Path: "~/.litecoin", Why: "wallet"},
	{Path: "~/.local/share/TelegramDesktop", Why: "session of a messenger"},
	{Path: "~/.local/share/atuin", Why: "shell history and its key"},
	{Path: "~/.local/share/com.bitwarden.desktop", Why: "password store"},
	{Path: "~/.local/share/containers/podman/machine", Why: "keys and sockets of virtual machines"},
	{Path: "~/.local/share/evolution", Why: "mail"},
	{Path: "~/.local/share/fish/fish_history", Why: "shell history", File: true},
	{Path: "~/.local/share/gnupg", Why: "private keys"},
	{Path: "~/.local/share/gopass", Why: "password store"},
	{Path: "~/.local/share/keyrings", Why: "keyring"},
	{Path: "~/.local/share/kwalletd", Why: "keyring"},
	{Path: "~/.local/share/mcfly", Why: "shell history"},
	{Path: "~/.local/share/password-store", Why: "password store"},
	{Path: "~/.local/share/pki", Why: "private keys"},
	{Path: "~/.local/state/bash", Why: "shell history"},
	{Path: "~/.local/state/sbx", Why: "sbx's own records: what ran, and what may not be rewritten"},
	{Path: "~/.local/state/zsh", Why: "shell history"},
	{Path: "~/.m2/settings-security.xml", Why: "the password that opens the passwords of settings.xml", File: true},
	{Path: "~/.m2/settings.xml", Why: "passwords of package servers", File: true},
	{Path: "~/.minikube", Why: "keys of a cluster"},
	{Path: "~/.monero", Why: "wallet"},
	{Path: "~/.mozilla", Why: "browser profiles: cookies and passwords"},
	{Path: "~/.mutt", Why: "passwords of mail"},
	{Path: "~/.my.cnf", Why: "password of a database", File: true},
	{Path: "~/.mylogin.cnf", Why: "password of a database", File: true},
	{Path: "~/.mysql_history", Why: "history of a database shell", File: true},
	{Path: "~/.netrc", Why: "passwords by host", File: true},
	{Path: "~/.node_repl_history", Why: "history of an interpreter", File: true},
	{Path: "~/.npmrc", Why: "token of npm", File: true},
	{Path: "~/.nuget/NuGet/NuGet.Config", Why: "passwords of package servers", File: true},
	{Path: "~/.oci", Why: "cloud keys"},
	{Path: "~/.password-store", Why: "password store"},
	{Path: "~/.pgpass", Why: "passwords of databases", File: true},
	{Path: "~/.php_history", Why: "history of an interpreter", File: true},
	{Path: "~/.pip/pip.conf", Why: "passwords of package servers", File: true},
	{Path: "~/.pki", Why: "private keys"},
	{Path: "~/.psql_history", Why: "history of a database shell", File: true},
	{Path: "~/.pulumi/credentials.json", Why: "cloud token", File: true},
	{Path: "~/.purple", Why: "passwords and messages"},
	{Path: "~/.pypirc", Why: "password of PyPI", File: true},
	{Path: "~/.python_history", Why: "history of an interpreter", File: true},
	{Path: "~/.rd", Why: "sockets of a container machine"},
	{Path: "~/.rediscli_history", Why: "history of a database shell", File: true},
	{Path: "~/.s3cfg", Why: "cloud keys", File: true},
	{Path: "~/.sh_history", Why: "shell history", File: true},
	{Path: "~/.snowflake", Why: "passwords of databases"},
	{Path: "~/.snowsql", Why: "passwords of databases"},
	{Path: "~/.sqlite_history", Why: "history of a database shell", File: true},
	{Path: "~/.ssh", Why: "private keys, the hosts they open, and keys that may log in here"},
	{Path: "~/.subversion/auth", Why: "passwords by host, subversion"},
	{Path: "~/.terraform.d/credentials.tfrc.json", Why: "cloud token", File: true},
	{Path: "~/.terraformrc", Why: "cloud token", File: true},
	{Path: "~/.thunderbird", Why: "mail and its passwords"},
	{Path: "~/.var/app", Why: "data of desktop programs (Flatpak), browsers and messengers among them"},
	{Path: "~/.vault-token", Why: "token of Vault", File: true},
	{Path: "~/.viminfo", Why: "what was edited, searched for and copied in vim", File: true},
	{Path: "~/.xauth*", Why: "keys of X displays handed from one user to another", File: true},
	{Path: "~/.yarnrc.yml", Why: "token of npm", File: true},
	{Path: "~/.zcash", Why: "wallet"},
	{Path: "~/.zhistory", Why: "shell history", File: true},
	{Path: "~/.zsh_history", Why: "shell history", File: true},
	{Path: "~/.zsh_sessions", Why: "shell history"},
	{Path: "~/snap/1password", Why: "password store"},
	{Path: "~/snap/bitwarden", Why: "password store"},
	{Path: "~/snap/brave", Why: "browser profiles: cookies and passwords"},
	{Path: "~/snap/chromium", Why: "browser profiles: cookies and passwords"},
	{Path: "~/snap/firefox", Why: "browser profiles: cookies and passwords"},
	{Path: "~/snap/keepassxc", Why: "password store"},
	{Path: "~/snap/thunderbird", Why: "mail and its passwords"},
}

// SecretVar is a variable that moves a secret elsewhere.
type SecretVar struct {
	Name string
	Sub  string // beneath the variable's value; "" for the value itself
	Why  string
}

// SecretVars is where programs are told to look for a secret instead of its
// usual place. The path is hidden; the variable stays, since a program that is
// told of a missing file says so, and one that is told nothing may go on with
// another identity.
func SecretVars() []SecretVar { return secretVars[:] }

var secretVars = [...]SecretVar{
	{"AWS_CONFIG_FILE", "", "cloud keys"},
	{"AWS_SHARED_CREDENTIALS_FILE", "", "cloud keys"},
	{"AZURE_CONFIG_DIR", "", "cloud tokens"},
	{"CARGO_HOME", "credentials.toml", "token of crates.io"},
	{"CLOUDSDK_CONFIG", "", "cloud tokens"},
	{"DOCKER_CONFIG", "", "tokens of image registries"},
	{"GH_CONFIG_DIR", "", "token of GitHub"},
	{"GNUPGHOME", "", "private keys and the socket of their agent"},
	{"GOOGLE_APPLICATION_CREDENTIALS", "", "cloud keys"},
	{"HISTFILE", "", "shell history"},
	{"KUBECONFIG", "", "keys of clusters"},
	{"NETRC", "", "passwords by host"},
	{"NPM_CONFIG_USERCONFIG", "", "token of npm"},
	{"PASSWORD_STORE_DIR", "", "password store"},
	{"PGPASSFILE", "", "passwords of databases"},
	{"XAUTHORITY", "", "key of the X display"},
}

// SocketVars is the variables that name a socket of a service which acts for
// its caller. The socket is hidden wherever it lies, and the variable dropped:
// programs then take their ways without it, instead of failing on it.
func SocketVars() []Row { return socketVars[:] }

var socketVars = [...]Row{
	{"CONTAINER_HOST", "podman: root or the caller, outside"},
	{"DBUS_SESSION_BUS_ADDRESS", "the session bus starts programs outside"},
	{"DOCKER_HOST", "Docker: root, outside"},
	{"GPG_AGENT_INFO", "gpg-agent signs and decrypts for whoever asks"},
	{"SSH_AUTH_SOCK", "ssh-agent logs in for whoever asks"},
	{"WAYLAND_DISPLAY", "the desktop: pictures of the screen, keys typed"},
}
