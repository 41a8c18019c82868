package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	environ := []string{"PATH=/bin", "HOME=/home/u", "GITHUB_TOKEN=t", "LC_ALL=C", "LC_TIME=D", "LANG=e", "TERM=x", "PATH=/second", "bad", "=odd", "EMPTY="}
	for _, test := range []struct{ doc, env, dropped string }{
		{`{}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=t LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", ""},
		{`{"access_mode":"danger-full-access"}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=t LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", ""},
		{`{"access_mode":"read-only"}`, "PATH=/bin HOME=/home/u LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", "GITHUB_TOKEN"},
		{`{"access_mode":"workspace-write"}`, "PATH=/bin HOME=/home/u LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", "GITHUB_TOKEN"},
		{`{"access_mode":"read-only","environment":{"pass":["*"]}}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=t LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", ""},
		{`{"environment":{"pass":[]}}`, "", "PATH HOME GITHUB_TOKEN LC_ALL LC_TIME LANG TERM EMPTY"},
		{`{"environment":{"pass":["LC_*","PAT?","NONE"]}}`, "PATH=/bin LC_ALL=C LC_TIME=D", "HOME GITHUB_TOKEN LANG TERM EMPTY"},
		{`{"access_mode":"read-only","environment":{"pass":[]}}`, "", "PATH HOME GITHUB_TOKEN LC_ALL LC_TIME LANG TERM EMPTY"},
		{`{"access_mode":"read-only","environment":{"pass":["PATH","LC_*"]}}`, "PATH=/bin LC_ALL=C LC_TIME=D", "HOME GITHUB_TOKEN LANG TERM EMPTY"},
		{`{"access_mode":"read-only","environment":{"pass":["PATH","GITHUB_TOKEN","HOME"]}}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=t", "LC_ALL LC_TIME LANG TERM EMPTY"},
		{`{"environment":{"set":{"SET":"v"}}}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=t LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY= SET=v", ""},
		{`{"environment":{"pass":[],"set":{"Z":"1","A":"2"}}}`, "Z=1 A=2", "PATH HOME GITHUB_TOKEN LC_ALL LC_TIME LANG TERM EMPTY"},
		{`{"environment":{"pass":["HOME","LANG"],"set":{"HOME":"/else","NEW":"n","TERM":"dumb"}}}`, "HOME=/else LANG=e TERM=dumb NEW=n", "PATH GITHUB_TOKEN LC_ALL LC_TIME EMPTY"},
		{`{"access_mode":"read-only","environment":{"set":{"GITHUB_TOKEN":"other"}}}`, "PATH=/bin HOME=/home/u GITHUB_TOKEN=other LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY=", ""},
		{`{"access_mode":"read-only","environment":{"set":{"CI":"1"}}}`, "PATH=/bin HOME=/home/u LC_ALL=C LC_TIME=D LANG=e TERM=x EMPTY= CI=1", "GITHUB_TOKEN"},
	} {
		in := inputs()
		in.Environ = environ
		r, err := Resolve(decodeAt(t, test.doc), in)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(r.Env, " "); got != test.env {
			t.Errorf("%s:\n got %s\nwant %s", test.doc, got, test.env)
		}
		if got := strings.Join(r.Dropped, " "); got != test.dropped {
			t.Errorf("%s: dropped %s, want %s", test.doc, got, test.dropped)
		}
		for i, name := range r.Passed {
			if !strings.HasPrefix(r.Env[i], name+"=") {
				t.Errorf("%s: passed %s beside %s", test.doc, name, r.Env[i])
			}
		}
		if r.Home != "/home/u" {
			t.Errorf("%s: home %s", test.doc, r.Home)
		}
	}
}

// Under mode allow the command gets no variables that name a proxy, which it could not reach,
// unless a document passes or sets them.
func TestEnvironmentWithoutProxies(t *testing.T) {
	in := inputs()
	in.Environ = []string{"A=b", "HTTP_PROXY=p", "https_proxy=p", "ALL_PROXY=p", "ftp_proxy=p", "No_Proxy=p", "NO_PROXY_X=p", "HTTPS_PROXY=http://u:secret@p"}
	const all = "A=b HTTP_PROXY=p https_proxy=p ALL_PROXY=p ftp_proxy=p No_Proxy=p NO_PROXY_X=p HTTPS_PROXY=http://u:secret@p"
	for doc, want := range map[string]string{
		`{"network":{"mode":"allow"}}`:                                                            "A=b NO_PROXY_X=p",
		`{"network":{"allow":["p:1"]},"environment":{"set":{"HTTP_PROXY":"q"}}}`:                  "A=b HTTP_PROXY=q NO_PROXY_X=p",
		`{"network":{"allow":["p:1"]},"environment":{"pass":["HTTP_PROXY"]}}`:                     "HTTP_PROXY=p",
		`{"network":{"allow":["p:1"]},"environment":{"pass":["*"]}}`:                              all,
		`{"network":{"mode":"none"}}`:                                                             all,
		`{"network":{"mode":"host"}}`:                                                             all,
		`{"access_mode":"workspace-write","network":{"allow":[]},"environment":{"set":{"C":""}}}`: "A=b NO_PROXY_X=p C=",
	} {
		r, err := Resolve(decodeAt(t, doc), in)
		if err != nil || strings.Join(r.Env, " ") != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", doc, r.Env, err, want)
		}
		for _, v := range in.Environ {
			name, _, _ := strings.Cut(v, "=")
			if slices.Contains(r.Passed, name) == slices.Contains(r.Dropped, name) {
				t.Errorf("%s: dropped %s, passed %s", doc, r.Dropped, r.Passed)
			}
		}
	}
	// A child without a network passes the variables, and so does one whose own list has them,
	// except those that the parent keeps back as credentials.
	chain := func(child string) error {
		_, err := Chain([]*SandboxSpec{decodeAt(t, `{"access_mode":"workspace-write","network":{"mode":"allow"}}`), decodeAt(t, child)}, in)
		return err
	}
	for _, child := range []string{`{"network":{"mode":"none"}}`, `{}`, `{"environment":{"pass":["HTTP_PROXY"]}}`} {
		if err := chain(child); err != nil {
			t.Errorf("%s: %v", child, err)
		}
	}
	if err := chain(`{"environment":{"pass":["HTTPS_PROXY"]}}`); err == nil || !strings.Contains(err.Error(), "HTTPS_PROXY") {
		t.Errorf("a credential that the parent keeps is passed: %v", err)
	}
}

func TestEnvironmentOfJob(t *testing.T) {
	in := inputs()
	in.Environ = []string{"PATH=/bin", "HOME=/home/u", "LANG=e", "TERM=x", "EDITOR=vi"}
	in.Job = &JobAsk{Input: "/in"}
	for doc, want := range map[string]string{
		`{}`:                                  "PATH=/bin HOME=/home/u LANG=e TERM=x",
		`{"environment":{"set":{"A":"b"}}}`:   "PATH=/bin HOME=/home/u LANG=e TERM=x A=b",
		`{"environment":{"pass":["EDITOR"]}}`: "EDITOR=vi",
	} {
		if r, err := Resolve(decodeAt(t, doc), in); err != nil || strings.Join(r.Env, " ") != want {
			t.Errorf("%s: %s, %v, want %s", doc, r.Env, err, want)
		}
	}
}

// The variables of a spec made in Go are sorted by name.
func TestEnvironmentOfGo(t *testing.T) {
	s := &SandboxSpec{Environment: Some(Environment{Pass: Some([]string{}), Set: Some(map[string]string{"B": "1", "C": "2", "A": "3"})})}
	r, err := Resolve(s, inputs())
	if want := []string{"A=3", "B=1", "C=2"}; err != nil || !slices.Equal(r.Env, want) {
		t.Errorf("%q, %v, want %q", r.Env, err, want)
	}
}

func TestMatchName(t *testing.T) {
	for _, test := range []struct {
		glob, name string
		want       bool
	}{
		{"A", "A", true}, {"A", "a", false}, {"A", "AB", false}, {"", "", true}, {"", "A", false}, {"*", "", true}, {"*", "ABC", true},
		{"A*", "A", true}, {"A*", "ABC", true}, {"A*", "BA", false}, {"*A", "BA", true}, {"*A", "AB", false}, {"*A*", "BAB", true},
		{"?", "A", true}, {"?", "", false}, {"A?C", "ABC", true}, {"A*B*C", "AxBxBxC", true}, {"A*B*C", "AxCxB", false}, {"*?", "A", true}, {"**", "A", true},
		{"*AB", "AAB", true}, {"*_KEY", "KEY_KEYS_KEY", true}, {"[A]", "A", false},
	} {
		if got := matchName(test.glob, test.name); got != test.want {
			t.Errorf("%s, %s: %v", test.glob, test.name, got)
		}
	}
	// No pair of a glob and a name takes long.
	if matchName(strings.Repeat("*A", 1000)+"B", strings.Repeat("A", 10000)) {
		t.Error("matched")
	}
}

func TestLooksLikeCredential(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN", "AWS_SHARED_CREDENTIALS_FILE", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "PGPASSWORD", "MYSQL_PWD",
		"DB_PASS", "SECRET_KEY_BASE", "DJANGO_SECRET_KEY", "DATABASE_URL", "REDIS_URL", "MONGODB_URI", "SENTRY_DSN", "npm_config__authToken",
		"NPM_CONFIG__AUTH", "github_token", "SLACK_WEBHOOK_URL", "BW_SESSION", "OP_SESSION_my", "CI_JOB_JWT_V2", "VAULT_TOKEN", "TF_VAR_db",
		"GPG_PASSPHRASE", "AZURE_DEVOPS_EXT_PAT", "STRIPE_APIKEY", "SSH_PRIVATE_KEY", "AZURE_STORAGE_CONNECTION_STRING", "TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL",
		"SSHPASS", "JWT", "BEARER", "COOKIE", "LDAP_BINDPW", "SERVICE_ACCOUNT_JSON", "GCP_SERVICE_ACCOUNT_JSON", "SUPABASE_SERVICE_ROLE", "GIT_CONFIG_COUNT",
		"GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_PARAMETERS", "UV_INDEX_PRIVATE_PASSWORD", "ConnectionStrings__Default", "SMTP_PW", "WIFI_PSK",
		"API_BEARER", "HTTP_AUTHORIZATION", "DB_CREDS", "WALLET_MNEMONIC", "SITE_COOKIES",
		"GHTOKEN", "PAT", "PW", "WEBHOOK", "LDAP_BINDPASS", "AUTH_HEADER",
	} {
		if why, looks := LooksLikeCredential(name, "x"); !looks || why == "" {
			t.Errorf("%s passes", name)
		}
	}
	for _, name := range []string{
		"PATH", "HOME", "KEYBOARD", "KEYMAP", "XKEYSYMDB", "XAUTHORITY", "SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS", "COLORTERM", "TERM",
		"OLDPWD", "PWD", "INIT_CWD", "HTTP_PROXY", "no_proxy", "KUBECONFIG", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_ID",
		"TOKENIZERS_PARALLELISM", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "AWS_REGION", "AWS_DEFAULT_REGION", "GOPRIVATE",
		"BYPASS", "COMPASS", "GNUPGHOME", "NETRC", "LS_COLORS", "MONKEY", "HISTFILE", "CARGO_HOME", "GOFLAGS", "",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EDITOR", "GIT_PAGER", "COOKIECUTTER_REPLAY_DIR", "BEARER_VERSION", "JWTS", "PATH_INFO", "PWD_FILE", "TOKENIZER",
		"PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "ALL_PROXY", "SERVICE_ACCOUNT_NAME", "SERVICE_NAME", "AUTHORIZATION_MODE", "CREDSTORE",
		"LD_LIBRARY_PATH", "MANPATH", "INFOPATH", "PKG_CONFIG_PATH", "PYTHONPATH", "GOPATH", "GOROOT", "GOPROXY", "GOSUMDB", "NODE_OPTIONS", "NODE_ENV",
		"JAVA_HOME", "MAVEN_OPTS", "GRADLE_OPTS", "RUSTFLAGS", "RUSTUP_HOME", "CC", "CXX", "CFLAGS", "MAKEFLAGS", "DISPLAY", "WAYLAND_DISPLAY",
		"XDG_RUNTIME_DIR", "XDG_DATA_DIRS", "XDG_CURRENT_DESKTOP", "DESKTOP_SESSION", "LANG", "LC_ALL", "TZ", "EDITOR", "VISUAL", "PAGER", "LESS", "SHELL",
		"SHLVL", "USER", "LOGNAME", "MAIL", "HOSTNAME", "HOSTTYPE", "TMPDIR", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "CI", "GITHUB_ACTIONS",
		"GITHUB_REF", "GITHUB_SHA", "GITHUB_WORKSPACE", "RUNNER_OS", "CLICOLOR", "NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV",
		"PYENV_ROOT", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "SDKMAN_DIR", "ANDROID_HOME", "DOTNET_ROOT", "WSL_DISTRO_NAME", "SYSTEMD_EXEC_PID", "JOURNAL_STREAM",
		"INVOCATION_ID", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "TMUX", "TMUX_PANE", "STY", "WINDOWID", "GPG_TTY", "LESSOPEN", "SUDO_USER", "SUDO_UID",
		"HISTSIZE", "HISTCONTROL", "PS1", "PROMPT_COMMAND", "KITTY_PID", "ALACRITTY_SOCKET", "VSCODE_PID", "ELECTRON_RUN_AS_NODE", "CHROME_DESKTOP",
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_HOME", "PIP_CACHE_DIR", "PIP_REQUIRE_VIRTUALENV", "npm_config_cache", "npm_lifecycle_event",
		"PSModulePath", "KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
	} {
		if why, looks := LooksLikeCredential(name, "http://proxy:3128/a:b@c"); looks {
			t.Errorf("%s is kept back: %s", name, why)
		}
	}
	// Every row matches some name, and has a reason.
	for i, c := range credentialNames {
		name := strings.NewReplacer("*", "X", "?", "L").Replace(c.Glob)
		if strings.HasSuffix(c.Glob, "UR?") {
			name = strings.NewReplacer("*", "", "?", "L").Replace(c.Glob)
		}
		if c.Why == "" || strings.ToUpper(c.Glob) != c.Glob {
			t.Errorf("row %d: %+v", i, c)
		}
		value := ""
		if c.InURL {
			value = "x://u:p@h"
		}
		if why, looks := LooksLikeCredential(name, value); looks == c.Pass || why == "" {
			t.Errorf("%s of row %s: %q, %v", name, c.Glob, why, looks)
		}
	}
}

// A URL with a password makes any variable a credential.
func TestPasswordsInURLs(t *testing.T) {
	for _, value := range []string{
		"http://user:word@proxy:3128", "https://user:word@pypi.local/simple", "socks5h://u:w@h", "postgres://u:w@h/db?x=y", "redis://:word@h:6379/0",
		"https://pypi.org/simple https://u:w@two/simple", "mongodb+srv://u:w@h", "https://token@host/simple", "HTTPS://u:@host", "http://u:w@d@h",
		"--index-url=https://u:w@h", "a://b://c:d@e", "https://u:%40x@h", `{"url": "amqp://u:w@h"}`,
		"jdbc:postgresql://h/db?user=x&password=y", "jdbc:sqlserver://h:1433;user=sa;Password=y;encrypt=true", "jdbc:mysql://h/db?user=x&pwd=y",
		"postgresql://h/db?sslmode=require&sslpassword=y", "//user:word@host", "//u:w@h/db", "x=//u:w@h", "--to //u:w@h", `{"to": "//u:w@h"}`,
		"jdbc:postgresql://[::1]/db?password=y", "https://h/?passwd=y",
		"u:w@tcp(h:3306)/db", "u:w@unix(/run/mysqld.sock)/db?charset=utf8", "u:w@cloudsql(a:b:c)/", "u:p@w:(x)/@tcp([::1]:3306)/db", "--dsn=u:w@tcp(h)/db",
		`{"dsn":"u:w@tcp(h)/db"}`, "root:w@/db", "DSN=root:w@/", "x u:w@/db?a=/b", ":w@tcp(h)/db",
	} {
		if why, looks := LooksLikeCredential("SOME_NAME", value); !looks || why == "" {
			t.Errorf("%q passes", value)
		}
	}
	for _, value := range []string{
		"", "http://proxy:3128", "https://pypi.org/simple", "ssh://git@github.com/x", "git@github.com:x/y", "u:w@h", "https://h/@scope/pkg", "https://h/a:b@c",
		"https://h?mail=a:b@c", "https://h#a:b@c", "://u:w@h", "https://@h", "postgres://u@h/db", "postgres://u:@h/db", "direct,https://proxy.golang.org",
		"unix:path=/run/user/1/bus", "https://h mail:a@b", "x=https://h, y:z@h", "\\u@\\h:\\w$ ", "http://[::1]:80", "file:///a:b@c", "https://",
		"jdbc:postgresql://h/db?user=x", "jdbc:postgresql://h/db?user=x&password=", "https://h/reset?what=password", "https://h/?password_reset=1",
		strings.Repeat("//a", 1<<16), strings.Repeat("a://b?", 1<<15), strings.Repeat("/", 1<<17),
		"https://h/#password=y", "https://h/password=y", "jdbc:h2:mem:test;USER=sa", "https://h password=y", "https://h/a//u:w@x", "//h/share", "// a: b@c",
		"u@tcp(h:3306)/db", "u:@tcp(h)/db", "tcp(h:3306)/db", "u:w@tcp(h)", "u:w@(h)/db", "root:@/db", "root@/db", "http://h/a:b@/c", "src/a:b@/c", "a:b/@/c", "C:@/x",
		strings.Repeat("@a(", 1<<15) + ")/", strings.Repeat("a)/", 1<<15), strings.Repeat("a:", 1<<16) + "/", "/usr/bin:/opt/a@/bin",
		"//git@host/x", "a//u:w@h", "///u:w@h", "https://h/;v=1?x=y", "https://h/x?y=z;w", "/a//u:w@h",
	} {
		if why, looks := LooksLikeCredential("SOME_NAME", value); looks {
			t.Errorf("%q is kept back: %s", value, why)
		}
	}
}
