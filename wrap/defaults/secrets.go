package defaults

import "sbx/spec"

// Secret is a path that is hidden by default, because a program that reads it can act as its owner
// elsewhere, or learns what the owner did.
type Secret struct {
	// Path is absolute, or begins with "~/" for a home. Each of its parts may hold one "*". If a
	// variable of MovedDirs moves the directory, the secret is also looked for there.
	Path string
	Why  string
	// Root is true if only uid 0 could read the path anyway. It is looked for only if the caller is
	// uid 0.
	Root bool
	// File is true if the path is normally a file. A file is hidden by its name in the directory,
	// never by a mount on it: that mount would be lost when the host renames a new file over it.
	File bool
	// DirOnly is true if the row counts only for a real directory: /var/run is hidden if it is not
	// the usual link to /run.
	DirOnly bool
	// Agent is the agent whose own secret it is: that agent has it in view, and no other command.
	Agent spec.Agent
}

// Secrets lists the paths that are hidden by default. A spec opens a row by naming it in
// filesystem.read or write.
//
// Decided against, each because hiding it would break what people use sandboxes for:
//   - the settings and transcripts of agents (~/.claude/settings.json,
//     ~/.claude/projects, ~/.codex/config.toml): other tools read them. Their keys
//     are rows, and so is a settings file that usually holds a key;
//   - ~/.gitconfig, ~/.config/git/config: the author's name, aliases, signing; tokens
//     in a URL there are the exception (their usual place is ~/.git-credentials);
//   - ~/.ssh/known_hosts and ~/.ssh/config: public, but ~/.ssh is one mount;
//     name them in read if they are needed;
//   - ~/.cache, ~/.npm, ~/.m2/repository, ~/.cargo/registry: caches of builds;
//   - ~/.config/Code, ~/.vscode-server: settings and programs of extensions; the
//     database in which editors keep their tokens is a row;
//   - ~/.curlrc, ~/.wgetrc, ~/.hgrc, ~/.cabal/config, ~/.config/nix/nix.conf,
//     ~/.config/uv/uv.toml, ~/.cargo/config.toml: programs fail or reach another
//     server without them, and a password in them is the exception;
//   - ~/snap as a whole: command-line tools keep their data there; browsers and
//     password stores in it are rows of their own. ~/.var/app (Flatpak) holds
//     desktop programs only and is hidden as a whole.
//
// Rows are sorted by their bytes, on which Probe relies.
func Secrets() []Secret { return secrets[:] }

// OtherHome is the reason why another user's home is hidden as a whole: only root could read it
// anyway, and the run needs nothing in it.
const OtherHome = "the home of another user"

// SecretVar is a variable that moves a secret elsewhere.
type SecretVar struct {
	Name string
	Sub  string // under the variable's value; "" for the value itself
	Why  string
}

// SecretVars lists the variables by which programs are told to look for a secret elsewhere. That
// path is hidden, but the variable stays: a program that finds no file there reports an error,
// while one without the variable may go on with another identity.
func SecretVars() []SecretVar { return secretVars[:] }

var secretVars = [...]SecretVar{
	{"ANSIBLE_VAULT_PASSWORD_FILE", "", "password of vaults"},
	{"AWS_CONFIG_FILE", "", "cloud keys"},
	{"AWS_SHARED_CREDENTIALS_FILE", "", "cloud keys"},
	{"AWS_WEB_IDENTITY_TOKEN_FILE", "", "cloud token"},
	{"AZURE_CONFIG_DIR", "", "cloud tokens"},
	{"AZURE_FEDERATED_TOKEN_FILE", "", "cloud token"},
	{"BORG_KEYS_DIR", "", "keys of backups"},
	{"BORG_KEY_FILE", "", "keys of backups"},
	{"BOTO_CONFIG", "", "cloud keys"},
	{"CLOUDSDK_CONFIG", "", "cloud tokens"},
	{"CREDENTIALS_DIRECTORY", "", "credentials of a service, systemd.exec(5)"},
	{"DBT_PROFILES_DIR", "profiles.yml", "passwords of databases"},
	{"DOCKER_CERT_PATH", "", "keys of a container engine"},
	{"DOCKER_CONFIG", "", "tokens of image registries"},
	{"GH_CONFIG_DIR", "", "token of GitHub"},
	{"GNUPGHOME", "", "private keys and the socket of their agent"},
	{"GOOGLE_APPLICATION_CREDENTIALS", "", "cloud keys"},
	{"HELM_REGISTRY_CONFIG", "", "tokens of image registries"},
	{"HELM_REPOSITORY_CONFIG", "", "passwords of chart servers"},
	{"HF_STORED_TOKENS_PATH", "", "tokens of Hugging Face"},
	{"HF_TOKEN_PATH", "", "token of Hugging Face"},
	{"HISTFILE", "", "shell history"},
	{"ICEAUTHORITY", "", "key of the desktop session"},
	{"KAGGLE_CONFIG_DIR", "", "token of Kaggle"},
	{"KRB5CCNAME", "", "a Kerberos sign-in"},
	{"KRB5_CLIENT_KTNAME", "", "Kerberos keys"},
	{"KRB5_KTNAME", "", "Kerberos keys"},
	{"KUBECONFIG", "", "keys of clusters"},
	{"LESSHISTFILE", "", "what was searched for in less"},
	{"MYSQL_HISTFILE", "", "history of a database shell"},
	{"MYSQL_TEST_LOGIN_FILE", "", "password of a database"},
	{"NETRC", "", "passwords by host"},
	{"NODE_REPL_HISTORY", "", "history of an interpreter"},
	{"NPM_CONFIG_USERCONFIG", "", "token of npm"},
	{"OCI_CLI_CONFIG_FILE", "", "cloud keys"},
	{"ODBCINI", "", "passwords of databases"},
	{"OS_CLIENT_CONFIG_FILE", "", "cloud keys"},
	{"PASSWORD_STORE_DIR", "", "password store"},
	{"PGPASSFILE", "", "passwords of databases"},
	{"PGSERVICEFILE", "", "passwords of databases"},
	{"PGSSLKEY", "", "private key"},
	{"PSQL_HISTORY", "", "history of a database shell"},
	{"PULSE_COOKIE", "", "key of the sound server"},
	{"PYTHON_HISTORY", "", "history of an interpreter"},
	{"RCLONE_CONFIG", "", "keys of storage services"},
	{"REDISCLI_HISTFILE", "", "history of a database shell"},
	{"REGISTRY_AUTH_FILE", "", "tokens of image registries"},
	{"RESTIC_PASSWORD_FILE", "", "key of backups"},
	{"SNOWFLAKE_HOME", "", "passwords of databases"},
	{"SOPS_AGE_KEY_FILE", "", "private keys"},
	{"SOPS_AGE_SSH_PRIVATE_KEY_FILE", "", "private keys"},
	{"SQLITE_HISTORY", "", "history of a database shell"},
	{"TF_CLI_CONFIG_FILE", "", "cloud token"},
	{"VAGRANT_HOME", "data/vagrant_login_token", "token of a registry of machines"},
	{"XAUTHORITY", "", "key of the X display"},
}

// MovedDir is a variable that moves a directory of secrets.
type MovedDir struct {
	Name  string
	Sub   string // under the variable's value; "" for the value itself
	Usual string // the rows of Secrets that begin with it are looked for there; ends with a slash
}

// MovedDirs lists the directories under which rows are looked for as well.
func MovedDirs() []MovedDir { return movedDirs[:] }

var movedDirs = [...]MovedDir{
	{"ANDROID_USER_HOME", "", "~/.android/"},
	{"CARGO_HOME", "", "~/.cargo/"},
	{"CLAUDE_CONFIG_DIR", "", "~/.claude/"},
	{"CODEX_HOME", "", "~/.codex/"},
	{"COMPOSER_HOME", "", "~/.composer/"},
	{"CONAN_HOME", "", "~/.conan2/"},
	{"GEMINI_CLI_HOME", ".gemini", "~/.gemini/"},
	{"GRADLE_USER_HOME", "", "~/.gradle/"},
	{"HELM_CONFIG_HOME", "", "~/.config/helm/"},
	{"HEX_HOME", "", "~/.hex/"},
	{"HF_HOME", "", "~/.cache/huggingface/"},
	{"IPYTHONDIR", "", "~/.ipython/"},
	{"JUPYTER_CONFIG_DIR", "", "~/.jupyter/"},
	{"JUPYTER_DATA_DIR", "", "~/.local/share/jupyter/"},
	{"KIMI_CODE_HOME", "", "~/.kimi-code/"},
	{"POETRY_CONFIG_DIR", "", "~/.config/pypoetry/"},
	{"PUB_CACHE", "", "~/.pub-cache/"},
	{"PULUMI_HOME", "", "~/.pulumi/"},
	{"STACK_ROOT", "", "~/.stack/"},
	{"VIBE_HOME", "", "~/.vibe/"},
	{"XDG_CACHE_HOME", "", "~/.cache/"},
	{"XDG_CONFIG_HOME", "", "~/.config/"},
	{"XDG_DATA_HOME", "", "~/.local/share/"},
	{"XDG_STATE_HOME", "", "~/.local/state/"},
	{"ZDOTDIR", "", "~/.config/zsh/"},
}

// SocketVars lists the variables that name the socket of a service which acts for its caller. The
// socket is hidden wherever it lies, and the variable is dropped: programs then do without the
// service instead of failing on it.
func SocketVars() []Row { return socketVars[:] }

var socketVars = [...]Row{
	{"CONTAINER_HOST", "podman: root or the caller, outside"},
	{"DBUS_SESSION_BUS_ADDRESS", "the session bus starts programs outside"},
	{"DOCKER_HOST", "Docker: root, outside"},
	{"GPG_AGENT_INFO", "gpg-agent signs and decrypts for whoever asks"},
	{"SSH_AUTH_SOCK", "ssh-agent logs in for whoever asks"},
	{"WAYLAND_DISPLAY", "the desktop: pictures of the screen, keys typed"},
}
