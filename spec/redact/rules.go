package redact

// The tables of Redact. Each row says why it is there.

// secretWord is a part of a name that means "this is a credential".
type secretWord struct{ word, why string }

var secretWords = [...]secretWord{
	{"token", "--token, GITHUB_TOKEN"},
	{"secret", "--client-secret, AWS_SECRET_ACCESS_KEY"},
	{"password", "--password, PGPASSWORD"},
	{"passwd", "--passwd, curl's older names"},
	{"passphrase", "gpg --passphrase"},
	{"passcode", "one-time codes"},
	{"pass", "--pass, SMTP_PASS"},
	{"pwd", "DB_PWD; PWD alone is a folder"},
	{"credential", "--credential"},
	{"credentials", "--credentials"},
	{"authorization", "the HTTP header"},
	{"bearer", "--oauth2-bearer"},
	{"cookie", "a session is a credential"},
	{"jwt", "a signed token"},
	{"apikey", "--apikey"},
	{"otp", "one-time passwords"},
	{"pgpassword", "libpq's variable, in one word"},
	{"mysqlpassword", "the same, as some tools write it"},
	{"accesskey", "AWS, in one word"},
	{"secretkey", "AWS, in one word"},
	{"privatekey", "in one word"},
	{"authtoken", "npm's _authToken, in one word"},
	{"sshpass", "the variable of sshpass"},
	{"signature", "a signed URL is a key to what it names"},
	{"sig", "the same, as Azure writes it"},
	{"auth", "_auth of npm, --auth of many"},
}

// secretKeys are words that make a "key" after them a credential.
var secretKeys = [...]secretWord{
	{"api", "--api-key, OPENAI_API_KEY"},
	{"access", "AWS_ACCESS_KEY"},
	{"private", "--private-key with the key itself"},
	{"signing", "a key that signs"},
	{"encryption", "a key that opens"},
	{"account", "Azure storage"},
	{"master", "a key of keys"},
	{"license", "sold, not shared"},
	{"deploy", "git hosts"},
	{"service", "service accounts"},
	{"shared", "pre-shared keys"},
	{"session", "a session is a credential"},
	{"subscription", "Azure"},
	{"storage", "object stores"},
}

// harmlessEnds are last words of names that hold no credential themselves.
var harmlessEnds = [...]secretWord{
	{"file", "--password-file names a file"},
	{"path", "the same"},
	{"stdin", "docker login --password-stdin"},
	{"env", "names a variable"},
	{"var", "names a variable"},
	{"dir", "names a folder"},
	{"fd", "a number of a descriptor"},
	{"type", "--token-type"},
	{"name", "--secret-name"},
	{"length", "--password-length"},
	{"ttl", "a time"},
	{"helper", "git's credential.helper names a program"},
	{"prompt", "a switch"},
	{"sock", "SSH_AUTH_SOCK names a socket"},
	{"method", "how, not what"},
	{"endpoint", "where, not what"},
	{"mode", "how, not what"},
}

// tokenShape is a kind of token that can be told by how it begins.
type tokenShape struct {
	prefix string
	least  int // further characters of a token at least
	why    string
}

// shortestToken is the length of the shortest of tokenShapes: most of what a
// command line has is shorter, and need not be held against them.
const shortestToken = 15

var tokenShapes = [...]tokenShape{
	{"sk-", 16, "OpenAI and Anthropic keys"},
	{"sk_live_", 10, "Stripe"},
	{"sk_test_", 10, "Stripe"},
	{"rk_live_", 10, "Stripe"},
	{"whsec_", 16, "webhook secrets"},
	{"ghp_", 16, "GitHub"},
	{"gho_", 16, "GitHub"},
	{"ghu_", 16, "GitHub"},
	{"ghs_", 16, "GitHub"},
	{"ghr_", 16, "GitHub"},
	{"github_pat_", 16, "GitHub"},
	{"glpat-", 16, "GitLab"},
	{"gldt-", 16, "GitLab"},
	{"AKIA", 16, "AWS"},
	{"ASIA", 16, "AWS"},
	{"AIza", 30, "Google"},
	{"ya29.", 16, "Google"},
	{"xoxb-", 10, "Slack"},
	{"xoxp-", 10, "Slack"},
	{"xoxa-", 10, "Slack"},
	{"xoxr-", 10, "Slack"},
	{"xoxs-", 10, "Slack"},
	{"xapp-", 10, "Slack"},
	{"npm_", 30, "npm"},
	{"pypi-", 30, "PyPI"},
	{"hf_", 24, "Hugging Face"},
	{"dop_v1_", 16, "DigitalOcean"},
	{"shpat_", 16, "Shopify"},
	{"SG.", 30, "SendGrid"},
	{"AGE-SECRET-KEY-1", 16, "age"},
	{"eyJ", 24, "JSON web tokens"},
	{"xai-", 24, "xAI"},
	{"gsk_", 24, "Groq"},
}

// shortFlag is a flag of one letter that takes a credential, of certain
// programs only: -p is a port elsewhere.
type shortFlag struct {
	program string
	flag    string
	joined  bool // the value stands in the same argument too
	why     string
}

var shortFlags = [...]shortFlag{
	{"mysql", "-p", true, "-pSECRET; -p alone asks"},
	{"mysqldump", "-p", true, "-pSECRET"},
	{"mysqladmin", "-p", true, "-pSECRET"},
	{"mysqlimport", "-p", true, "-pSECRET"},
	{"mariadb", "-p", true, "-pSECRET"},
	{"mariadb-dump", "-p", true, "-pSECRET"},
	{"sshpass", "-p", true, "the password of ssh"},
	{"curl", "-u", true, "user:password"},
	{"curl", "--user", false, "user:password"},
	{"curl", "-U", true, "the proxy's user:password"},
	{"curl", "--proxy-user", false, "the proxy's user:password"},
	{"curl", "-b", true, "cookies"},
	{"http", "-a", false, "user:password"},
	{"https", "-a", false, "user:password"},
	{"docker", "-p", false, "docker login; a port elsewhere, hidden all the same"},
	{"podman", "-p", false, "podman login; a port elsewhere, hidden all the same"},
	{"redis-cli", "-a", true, "its password"},
	{"mongo", "-p", false, "its password"},
	{"mongosh", "-p", false, "its password"},
	{"mongodump", "-p", false, "its password"},
	{"ldapsearch", "-w", false, "the bind password"},
	{"ldapmodify", "-w", false, "the bind password"},
	{"sqlcmd", "-P", true, "its password"},
	{"zip", "-P", false, "the archive's password"},
	{"unzip", "-P", false, "the archive's password"},
	{"7z", "-p", true, "the archive's password"},
	{"az", "-p", false, "az login"},
	{"smbclient", "-U", false, "user%password"},
	{"snmpget", "-c", false, "the community is the password"},
	{"snmpwalk", "-c", false, "the community is the password"},
}
