package spec

import "strings"

// CredentialName is one kind of name that an environment variable with a
// credential has.
type CredentialName struct {
	Glob string // in upper case; names are compared without regard to case
	Why  string
	Pass bool // a name that a later glob would take and that holds no credential
}

// credentialNames are tried in this order; the first that matches decides.
// Decided against: SSH_AUTH_SOCK, DOCKER_HOST and other sockets (what they
// name is hidden instead), XAUTHORITY, KUBECONFIG, NETRC and other paths (the
// files are hidden), HTTP_PROXY (most hold no password, and without it nothing
// works), *_ASKPASS (a program's path).
var credentialNames = []CredentialName{
	{"AWS_REGION", "a place, not a key", true},
	{"AWS_DEFAULT_REGION", "a place, not a key", true},
	{"AWS_DEFAULT_OUTPUT", "a format", true},
	{"AWS_PAGER", "a program", true},
	{"*MAX_*TOKEN*", "a number of a model's tokens", true},
	{"AWS_*", "keys, session tokens and the files that hold them", false},
	{"AZURE_*", "client secrets, passwords and the files that hold them", false},
	{"ARM_CLIENT_*", "Azure's client secrets as Terraform names them", false},
	{"GOOGLE_APPLICATION_*", "the path of a service account's key, or the key", false},
	{"GCP_*", "service accounts' keys", false},
	{"CLOUDSDK_AUTH_*", "gcloud's tokens", false},
	{"VAULT_*", "tokens and addresses of a secrets store", false},
	{"OP_SESSION_*", "an unlocked 1Password", false},
	{"OP_SERVICE_*", "a 1Password service account", false},
	{"BW_SESSION", "an unlocked Bitwarden", false},
	{"VSCODE_GIT_IPC_*", "an editor's door to git credentials", false},
	{"DOCKER_AUTH_CONFIG", "passwords of registries", false},
	{"NPM_CONFIG_*AUTH*", "npm's tokens and passwords", false},
	{"TF_VAR_*", "Terraform's variables, where its secrets are put", false},
	{"*SECRET*", "says that it is one", false},
	{"*PASSWORD*", "says that it is one", false},
	{"*PASSWD*", "says that it is one", false},
	{"*PASSPHRASE*", "says that it is one", false},
	{"*CREDENTIAL*", "says that it is one", false},
	{"*_PASS", "a password", false},
	{"*_PWD", "a password, as MYSQL_PWD", false},
	{"PASS", "a password", false},
	{"TOKEN", "an access token", false},
	{"*_TOKEN", "an access token", false},
	{"*_TOKENS", "access tokens", false},
	{"*_TOKEN_*", "an access token with a name behind", false},
	{"*AUTHTOKEN*", "an access token", false},
	{"*_PAT", "a personal access token", false},
	{"*_JWT*", "a signed token", false},
	{"*_KEY", "an API key or a private key", false},
	{"*_KEYS", "API keys", false},
	{"*_KEY_ID", "the name of a key, sent with it", false},
	{"*API_KEY*", "an API key", false},
	{"*APIKEY*", "an API key", false},
	{"*ACCESS_KEY*", "an access key", false},
	{"*ACCESSKEY*", "an access key", false},
	{"*PRIVATE_KEY*", "a private key", false},
	{"*PRIVATEKEY*", "a private key", false},
	{"*_AUTH", "a user's name and password", false},
	{"*_COOKIE", "a session", false},
	{"*_WEBHOOK", "an address that is its own password", false},
	{"*_WEBHOOK_URL", "an address that is its own password", false},
	{"*_DSN", "an address with a password in it", false},
	{"*CONNECTION_STRING*", "an address with a password in it", false},
	{"DATABASE_URL", "an address with a password in it", false},
	{"*_DATABASE_URL", "an address with a password in it", false},
	{"POSTGRES*_UR?", "an address with a password in it", false},
	{"MYSQL*_UR?", "an address with a password in it", false},
	{"MONGO*_UR?", "an address with a password in it", false},
	{"REDIS*_UR?", "an address with a password in it", false},
	{"AMQP*_UR?", "an address with a password in it", false},
}

// LooksLikeCredential tells whether a variable of that name is likely to hold
// a credential, and why.
func LooksLikeCredential(name string) (why string, looks bool) {
	upper := strings.ToUpper(name)
	for i := range credentialNames {
		c := &credentialNames[i]
		if matchName(c.Glob, upper) {
			return c.Why, !c.Pass
		}
	}
	return "", false
}
