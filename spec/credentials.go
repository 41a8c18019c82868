package spec

import (
	"strings"

	"sbx/spec/redact"
)

// CredentialName is a kind of environment variable that contains a credential, recognized by its name
// or, with InURL, by its value.
type CredentialName struct {
	Glob string // in upper case; names are compared without regard to case
	Why  string
	Pass bool // an exception: the name matches a later glob but is not that of a credential
	// InURL limits the row to values that contain a URL, or the name of a data source, with a
	// password, see hasPassword.
	InURL bool
}

// credentialNames are tried in this order; the first match decides. Deliberately missing are
// SSH_AUTH_SOCK, DOCKER_HOST and other sockets (the sockets are hidden instead), XAUTHORITY,
// KUBECONFIG, NETRC and other paths (the files are hidden), HTTP_PROXY by its name (few contain a
// password, and nothing works without it), GIT_CONFIG_GLOBAL and _SYSTEM (paths), and *_ASKPASS (a
// program's path).
var credentialNames = []CredentialName{
	{Glob: "*", Why: "an address with a password in it", InURL: true},
	{Glob: "AWS_REGION", Why: "a place, not a key", Pass: true},
	{Glob: "AWS_DEFAULT_REGION", Why: "a place, not a key", Pass: true},
	{Glob: "AWS_DEFAULT_OUTPUT", Why: "a format", Pass: true},
	{Glob: "AWS_PAGER", Why: "a program", Pass: true},
	{Glob: "*MAX_*TOKEN*", Why: "a number of a model's tokens", Pass: true},
	{Glob: "AWS_*", Why: "keys, session tokens and the files that hold them"},
	{Glob: "AZURE_*", Why: "client secrets, passwords and the files that hold them"},
	{Glob: "ARM_CLIENT_*", Why: "Azure's client secrets as Terraform names them"},
	{Glob: "GOOGLE_APPLICATION_*", Why: "the path of a service account's key, or the key"},
	{Glob: "GCP_*", Why: "service accounts' keys"},
	{Glob: "CLOUDSDK_AUTH_*", Why: "gcloud's tokens"},
	{Glob: "VAULT_*", Why: "tokens and addresses of a secrets store"},
	{Glob: "OP_SESSION_*", Why: "an unlocked 1Password"},
	{Glob: "OP_SERVICE_*", Why: "a 1Password service account"},
	{Glob: "BW_SESSION", Why: "an unlocked Bitwarden"},
	{Glob: "VSCODE_GIT_IPC_*", Why: "an editor's door to git credentials"},
	{Glob: "DOCKER_AUTH_CONFIG", Why: "passwords of registries"},
	{Glob: "NPM_CONFIG_*AUTH*", Why: "npm's tokens and passwords"},
	{Glob: "TF_VAR_*", Why: "Terraform's variables, where its secrets are put"},
	{Glob: "*SECRET*", Why: "says that it is one"},
	{Glob: "*PASSWORD*", Why: "says that it is one"},
	{Glob: "*PASSWD*", Why: "says that it is one"},
	{Glob: "*PASSPHRASE*", Why: "says that it is one"},
	{Glob: "*CREDENTIAL*", Why: "says that it is one"},
	{Glob: "*_PASS", Why: "a password"},
	{Glob: "*_PWD", Why: "a password, as MYSQL_PWD"},
	{Glob: "PASS", Why: "a password"},
	{Glob: "*TOKEN", Why: "an access token"},
	{Glob: "*_TOKENS", Why: "access tokens"},
	{Glob: "*_TOKEN_*", Why: "an access token with a name behind"},
	{Glob: "*AUTHTOKEN*", Why: "an access token"},
	{Glob: "PAT", Why: "a personal access token"},
	{Glob: "*_PAT", Why: "a personal access token"},
	{Glob: "*_JWT*", Why: "a signed token"},
	{Glob: "*_KEY", Why: "an API key or a private key"},
	{Glob: "*_KEYS", Why: "API keys"},
	{Glob: "*_KEY_ID", Why: "the name of a key, sent with it"},
	{Glob: "*API_KEY*", Why: "an API key"},
	{Glob: "*APIKEY*", Why: "an API key"},
	{Glob: "*ACCESS_KEY*", Why: "an access key"},
	{Glob: "*ACCESSKEY*", Why: "an access key"},
	{Glob: "*PRIVATE_KEY*", Why: "a private key"},
	{Glob: "*PRIVATEKEY*", Why: "a private key"},
	{Glob: "*_AUTH", Why: "a user's name and password"},
	{Glob: "*_COOKIE", Why: "a session"},
	{Glob: "WEBHOOK", Why: "an address that is its own password"},
	{Glob: "*_WEBHOOK", Why: "an address that is its own password"},
	{Glob: "*_WEBHOOK_URL", Why: "an address that is its own password"},
	{Glob: "*_DSN", Why: "an address with a password in it"},
	{Glob: "*CONNECTION_STRING*", Why: "an address with a password in it"},
	{Glob: "DATABASE_URL", Why: "an address with a password in it"},
	{Glob: "*_DATABASE_URL", Why: "an address with a password in it"},
	{Glob: "POSTGRES*_UR?", Why: "an address with a password in it"},
	{Glob: "MYSQL*_UR?", Why: "an address with a password in it"},
	{Glob: "MONGO*_UR?", Why: "an address with a password in it"},
	{Glob: "REDIS*_UR?", Why: "an address with a password in it"},
	{Glob: "AMQP*_UR?", Why: "an address with a password in it"},
	{Glob: "GIT_CONFIG_COUNT", Why: "how many settings of git follow, headers with tokens among them: it reads all of them or fails"},
	{Glob: "GIT_CONFIG_KEY_*", Why: "the name of one of them"},
	{Glob: "GIT_CONFIG_VALUE_*", Why: "its value"},
	{Glob: "GIT_CONFIG_PARAMETERS", Why: "settings of git, headers with tokens among them"},
	{Glob: "SSHPASS", Why: "a password"},
	{Glob: "PW", Why: "a password"},
	{Glob: "*_PW", Why: "a password"},
	{Glob: "*BINDPW", Why: "a password of a directory"},
	{Glob: "*BINDPASS", Why: "a password of a directory"},
	{Glob: "*PASSCODE*", Why: "says that it is one"},
	{Glob: "*_PSK", Why: "a key that both sides know"},
	{Glob: "JWT", Why: "a signed token"},
	{Glob: "BEARER", Why: "an access token"},
	{Glob: "*_BEARER", Why: "an access token"},
	{Glob: "AUTHORIZATION", Why: "a header with a token"},
	{Glob: "*_AUTHORIZATION", Why: "a header with a token"},
	{Glob: "AUTH_HEADER", Why: "a header with a token"},
	{Glob: "*_AUTH_HEADER", Why: "a header with a token"},
	{Glob: "COOKIE", Why: "a session"},
	{Glob: "COOKIES", Why: "sessions"},
	{Glob: "*_COOKIES", Why: "sessions"},
	{Glob: "CREDS", Why: "says that it is one"},
	{Glob: "*_CREDS", Why: "says that it is one"},
	{Glob: "*ACCOUNT_JSON*", Why: "a service account's key"},
	{Glob: "*SERVICE_ROLE", Why: "a key that may do all, as Supabase names it"},
	{Glob: "*MNEMONIC", Why: "the words that make a wallet's key"},
	{Glob: "*SEED_PHRASE", Why: "the words that make a wallet's key"},
	{Glob: "*CONNECTIONSTRING*", Why: "an address with a password in it"},
	{Glob: "*_CONN_STR", Why: "an address with a password in it"},
}

// LooksLikeCredential reports whether a variable probably contains a credential, and why.
func LooksLikeCredential(name, value string) (why string, looks bool) {
	upper := strings.ToUpper(name)
	for i := range credentialNames {
		c := &credentialNames[i]
		if matchName(c.Glob, upper) && (!c.InURL || hasPassword(value)) {
			return c.Why, !c.Pass
		}
	}
	return "", false
}

// hasPassword reports whether a text contains a URL with a password before the host or as a parameter:
// scheme://user:password@host, the same without a scheme, and jdbc:scheme://host/?password=word or
// ;password=word. For http and https a user alone counts too, since tokens are given there. The name
// of a data source with a password counts as well.
func hasPassword(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune("\\ \t\n\"'<>", c) }) {
		if _, to := redact.DataSource(word); to > 0 {
			return true
		}
		before, rest, more := strings.Cut(word, "//")
		parameters := ""
		for ; more; before, rest, more = strings.Cut(rest, "//") {
			before, named := strings.CutSuffix(before, ":")
			scheme := strings.ToLower(before[lastOutside(before):])
			if named == (scheme == "") || !named && strings.HasSuffix(before, "/") {
				continue // no scheme before the colon, or the middle of a path
			}
			authority := upTo(rest, "/?#")
			at := strings.LastIndexByte(authority, '@')
			_, password, _ := strings.Cut(authority[:max(at, 0)], ":")
			if password != "" || at > 0 && (scheme == "http" || scheme == "https") {
				return true
			}
			if parameters == "" {
				parameters = upTo(rest, "#")
			}
		}
		if passwordParameter(parameters) {
			return true
		}
	}
	return false
}

// passwordParameter reports whether a URL has a password among the parameters after its first ? or ;.
func passwordParameter(url string) bool {
	i := strings.IndexAny(url, "?;")
	for i >= 0 {
		url = url[i+1:]
		name, word, _ := strings.Cut(upTo(url, "&;"), "=")
		name = strings.ToLower(name)
		if word != "" && (strings.HasSuffix(name, "password") || name == "passwd" || name == "pwd") {
			return true
		}
		i = strings.IndexAny(url, "&;")
	}
	return false
}

// upTo returns text up to the first character that is in end.
func upTo(text, end string) string {
	if i := strings.IndexAny(text, end); i >= 0 {
		return text[:i]
	}
	return text
}

// lastOutside returns the index at which the scheme at the end of text begins.
func lastOutside(text string) int {
	for i := len(text); i > 0; i-- {
		switch c := text[i-1]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		default:
			return i
		}
	}
	return 0
}
